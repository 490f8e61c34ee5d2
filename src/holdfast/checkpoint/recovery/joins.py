"""Stream-stream joins with state of format 1, which Spark 2 wrote.

Every release since 3.0 refuses any but an inner join over it when the batch is planned
(SPARK-26154): a row of this format does not say whether it was matched. A join that committed a
batch with it in Spark 3 or later was thus an inner one. From 4.1 on Spark cannot write the schema
files of such state: where they are missing, as Spark 2 left it, an inner join is refused as well.
"""

from __future__ import annotations

from dataclasses import dataclass

from holdfast.checkpoint.picture import Picture
from holdfast.checkpoint.releases import at_least
from holdfast.checkpoint.statefiles import JOIN_STORES, OperatorFiles
from holdfast.errors import DecodeError
from holdfast.format.state.schema import columns

JOIN_FORMAT = "spark.sql.streaming.join.stateFormatVersion"

_WITHOUT_WRITER = "4.1"
"""The first release that writes no schema files of format 1."""
_ROWS = tuple(name for name in JOIN_STORES if "keyWithIndexToValue" in name)
_MATCHED = "matched"
"""The column that format 2 added."""


@dataclass(frozen=True)
class FormatOneJoin:
    """A stream-stream join whose state the next start reads in format 1."""

    named: bool
    """The entry names the format, so Spark 3 or later wrote it; Spark 2 named none."""
    committed: bool
    """A batch was committed with it."""
    described: bool
    """Each of its stores has a schema file."""
    state_is_newer: bool
    """The schemas of the state are those of a later format: the entry does not fit them."""

    @property
    def was_inner(self) -> bool:
        """Whether only an inner join can have brought it here."""
        return self.named and self.committed

    def refusal(self, release: str) -> str | None:
        """Return why a release refuses even an inner join; None where it starts one."""
        if self.state_is_newer:
            return "the offsets entry names join state format 1, but the state has a later format"
        if not self.described and at_least(release, _WITHOUT_WRITER):
            return (
                f"join state of format 1 has no schema files, and Spark {release} cannot write "
                "them: 'Unsupported schema writer version: 1'"
            )
        return None


def format_one_join(picture: Picture) -> FormatOneJoin | None:
    """Return what is known of a join with state of format 1; None where there is none."""
    settings = picture.settings
    operators = picture.layout.state.operators.values()
    joins = [one for one in operators if JOIN_STORES[0] in one.stores]
    if not joins or not settings or settings.get(JOIN_FORMAT, "1") != "1":
        return None
    return FormatOneJoin(
        named=JOIN_FORMAT in settings,
        committed=picture.newest_commit_id is not None,
        described=all(map(_described, joins)),
        state_is_newer=any(all(_has_matched(picture, one.id, name) for name in _ROWS)
                           for one in joins),
    )  # fmt: skip


def _described(operator: OperatorFiles) -> bool:
    stores = [operator.stores.get(name) for name in JOIN_STORES]
    return all(one is not None and one.partition_schema is not None for one in stores)


def _has_matched(picture: Picture, operator: int, store: str) -> bool:
    schema = picture.schemas.get((operator, store))
    if schema is None or not schema.families:
        return False
    try:
        found = columns(schema.families[0].value_json)
    except DecodeError:
        return False
    return bool(found) and found[-1].name == _MATCHED
