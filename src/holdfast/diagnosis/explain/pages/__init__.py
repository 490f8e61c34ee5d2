"""Pages about errors of Spark, and the way from a pasted error to its page."""
