"""What Spark says of a query: its plans as trees, and their normal forms."""
