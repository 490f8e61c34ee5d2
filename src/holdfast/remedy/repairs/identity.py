"""Repair of `metadata`: the query's id written back, where the checkpoint has what the sink has."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from holdfast.errors import DecodeError, PlanError
from holdfast.format.logs.log import decode_query
from holdfast.ledgers.sinkstate import LastCommitted, SinkAnswer
from holdfast.remedy.facts import Facts
from holdfast.remedy.repairs.repair import Damaged, Fix, require_known, skips_known_batches

METADATA = "metadata"
OWN_WORDS = b"holdfast "
"""How a `metadata` begins that Holdfast wrote to keep queries from starting."""


def lost_query_id(damaged: Damaged) -> Iterator[Fix]:
    """Write the id back that records, backups or the sink know, where nothing contradicts it."""
    picture, facts = damaged.picture, damaged.facts
    logs = picture.layout.offsets.files or picture.layout.commits.files
    is_whole = picture.query is not None and picture.query.well_formed
    if is_whole or not logs or picture.newest_offsets_id is None:
        return
    if picture.layout.has_file(METADATA) and damaged.reader.read(METADATA).startswith(OWN_WORDS):
        message = "Holdfast replaced metadata on purpose: the checkpoint was moved or is changed"
        raise PlanError("HF4601", message, at=f"{facts.location}/{METADATA}")
    known = _known_ids(damaged)
    if len(known) != 1:
        told = "nothing knows the query id" if not known else "more than one query id is known: "
        told += ", ".join(f"{one} ({basis})" for one, basis in known.items())
        raise PlanError("HF4603", told, at=f"{facts.location}/{METADATA}")
    ((query_id, basis),) = known.items()
    _require_its_batches(facts, query_id, picture.newest_offsets_id)
    content = _bytes_of(damaged, query_id) or b'{"id":"%s"}' % query_id.encode("ascii")
    yield Fix(f"write the query id {query_id} back into metadata ({basis})", {METADATA: content})


def _known_ids(damaged: Damaged) -> Mapping[str, str]:
    """Return the ids that the query may have, each with who knows it; the sink is asked last."""
    recorded, known = damaged.facts.subject.recorded, {}
    if recorded.started is not None and recorded.started.query_id is not None:
        run = recorded.started
        known[str(run.query_id)] = f"recorded by run {run.generation}"
    for snapshot in damaged.snapshots:
        if snapshot.query_id is not None:
            known.setdefault(snapshot.query_id, f"in backup {snapshot.id}")
    return known or _ids_in_sink(damaged)


def _ids_in_sink(damaged: Damaged) -> Mapping[str, str]:
    sink = damaged.facts.subject.sink
    newest: Mapping[str, int] = {}
    if sink is not None and sink.own is not None:
        newest = sink.own.newest
    elif sink is not None and sink.delta is not None and sink.delta.complete:
        newest = sink.delta.transactions
    ids = damaged.picture.layout.offsets.files
    # A table may know batches of other queries: those whose newest batch is not here.
    fitting = [one for one, batch in newest.items() if batch in ids and _is_uuid(one)]
    return dict.fromkeys(fitting, f"known to {sink.location}") if sink is not None else {}


def _require_its_batches(facts: Facts, query_id: str, planned: int) -> None:
    """Raise PlanError where Spark would plan a batch that the sink has under this id."""
    held = _held(facts, query_id)
    at = f"{facts.location}/{METADATA}"
    if facts.job is None or skips_known_batches(facts):
        require_known(facts, held, f"query {query_id} would continue after batch {planned}")
    if held.closed or (held.value is not None and held.value > planned):
        message = f"offsets/ ends at batch {planned}, and the sink has more of query {query_id}"
        raise PlanError("HF4601", f"{message} ({held.basis})", at=at)
    if held.answer is SinkAnswer.NOTHING and planned > 0 and skips_known_batches(facts):
        message = f"the sink has no batch of query {query_id}, although {planned} were planned"
        raise PlanError("HF4603", message, at=at)


def _held(facts: Facts, query_id: str) -> LastCommitted:
    sink = facts.subject.sink
    return facts.held if sink is None else sink.last_committed(query_id)


def _bytes_of(damaged: Damaged, query_id: str) -> bytes | None:
    """Return `metadata` as a backup has it."""
    store = damaged.facts.records.store
    for snapshot in damaged.snapshots:
        file = snapshot.checkpoint.by_path.get(METADATA)
        if snapshot.query_id == query_id and file is not None:
            return b"".join(store.whole_chunks(file))
    return None


def _is_uuid(text: str) -> bool:
    try:
        return decode_query(b'{"id":"%s"}' % text.encode("ascii")).well_formed
    except (DecodeError, UnicodeError):
        return False
