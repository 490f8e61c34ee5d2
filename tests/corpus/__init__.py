"""A corpus of small checkpoints that real Spark wrote, and the script that makes it."""
