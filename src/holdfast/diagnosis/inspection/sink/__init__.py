"""What the sink of a checkpoint holds, and what it held before."""
