"""How much of the checkpoint could be seen at all."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from holdfast.checkpoint.picture import Picture
from holdfast.findings import Finding, Place, Severity


def check_wholeness(picture: Picture) -> Iterator[Finding]:
    """Report folders that could not be listed, large files left unread, and movement."""
    for folder, error in (picture.unlisted or {}).items():
        yield Finding(
            "HF2230",
            Severity.ERROR,
            f"{folder or 'the checkpoint'} could not be listed: {error.message}",
            Place(folder),
            {"code": error.code.number},
        )
    for path in picture.unread:
        message = f"{path} holds {picture.layout.items[path].size:,} bytes and was not read"
        yield Finding("HF2234", Severity.INFO, message, Place(path))
    if picture.moved:
        yield Finding(
            "HF2231",
            Severity.INFO,
            "a query wrote to the checkpoint while it was read: this is one moment of it",
            Place("offsets"),
        )


def without_unseen(findings: Iterable[Finding], picture: Picture) -> Iterator[Finding]:
    """Yield the findings that do not rest on a folder that could not be listed whole.

    What is missing from a partial listing may be there: only files that were read are judged.
    """
    hidden = {folder.partition("/")[0] for folder in picture.unlisted or {}}
    damaged = {damage.file for damage in picture.damages}
    for finding in findings:
        file = finding.place.file
        if finding.code == "HF2230" or file in damaged or file.partition("/")[0] not in hidden:
            yield finding
