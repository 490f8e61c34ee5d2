"""HF20xx what a place is, HF22xx and HF23xx rules across the files of one checkpoint."""

from __future__ import annotations

from holdfast.codes.code import Code

CHECKPOINT_CODES: tuple[Code, ...] = (
    Code(
        "HF2001",
        "this is not a checkpoint",
        "Spark keeps a checkpoint as metadata, offsets/ and commits/; none of them is here",
        ("give the folder that holds offsets/ and commits/",),
        exit_status=21,
    ),
)
