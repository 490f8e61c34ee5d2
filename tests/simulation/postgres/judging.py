"""Judges by plain SQL what is there: while actors stop, after them, and after a clean start."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import psycopg

from holdfast.errors import SinkError
from tests.simulation.postgres import choices
from tests.simulation.postgres.batches import PlannedBatch, Row, table_after
from tests.simulation.postgres.baton import Actor
from tests.simulation.postgres.scenarios import Scenario
from tests.simulation.postgres.server import LEDGER, TABLE, Server
from tests.simulation.postgres.world import World

_LOST_LEASE = frozenset(("HF5010", "HF5041", "HF5042", "HF5044", "HF5047"))
"""How a driver or a person may end who was overtaken: each leaves the batch to the newer one."""


@dataclass(frozen=True)
class LedgerRow:
    """What the ledger says of a batch."""

    query_id: str
    batch_id: int
    digest: str
    generation: int
    rows: int


@dataclass(frozen=True)
class Seen:
    """Table and ledger in one moment."""

    rows: list[Row]
    ledger: list[LedgerRow]


def seen_in(server: Server) -> Seen | None:
    """Read both tables in one statement; None where one of them is not there yet."""
    statement = (
        f"select 0, '', k, v, 0, 0 from {TABLE} union all "
        f"select 1, query_id, batch_id, offsets_digest, generation, rows from {LEDGER} "
        f"where table_name = '{TABLE}' and batch_id >= 0"
    )
    try:
        found = server.ask(statement)
    except psycopg.errors.UndefinedTable:
        return None
    rows = sorted((k, v) for kind, _, k, v, _, _ in found if kind == 0)
    ledger = sorted(
        (LedgerRow(*values) for kind, *values in found if kind == 1), key=lambda one: one.batch_id
    )
    return Seen(rows, ledger)


def faults_now(seen: Seen, world: World, scenario: Scenario) -> list[str]:
    """List what no reader may ever see, whatever the actors are in the middle of."""
    found = list(_ledger_faults(seen, scenario))
    if len({one.query_id for one in seen.ledger}) > 1:
        found.append("the ledger holds batches of two queries")
    found += _claim_faults(seen, world)
    if scenario.gap is not None:
        return found
    expected = table_after(_held(seen, world, scenario))
    if seen.rows != expected:
        found.append(f"the table holds {seen.rows}; the ledger's batches are {expected}")
    if world.fence is not None:
        generation, newest_kept = world.fence
        late = [
            one for one in seen.ledger
            if one.batch_id > newest_kept and one.generation < generation
        ]  # fmt: skip
        if late:
            found.append(f"committed after it was taken back: {late}")
    return found


def _claim_faults(seen: Seen, world: World) -> list[str]:
    """List what the sink said to be delivered just now, and is not."""
    held = {one.batch_id: one.digest for one in seen.ledger}
    oldest = min(held, default=0)
    claimed, world.claimed = world.claimed, []
    return [
        f"batch {one.digest} was said to be delivered; the ledger holds {held}"
        for one in claimed
        if one.batch_id >= oldest and held.get(one.batch_id) != one.digest
    ]


def _held(seen: Seen, world: World, scenario: Scenario) -> list[PlannedBatch]:
    """Return the batches that the ledger stands for, those that it forgot included."""
    held = [PlannedBatch(one.batch_id, one.digest[0], scenario.mode) for one in seen.ledger]
    pruned = range(seen.ledger[0].batch_id if seen.ledger else 0)
    if scenario.kept_batches is None:
        return held
    return [*(world.planned(one) for one in pruned), *held]


def _ledger_faults(seen: Seen, scenario: Scenario) -> Any:
    ids = [one.batch_id for one in seen.ledger]
    if scenario.gap is None and ids != list(range(ids[0], ids[0] + len(ids)) if ids else []):
        yield f"the ledger has a gap: {ids}"
    if ids and ids[0] > 0 and scenario.kept_batches is None:
        yield f"the ledger begins with batch {ids[0]}: {ids}"
    generations = [one.generation for one in seen.ledger]
    if generations != sorted(generations):
        yield f"an older driver came after a newer one: generations {generations}"
    for one in seen.ledger:
        rows = len(PlannedBatch(one.batch_id, one.digest[0], scenario.mode).rows)
        if one.rows != rows:
            yield f"the ledger says {one.rows} rows of batch {one.batch_id}, it had {rows}"


class EndedError(Exception):
    """How an actor ended, with what matters for whether it may."""

    def __init__(self, error: SinkError, *, overtaken: bool) -> None:
        super().__init__(f"{error.code.number}: {error.message}")
        self.code = error.code.number
        self.overtaken = overtaken
        """A newer holder of the lease was there by then."""


def errors_of(actors: list[Actor], scenario: Scenario) -> list[str]:
    """List the ends of actors that nobody documents."""
    found = []
    for actor in actors:
        error = actor.error
        if error is not None and not (
            isinstance(error, EndedError) and error.code in _allowed(actor, error, scenario)
        ):
            found.append(f"{actor.name} ended with {error!r}")
    return found


def _allowed(actor: Actor, error: EndedError, scenario: Scenario) -> frozenset[str]:
    if error.code in scenario.stuck:
        return scenario.stuck
    if error.overtaken:
        return _LOST_LEASE
    allowed = {"HF5041"} if actor.faults else set()
    # Claimed by another and taken back at once: nothing is wrong, and the next start finds it.
    if scenario.clears:
        # A clear of an older generation that comes late, before the first new batch, is not told
        # from a new one: it removes nothing, and yet the new driver has to be started again.
        allowed.add("HF5047")
    waited = {choices.TIMEOUT, choices.VICTIM} & set(actor.faults) or scenario.takes_back
    return frozenset(allowed | ({"HF5010"} if waited else set()))


def final_faults(seen: Seen | None, world: World, scenario: Scenario, newest: int) -> list[str]:
    """List what is wrong after a clean start delivered everything."""
    if seen is None:
        return ["table or ledger is missing after a clean start"]
    found = faults_now(seen, world, scenario)
    expected = table_after(world.planned(one) for one in range(newest + 1))
    if seen.rows != expected:
        found.append(f"after a clean start the table holds {seen.rows}, expected {expected}")
    ids = [one.batch_id for one in seen.ledger]
    if not ids or ids[-1] != newest:
        found.append(f"after a clean start the ledger holds {ids}, expected up to {newest}")
    return found
