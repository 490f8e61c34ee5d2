"""Opens what the public functions are asked about: checkpoints, base folders, jobs and sinks."""
