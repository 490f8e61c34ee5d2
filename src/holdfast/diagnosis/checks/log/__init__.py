"""The files of a checkpoint: offsets, commits, metadata, their names and their gaps."""
