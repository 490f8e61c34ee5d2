"""What the project declares, against what the checkpoint was written with."""
