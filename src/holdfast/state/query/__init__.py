"""Questions to state: conditions, keys, columns, summaries, exports."""
