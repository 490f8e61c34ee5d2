"""What the sink holds, against what the checkpoint says."""
