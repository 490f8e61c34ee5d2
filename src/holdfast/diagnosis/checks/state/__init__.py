"""The state of a checkpoint: its folders, its versions, its contents."""
