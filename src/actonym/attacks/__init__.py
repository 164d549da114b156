"""What a curious party tries. An attack sees clips or features and labels, never which method made them."""
