"""What the next start does, by Spark's own rule, step by step."""
