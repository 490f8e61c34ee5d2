"""What the records beside a checkpoint tell about its runs."""
