"""What a checkpoint's picture means: checks and their findings, the inspection, the comparison."""
