"""What a Delta table's log tells of batches; one reader of the log."""
