"""One checkpoint: a frozen picture, its timeline of batches, and what the next start does."""
