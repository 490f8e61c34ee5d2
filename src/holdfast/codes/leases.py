"""HF26xx: who may run on a checkpoint, and what its records say."""

from __future__ import annotations

from holdfast.codes.code import Code

LEASE_CODES: tuple[Code, ...] = ()
