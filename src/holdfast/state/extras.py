"""Whether what reads state is installed; asked before any of it is imported."""

from __future__ import annotations

from importlib.util import find_spec

from holdfast.errors import UsageError

_NEEDED = ("numpy", "pyarrow", "rocksdict", "xxhash")


def require_state_extra() -> None:
    """Raise HF2770 where a library is missing that reading state needs."""
    missing = [name for name in _NEEDED if find_spec(name) is None]
    if missing:
        verb = "is" if len(missing) == 1 else "are"
        message = f"reading state needs {', '.join(missing)}, which {verb} not installed"
        raise UsageError("HF2770", message)
