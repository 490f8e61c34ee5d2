"""The write-once logs: offsets, commits, metadata, logs of file sources and sinks."""
