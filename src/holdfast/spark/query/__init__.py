"""One streaming query: its DataFrame, the user's code, the gate of its batches, what it reports."""
