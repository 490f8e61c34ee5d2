"""What a sink remembers of batches, asked without a JVM; nothing here can write."""
