"""What a database remembers of batches, read without a JVM."""
