"""Rules over a checkpoint and what is around it; each finds one kind of trouble."""
