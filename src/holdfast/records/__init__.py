"""What Holdfast keeps beside a checkpoint: runs, the lease, copies of offsets, the journal."""
