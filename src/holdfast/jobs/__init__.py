"""What the user declares: the project file, its jobs, and which checkpoint a TARGET means."""
