"""Files that could not be read, or are not as Spark wrote them."""

from __future__ import annotations

from collections.abc import Iterator

from holdfast.checkpoint.needed import needed_paths
from holdfast.checkpoint.picture import Damage, Picture
from holdfast.checkpoint.snapshotrepair import is_passed_over
from holdfast.checkpoint.writer import spark_version
from holdfast.errors import StorageError
from holdfast.findings import Finding, Severity


def check_damaged_files(picture: Picture) -> Iterator[Finding]:
    """Report every file whose bytes were refused, with how much depends on it."""
    needed = needed_paths(picture)
    for damage in picture.damages:
        yield Finding(
            damage.error.code.number,
            _severity(picture, damage, needed),
            damage.error.message,
            damage.place,
            {"file": damage.file, "line": damage.place.line, "byte": damage.place.byte},
            damage.error.why,
            damage.error.next_steps,
        )


def _severity(picture: Picture, damage: Damage, needed: frozenset[str]) -> Severity:
    if isinstance(damage.error, StorageError):
        return Severity.ERROR
    number = damage.error.code.number
    if number == "HF2112":
        # A killed writer leaves empty ones; they only take away the means to verify.
        return Severity.INFO
    if number == "HF2111":
        # Spark does not look at the checksum: it would go on with the changed content.
        if is_passed_over(picture, damage.file, spark_version(picture).oldest):
            return Severity.ERROR
        counts = damage.file in needed or damage.file.startswith("state/")
        return Severity.FATAL if counts else Severity.ERROR
    if damage.overlooked:
        return Severity.WARNING
    return Severity.FATAL if damage.file in needed else Severity.WARNING
