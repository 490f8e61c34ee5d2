"""The state of a partition at a batch, put together from its files."""
