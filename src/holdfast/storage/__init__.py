"""Where bytes live: local paths and fsspec URLs, opened for reading."""
