"""Event logs of real Spark, with the checkpoints of their queries."""
