"""Changes of a query, each run on real Spark: may the new code go on with the old checkpoint?"""
