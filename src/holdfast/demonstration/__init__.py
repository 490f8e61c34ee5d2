"""Shows on real Spark that a killed job loses and doubles nothing; the story of `holdfast demo`."""
