"""How numpy starts in a command that reads state: without threads, since it multiplies nothing."""

from __future__ import annotations

import os


def start_numpy_without_threads() -> None:
    """Keep OpenBLAS from starting a thread for each core, once numpy is imported.

    They take longer to start than the first rows to read. Only for commands that run no code of
    the user: whoever computes with numpy wants them.
    """
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
