"""One driver per checkpoint: the files of a lease, taking it, and acting under it."""
