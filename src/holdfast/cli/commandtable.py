"""Every command with its summary; `commands/<name>.py` holds it."""

from __future__ import annotations

COMMANDS: dict[str, str] = {
    "init": "A new project with an example that runs as it is",
    "run": "Run jobs of the project on Spark, each on its own checkpoint",
    "status": "How the jobs of the project stand: batches, lease, last runs",
    "inspect": "What is in a checkpoint, and what the next start will do with it",
    "evidence": "The nine facts to have before any advice, each with how it is known",
    "doctor": "What is wrong with checkpoints, their sinks and their jobs, and what not to do",
    "state": "Rows of the state at any kept batch: look, filter, sum up, export; no JVM",
    "diff": "What differs between the logs of two checkpoints",
    "backup": "A verified copy of a checkpoint, kept beside it",
    "backups": "Which backups there are",
    "restore": "Put a backup back: the whole checkpoint, or single files",
    "explain": "The page of a code or of a pasted Spark error: what it means, what not to do",
    "demo": "The sensor pipeline on real Spark, killed twice: nothing lost, nothing doubled",
}
