"""What is in and around a checkpoint: sources, sink, runs and state, read and not judged."""
