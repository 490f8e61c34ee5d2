"""Reset: where the new query begins, and what becomes of the output."""
