"""Spark against that of the last run: its release, its settings, and what expressions mean."""

from __future__ import annotations

from collections.abc import Iterator

from holdfast.checkpoint.releases import PINNED_SETTINGS, at_least
from holdfast.redaction import redact
from holdfast.restart.rules.operators import ENCODING, keeps_variables
from holdfast.restart.rules.rule import Needs, Rule, on_history
from holdfast.restart.start import QueryPair, StartFacts
from holdfast.restart.verdict import Change, Verdict

FORMAT_VERSION = "spark.sql.streaming.stateStore.checkpointFormatVersion"
_PINNED = frozenset(one.key for one in PINNED_SETTINGS)
_HARMLESS = frozenset(
    {
        "spark.sql.streaming.stateStore.rocksdb.changelogCheckpointing.enabled",
        "spark.sql.streaming.statefulOperator.checkCorrectness.enabled",
    }
)
_NO_AVRO = "State store encoding format as avro is not supported for operator=…"
_PLANS_FIRST = "a new checkpoint takes it"


@on_history("HF3140")
def meaning_settings(pair: QueryPair) -> Iterator[Change]:
    """Ask about settings that Spark does not pin and that change what expressions mean."""
    before, now = pair.before.settings, pair.now.settings
    names = before.keys() | now.keys()
    if pair.is_other_release:
        # A release that does not know a setting has none of it: only what both have is compared.
        names = before.keys() & now.keys()
    for name in sorted(names - _PINNED - {FORMAT_VERSION}):
        if before.get(name) == now.get(name):
            continue
        old, new = (redact(one.get(name, "not set")) for one in (before, now))
        if name in _HARMLESS:
            why = "it changes how state is written or checked, and Spark takes both"
            yield Change("HF3140", Verdict.SAFE, name, old, new, why)
        elif not pair.has_state:
            why = "later rows are computed with it; rows that were delivered stay as they are"
            yield Change("HF3140", Verdict.SAFE, name, old, new, why)
        else:
            why = "Spark does not pin it: the same expression gives other keys or values from now"
            condition = f"no key and no value of the state depends on {name}"
            yield Change("HF3140", Verdict.CONDITIONAL, name, old, new, why, condition)


@on_history("HF3141")
def pinned_settings(pair: QueryPair) -> Iterator[Change]:
    """Show settings that the checkpoint keeps whatever is set."""
    before, now = pair.before.settings, pair.now.settings
    for name in sorted((before.keys() & now.keys()) & _PINNED):
        if before[name] != now[name]:
            old, new = redact(before[name]), redact(now[name])
            if name == ENCODING and new == "avro" and not _takes_avro(pair):
                why = "Spark looks at what is set before it reads what the checkpoint pins"
                yield Change("HF3141", Verdict.UNSAFE, name, old, new, why, error=_NO_AVRO)
            else:
                why = f"Spark ignores the new value: the checkpoint pins it; {_PLANS_FIRST}"
                yield Change("HF3141", Verdict.SAFE, name, old, new, why)


def _takes_avro(pair: QueryPair) -> bool:
    operators = pair.now.operators
    return operators is not None and all(map(keeps_variables, operators))


def _format_version(start: StartFacts) -> Iterator[Change]:
    """Judge another format of state checkpoints by the release that would start."""
    if start.pair is None:
        return
    old = start.pair.before.settings.get(FORMAT_VERSION)
    new = start.pair.now.settings.get(FORMAT_VERSION)
    if old is None or new is None or old == new or not start.pair.has_state:
        return
    release = start.release
    if release is not None and at_least(release, "4.3"):
        why = "Spark 4.3 ignores it: the last commit pins it"
        yield Change("HF3142", Verdict.SAFE, FORMAT_VERSION, old, new, why)
    elif release == "4.2":
        why = "Spark 4.2 delivers the batch and then fails to commit its state"
        error = "CANNOT_WRITE_STATE_STORE.CANNOT_COMMIT"
        yield Change("HF3142", Verdict.UNSAFE, FORMAT_VERSION, old, new, why, error=error)
    else:
        why = "Spark 4.0 and 4.1 read commits of exactly one format"
        error = "INVALID_LOG_VERSION.EXACT_MATCH_VERSION"
        yield Change("HF3142", Verdict.UNSAFE, FORMAT_VERSION, old, new, why, error=error)


format_version = Rule(("HF3142",), Needs.HISTORY, _format_version, since="4.0")


@on_history("HF3143")
def spark_release(pair: QueryPair) -> Iterator[Change]:
    """Show another release; what it can't read of the checkpoint is found by other rules."""
    old, new = pair.before.spark, pair.now.spark
    if pair.is_other_release:
        why = "what the release does with this checkpoint is in the next start"
        yield Change("HF3143", Verdict.SAFE, "Spark", old, new, why)
