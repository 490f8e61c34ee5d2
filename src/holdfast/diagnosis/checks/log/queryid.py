"""The query's identity: present and well-formed."""

from __future__ import annotations

from collections.abc import Iterator

from holdfast.checkpoint.picture import Picture
from holdfast.checkpoint.releases import at_least
from holdfast.checkpoint.writer import start_releases
from holdfast.findings import Finding, Place, Severity


def check_query_id(picture: Picture) -> Iterator[Finding]:
    """Report a missing `metadata` over existing logs, and an id that Spark refuses."""
    layout = picture.layout
    has_batches = bool(layout.offsets.files or layout.commits.files)
    if has_batches and "metadata" not in layout.items:
        refused = [one for one in start_releases(picture) if at_least(one, "4.2")]
        yield Finding(
            "HF2201",
            Severity.FATAL if refused else Severity.ERROR,
            "metadata, which holds the query id, is missing while the logs hold batches",
            Place("metadata"),
            {"newest_batch": layout.offsets.newest},
        )
    if picture.query is not None and not picture.query.well_formed:
        yield Finding(
            "HF2202",
            Severity.FATAL,
            f"the query id {picture.query.id!r} is not a UUID",
            Place("metadata"),
            {"id": picture.query.id},
        )
