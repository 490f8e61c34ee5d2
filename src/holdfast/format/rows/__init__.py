"""Rows of state: Spark's UnsafeRow, Avro, key and value columns."""
