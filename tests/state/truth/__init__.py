"""What Spark's own reader says of the corpus at every batch that is kept, as digests."""
