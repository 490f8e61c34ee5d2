"""Finds the known name that a misspelled one is nearest to."""

from __future__ import annotations

from collections.abc import Iterable

LOOSE = 0.5
"""How alike two names are where nothing but a misspelling is likely; 1.0 is the same name."""
CLOSE = 0.8
"""How alike they are where an unknown name may well be meant as it stands."""


def nearest(name: str, known: Iterable[str], likeness: float = LOOSE) -> str | None:
    """Return the known name that is most like this one, in any case; None where none is."""
    # Imported by whoever met a misspelling.
    from difflib import get_close_matches

    spelled = {one.lower(): one for one in known}
    found = get_close_matches(name.lower(), spelled, n=1, cutoff=likeness)
    return spelled[found[0]] if found else None
