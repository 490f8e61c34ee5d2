"""What the next start reads: logs and offsets of sources, and whether they still fit."""
