"""The session that jobs run in, its JVM, and the Spark and Java that are installed."""
