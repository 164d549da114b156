"""Files and streams to clips and back: read, write, sample, transform."""
