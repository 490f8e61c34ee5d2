"""HF10xx: what `explain` reports."""

from __future__ import annotations

from holdfast.codes.code import Code

EXPLAINING_CODES: tuple[Code, ...] = (
    Code(
        "HF1004",
        "no page explains this text",
        "nothing in it is known here: no code of Holdfast, no error class and no message "
        "of Spark's "
        "streaming, state, sources or sinks. It may come from elsewhere, or the part that tells is "
        "missing",
        (
            "paste the whole error with every `Caused by`, best through a pipe: holdfast explain -",
            "holdfast inspect TARGET looks at the checkpoint itself, whatever the message says",
        ),
        exit_status=3,
    ),
)
