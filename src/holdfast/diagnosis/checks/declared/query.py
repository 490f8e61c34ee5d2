"""The declared query against the checkpoint: sources, operators, keys, aggregates, an upsert's key.

Everything here compares what is certain of a query without Spark (`jobs/queryshape.py`) with what
the checkpoint says of itself, and is silent about the rest.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from urllib.parse import unquote

from holdfast.checkpoint.layout import folder_of
from holdfast.checkpoint.operators import Operator, Store, operators_of
from holdfast.checkpoint.progress import explained
from holdfast.codes import code_of
from holdfast.diagnosis.checks.declared.declarations import KINDS, plain_uri
from holdfast.diagnosis.checks.state.contents import missing_operators
from holdfast.diagnosis.inspection.subject import DeclaredJob, Subject
from holdfast.findings import Finding, Place, Severity
from holdfast.format.sources import ExplainedOffset
from holdfast.format.state.schema import Column
from holdfast.jobs.options import topics_of
from holdfast.jobs.queryshape import AGGREGATION, QueryShape

_SAME_OPERATOR: Mapping[str, str] = {"StatefulStreamlineAggregate": AGGREGATION}
"""Names of the same operator in another mode of execution."""
_STATE_FORMAT = "spark.sql.streaming.aggregation.stateFormatVersion"
_MISSING_STATE = code_of("HF2221").next_steps
_IF_NEW = "if the operator is new: declare the operators that the checkpoint has state of"
_ONLY_AGGREGATES = "2"
"""With this format the state's value has the aggregates alone."""
_BESIDE_SUMS = "isempty"
"""What Spark keeps beside the sum of decimals."""


def check_source_order(subject: Subject) -> Iterator[Finding]:
    """Report sources that the query reads in another order than the checkpoint has them."""
    entry, job = subject.picture.newest_offsets, subject.job
    order = job.query.sources if job is not None else None
    if entry is None or job is None or order is None or entry.version != 1:
        return
    if len(order) < 2 or len(order) != len(entry.sources):
        return
    places = {at: _declared_at(subject, job, at) for at in range(len(order))}
    wrong = {at: name for at, name in places.items() if name not in (None, order[at])}
    if wrong:
        stored = [places[at] or "?" for at in range(len(order))]
        message = f"the query reads {', '.join(order)}; the checkpoint has {', '.join(stored)}"
        place = Place(f"offsets/{subject.picture.newest_offsets_id}", line=3 + min(wrong))
        evidence = {"declared": list(order), "recorded": stored}
        yield Finding("HF2361", Severity.FATAL, message, place, evidence)


def check_declared_operators(subject: Subject) -> Iterator[Finding]:
    """Report other stateful operators than those whose state there is."""
    shape, found = _compared(subject)
    if shape is None or shape.operators is None or missing_operators(subject):
        return
    before = [_plain_name(one.name) for one in found]
    now = list(shape.operators)
    same = len(before) == len(now) and all(
        name in (None, other) for name, other in zip(before, now, strict=True)
    )
    if not same:
        stored = ", ".join(name or "unnamed" for name in before) or "none"
        message = f"the query has the operators {', '.join(now) or 'none'}; the checkpoint has "
        message += stored
        evidence = {"declared": now, "recorded": before}
        is_part = _is_part(before, now)
        message += ": an operator is new, or its state was deleted" if is_part else ""
        steps = (*_MISSING_STATE, _IF_NEW) if is_part else ()
        yield Finding("HF2362", Severity.FATAL, message, Place("state"), evidence, "", steps)


def check_declared_keys(subject: Subject) -> Iterator[Finding]:
    """Report columns to group by that are not those of the state."""
    shape, store = _only_store(subject)
    if shape is None or store is None or shape.keys is None or store.key_schema is None:
        return
    stored = _names(store.key_schema)
    # Spark makes up names for expressions; of a global aggregate the state has no key at all.
    if len(stored) == len(shape.keys) and (stored == shape.keys or not _are_columns(stored)):
        return
    message = f"the query groups by {_listed(shape.keys)}; the state by {_listed(stored)}"
    evidence = {"declared": sorted(shape.keys), "recorded": sorted(stored)}
    yield Finding("HF2363", Severity.FATAL, message, Place("state/0"), evidence)


def check_declared_aggregates(subject: Subject) -> Iterator[Finding]:
    """Report aggregate functions that keep other columns than those of the state."""
    shape, store = _only_store(subject)
    if shape is None or store is None or shape.buffers is None or store.value_schema is None:
        return
    if subject.picture.settings.get(_STATE_FORMAT) != _ONLY_AGGREGATES:
        return
    stored = _names(store.value_schema) - {_BESIDE_SUMS}
    if stored != shape.buffers:
        message = f"the query's aggregates keep {_listed(shape.buffers)}; the state has "
        message += _listed(stored)
        evidence = {"declared": sorted(shape.buffers), "recorded": sorted(stored)}
        yield Finding("HF2364", Severity.FATAL, message, Place("state/0"), evidence)


