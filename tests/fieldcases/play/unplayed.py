"""Field cases without a remedy that could be played, each with the reason."""

from __future__ import annotations

UNPLAYED: dict[int, str] = {}
