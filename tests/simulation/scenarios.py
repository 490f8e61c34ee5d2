"""The scenarios: who is there, what was before, and what must hold afterwards."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from types import MappingProxyType

from holdfast.remedy.plan import Remedy
from tests.simulation import acts
from tests.simulation.driving import Setting, drive
from tests.simulation.world import Main

Act = Callable[..., object]


@dataclass(frozen=True)
class Part:
    """One actor of a scenario."""

    role: str
    act: Act
    restarts: int = 0


@dataclass(frozen=True)
class Scenario:
    """Actors on one checkpoint and one output, after some batches were delivered."""

    name: str
    about: str
    parts: tuple[Part, ...]
    total: int = 4
    """How many rows the source has in the end; a batch takes two, or what has come since."""
    before: int = 0
    """How many rows were delivered before anybody interfered."""
    backups: int = 0
    """How many backups were made then."""
    pending: bool = False
    """The last of those batches has no commits entry: it runs again."""
    lost: tuple[str, ...] = ()
    """Files of the checkpoint that were lost after the backups."""
    planned: bool = False
    """One batch more was planned, and the driver was killed before the sink."""
    records_lost: bool = False
    """The newest batch was taken back then, and the records were lost: generations start again."""
    mode: str = "append"
    stateful: bool = False
    machines: int = 2
    """On how many machines the actors are, in turn; one name for all of them."""
    storages: tuple[str, ...] = ("local", "object", "hdfs")
    allowed: frozenset[str] = field(default_factory=frozenset)
    """What the last acts may be refused with, or the doctor report: a person has to decide."""
    finisher: Act | None = None
    """What a person does before the last start, where an act was left half done."""
    power: bool = True
    """Whether the machine may lose its power."""

    def main_of(self, part: Part, setting: Setting) -> Main:
        """Return what the actor does."""
        return partial(part.act, setting)


DRIVER = Part("driver", drive, restarts=1)
SUCCESSOR = Part("successor", drive)


def _planning(remedy: Remedy, option: str, value: str) -> Part:
    options = MappingProxyType({option: value})
    return Part(remedy.value, partial(acts.apply_plan, remedy=remedy, options=options))


_REPLAY = _planning(Remedy.REPLAY, "from_batch", "1")
_RESET = _planning(Remedy.RESET, "output", "clear")

SCENARIOS: tuple[Scenario, ...] = (
    Scenario(
        "takeover",
        "a driver is too slow, a successor takes over, and the first one wakes up",
        (DRIVER, SUCCESSOR),
    ),
    Scenario(
        "pending",
        "the same, where a batch was committed by the sink and not by Spark",
        (DRIVER, SUCCESSOR),
        before=2,
        pending=True,
    ),
    Scenario(
        "three",
        "two successors, one after the other",
        (DRIVER, SUCCESSOR, SUCCESSOR),
        total=6,
    ),
    Scenario(
        "kills",
        "one driver on one machine, killed and started again",
        (Part("driver", drive, restarts=3),),
        total=6,
        machines=1,
    ),
    Scenario(
        "complete",
        "mode complete: each batch replaces the folder",
        (DRIVER, SUCCESSOR),
        mode="complete",
        storages=("local", "hdfs"),
    ),
    Scenario(
        "rewind",
        "somebody takes the newest batch back while a driver is late",
        (DRIVER, Part("rewind", acts.take_back_last), SUCCESSOR),
        total=6,
        before=4,
        # A late Spark plans one batch more in the checkpoint that was taken back.
        allowed=frozenset({"HF3006", "HF3013"}),
    ),
    Scenario(
        "records-lost",
        "the records are lost after a batch was taken back, and drivers change",
        (DRIVER, SUCCESSOR),
        before=4,
        records_lost=True,
    ),
    Scenario(
        "clear",
        "somebody empties the sink and begins again while a driver is late",
        (DRIVER, Part("clear", acts.reset), SUCCESSOR),
        total=4,
        before=2,
        # A late Spark writes into the checkpoint that was emptied.
        allowed=frozenset({"HF2604", "HF2606", "HF3001", "HF3006", "HF3013"}),
        finisher=acts.finish_reset,
    ),
    Scenario(
        "expiry",
        "a user's own retention removes published files while drivers change",
        (DRIVER, Part("retention", acts.expire), SUCCESSOR),
        before=2,
        # On object stores a folder without a file does not exist: that is a person's to decide.
        allowed=frozenset({"HF3013"}),
    ),
    Scenario(
        "reader",
        "somebody lists the output and reads while drivers change",
        (DRIVER, Part("reader", acts.look_plainly), SUCCESSOR),
    ),
    Scenario(
        "manifests",
        "somebody reads whole batches through the manifests while drivers change",
        (DRIVER, Part("reader", acts.look_through_manifests), SUCCESSOR),
    ),
    Scenario(
        "restore",
        "somebody restores a backup while a driver runs, or before one starts",
        (DRIVER, Part("restore", acts.restore), SUCCESSOR),
        before=2,
        pending=True,
        backups=1,
        stateful=True,
        # A late Spark commits a batch whose state the restore took back.
        allowed=frozenset({"HF5302"}),
        finisher=acts.finish_restore,
    ),
    Scenario(
        "half-restored",
        "somebody restores a lost entry, is killed or slow, and the job starts meanwhile",
        (DRIVER, Part("restore", acts.restore), SUCCESSOR),
        before=2,
        backups=1,
        lost=("commits/0",),
        finisher=acts.finish_restore,
    ),
    Scenario(
        "backups",
        "two backups with retention at once",
        (
            Part("backup", partial(acts.back_up, keep_last=1), restarts=1),
            Part("backup", partial(acts.back_up, keep_last=1)),
        ),
        before=2,
        backups=1,
    ),
    Scenario(
        "backup-of-running",
        "a backup with retention while drivers change",
        (DRIVER, Part("backup", partial(acts.back_up, keep_last=1)), SUCCESSOR),
        before=2,
        backups=1,
    ),
    Scenario(
        "edited",
        "somebody changes the offsets below a planned batch before the job starts",
        (Part("edit", acts.edit_offsets), DRIVER, SUCCESSOR),
        total=6,
        before=2,
        planned=True,
        allowed=frozenset({"HF2604", "HF3027", "HF5003", "HF3001"}),
    ),
    Scenario(
        "planned-replay",
        "a replay is applied while a driver is late, and finished where it was killed",
        (DRIVER, _REPLAY, SUCCESSOR),
        total=6,
        before=4,
        # A late Spark writes into the checkpoint that was rolled back.
        allowed=frozenset({"HF3001", "HF3006", "HF3013"}),
        finisher=acts.finish_plan,
    ),
    Scenario(
        "undone-replay",
        "the same, undone where it was killed",
        (DRIVER, _REPLAY, SUCCESSOR),
        total=6,
        before=4,
        # A late Spark writes into the checkpoint that was rolled back.
        allowed=frozenset({"HF3001", "HF3006", "HF3013"}),
        finisher=acts.undo_plan,
    ),
    Scenario(
        "planned-reset",
        "a reset is applied while a driver is late, and finished where it was killed",
        (DRIVER, _RESET, SUCCESSOR),
        before=2,
        # A late Spark writes into the checkpoint that was emptied.
        allowed=frozenset({"HF2604", "HF2606", "HF3001", "HF3006", "HF3013"}),
        finisher=acts.finish_plan,
    ),
    Scenario(
        "doctor",
        "somebody examines everything while drivers change",
        (DRIVER, Part("doctor", acts.doctor), SUCCESSOR),
        before=2,
    ),
)


def scenario_named(name: str) -> Scenario:
    """Return a scenario; raise ValueError where there is none of this name."""
    for scenario in SCENARIOS:
        if scenario.name == name:
            return scenario
    raise ValueError(f"there is no scenario {name}: {', '.join(one.name for one in SCENARIOS)}")