def _compared(subject: Subject) -> tuple[QueryShape | None, tuple[Operator, ...]]:
    """Return the declared query and the checkpoint's operators, where both can be relied on."""
    picture = subject.picture
    unseen = any(folder.split("/", 1)[0] in ("", "state") for folder in picture.unlisted or {})
    if subject.job is None or picture.newest_commit_id is None or unseen:
        return None, ()
    return subject.job.query, operators_of(picture)


def _only_store(subject: Subject) -> tuple[QueryShape | None, Store | None]:
    """Return the declared query and the store of the only operator, where it is the same one."""
    shape, found = _compared(subject)
    if shape is None or shape.operators is None or len(found) != 1 or len(shape.operators) != 1:
        return None, None
    if _plain_name(found[0].name) not in (None, shape.operators[0]) or len(found[0].stores) != 1:
        return None, None
    return shape, found[0].stores[0]


def _declared_at(subject: Subject, job: DeclaredJob, position: int) -> str | None:
    """Return the only declared source that fits the offset at a position."""
    entry = subject.picture.newest_offsets
    assert entry is not None
    reported = explained(subject.picture, entry, position, {})
    if not isinstance(reported, ExplainedOffset):
        return None
    topics = (
        set(reported.decoded)
        if isinstance(reported.decoded, dict) and reported.kind == "kafka"
        else set()
    )
    file = _last_file(subject, position) if reported.kind == "file" else None
    fits = [
        name
        for name, source in job.job.named_sources.items()
        if KINDS.get(source.format.lower()) == reported.kind
        and _fits_file(job.source_folders.get(name), file)
        and _fits_topics(set(topics_of(source.options).names), topics)
    ]
    return fits[0] if len(fits) == 1 else None


def _last_file(subject: Subject, position: int) -> str | None:
    entry = subject.picture.newest_offsets
    assert entry is not None
    folder = folder_of(entry, position, subject.picture.layout)
    logs = subject.picture.source_logs.get(folder or "", {})
    items = logs[max(logs)].items if logs else ()
    return plain_uri(unquote(items[-1].path)) if items else None


def _fits_file(folder: str | None, file: str | None) -> bool:
    if file is None or folder is None or set(folder) & set("*?[{"):
        return True
    return file.startswith(f"{plain_uri(folder).rstrip('/')}/")


def _fits_topics(declared: Collection[str], stored: Collection[str]) -> bool:
    return not declared or not stored or bool(set(declared) & set(stored))


def _is_part(before: Sequence[str | None], now: Sequence[str]) -> bool:
    """Return whether the state of some of the operators is there, and nothing else."""
    if len(before) >= len(now):
        return False
    left = iter(now)
    return all(any(name in (None, other) for other in left) for name in before)


def _plain_name(name: str | None) -> str | None:
    return None if name is None else _SAME_OPERATOR.get(name, name)


def _names(columns: tuple[Column, ...]) -> frozenset[str]:
    return frozenset(one.name.lower() for one in columns)


def _are_columns(names: Collection[str]) -> bool:
    """Return whether these are names of columns, none made up by Spark for an expression."""
    return not any(one.startswith("_") or not one.isidentifier() for one in names)


def _listed(names: Collection[str]) -> str:
    return ", ".join(sorted(names)) or "nothing"


UPDATING = frozenset({"update", "complete"})
"""Output modes in which a group is written again whenever it changes."""


def check_upsert_key(subject: Subject) -> Iterator[Finding]:
    """Report a key that leaves out columns which the SQL of the job groups by.

    Only where every key column is one of these: anything else may distinguish the groups.
    """
    if subject.job is None or subject.job.job.sql is None:
        return
    job, groups = subject.job.job, subject.job.query.keys
    is_grouped = subject.job.query.operators == (AGGREGATION,) and bool(groups)
    if job.sink.mode != "upsert" or job.decided_output_mode not in UPDATING or not is_grouped:
        return
    key = tuple(job.sink.key)
    if groups is not None and {one.lower() for one in key} < groups:
        missing = sorted(groups - {one.lower() for one in key})
        yield coarse_key(key, sorted(groups), missing, is_ordered=job.sink.order_by is not None)


def coarse_key(
    key: Sequence[str], groups: Sequence[str], missing: Sequence[str], *, is_ordered: bool
) -> Finding:
    """Return the finding; a job that orders the rows of one key expects several of them."""
    message = (
        f"the sink's key ({', '.join(key)}) lacks columns that the query groups by "
        f"({', '.join(groups)}): rows of groups that differ only in {', '.join(missing)} overwrite "
        "each other"
    )
    severity = Severity.INFO if is_ordered else Severity.WARNING
    evidence = {"key": [*key], "groups": [*groups], "missing": [*missing]}
    return Finding("HF2376", severity, message, Place(""), evidence)
