"""What must still work on anonymized video. A task sees clips or features and labels, never which method made them."""
