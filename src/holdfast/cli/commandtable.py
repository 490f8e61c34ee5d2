"""Every command with its summary; `commands/<name>.py` holds it."""

from __future__ import annotations

COMMANDS: dict[str, str] = {
    "inspect": "What is in a checkpoint, and what the next start will do with it",
    "diff": "What differs between the logs of two checkpoints",
    "explain": "The page of a code: what it means and what to do next",
}
