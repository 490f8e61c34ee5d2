"""HF53xx: jobs that fail while they run."""

from __future__ import annotations

from holdfast.codes.code import Code

RUNNING_CODES: tuple[Code, ...] = ()
