"""Puts the world in the place of what differs between two processes: clock, numbers, storage.

Every module of Holdfast that holds `time`, `uuid`, `os` or `socket` gets a stand-in of it, and the
two functions that open a place give views of the simulated tree. Nothing of what is under test is
replaced.
"""

from __future__ import annotations

import os
import socket
import sys
import time
import types
import uuid
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import fields, is_dataclass
from enum import Enum
from functools import lru_cache
from typing import Any

# Loaded at its first use otherwise, and then not patched.
import holdfast.diagnosis.inspection.runs.recalling  # noqa: F401
from holdfast.records import documents, processes, run
from holdfast.records.leases import lease, taking
from holdfast.records.processes import Process
from holdfast.storage import machine, opening, parallel
from holdfast.storage.location import Location
from tests.simulation.views import SimulatedReader, SimulatedWriter
from tests.simulation.world import EPOCH, Actor, World

LOOK_SECONDS = 10.0
"""How often a lease is looked at while it is watched: four looks in place of thirty."""

_HOST = "container"
"""Every machine has this name: only what tells machines apart may tell them apart."""


class _Now:
    """The world that runs now, if any."""

    world: World | None = None


def enter(world: World | None) -> None:
    """Let everything happen in this world."""
    _Now.world = world


def world_now() -> World:
    """Return the world that is simulated now."""
    assert _Now.world is not None, "nothing is simulated now"
    return _Now.world


def _actor() -> Actor | None:
    world = _Now.world
    return None if world is None else world._current


class _Name:
    """A random name, or what looks like one."""

    def __init__(self, digits: str) -> None:
        self.hex = digits

    def __str__(self) -> str:
        one = self.hex
        return f"{one[:8]}-{one[8:12]}-4{one[13:16]}-8{one[17:20]}-{one[20:32]}"


class _StandIn(types.ModuleType):
    """A module with some of its functions replaced."""

    def __init__(self, module: types.ModuleType, **replaced: Any) -> None:
        super().__init__(module.__name__)
        self._module = module
        self.__dict__.update(replaced)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._module, name)


def _time() -> float:
    actor = _actor()
    return EPOCH if actor is None else world_now().wall(actor)


def _monotonic() -> float:
    actor = _actor()
    return 0.0 if actor is None else world_now().clock(actor)


def _sleep(seconds: float) -> None:
    world_now().sleep(seconds)


def _getpid() -> int:
    actor = _actor()
    return 99 if actor is None else actor.pid


def _this_machine() -> str:
    actor = _actor()
    return "none" if actor is None else actor.machine


def _process_lives(number: int) -> bool:
    actor = _actor()
    return actor is not None and world_now().lives(actor.machine, number)


def _lives(process: Process) -> bool:
    return _process_lives(process.number)


def _process_here(number: int) -> Process:
    return Process(number, "1")


def _start_beating(held: lease.Lease) -> None:
    world = world_now()

    def ready() -> bool:
        # A beat waits for the one before it, as the thread of a real lease does.
        return not (held._ended.is_set() or held._loss is not None or held._writing.locked())

    world.every(lease.BEAT_SECONDS, held.beat, ready)


def _one_by_one(work: Callable[[Any], Any], items: Any, workers: int) -> dict[Any, Any]:
    return {item: work(item) for item in dict.fromkeys(items)}


def _one_after_another(items: Any, work: Callable[[Any], Any]) -> Iterator[tuple[Any, Any]]:
    return ((item, work(item)) for item in items)


def _reader(location: Location, *_: Any) -> SimulatedReader:
    return SimulatedReader(world_now(), location.url, location.shown)


def _writer(location: Location, _settings: Any) -> SimulatedWriter:
    return SimulatedWriter(world_now(), location.url, location.shown)


def _beaten_by_the_world(self: Any) -> None:
    _simulated_beating(self)  # type: ignore[name-defined] # noqa: F821


def _opened_by_the_world(location: Any, settings: Any) -> Any:
    return _simulated_writer(location, settings)  # type: ignore[name-defined] # noqa: F821


_STAND_INS = {
    time: _StandIn(time, time=_time, monotonic=_monotonic, sleep=_sleep),
    uuid: _StandIn(uuid, uuid4=lambda: _Name(world_now().fresh_name()), getnode=lambda: 1),
    os: _StandIn(os, getpid=_getpid),
    socket: _StandIn(socket, gethostname=lambda: _HOST),
}


@contextmanager
def simulated() -> Iterator[None]:
    """Let Holdfast work on worlds that are entered, until the end of the block."""
    undone: list[tuple[Any, str, Any]] = []

    def put(owner: Any, name: str, new: Any) -> None:
        undone.append((owner, name, getattr(owner, name)))
        setattr(owner, name, new)

    functions: dict[Any, Any] = {
        machine.this_machine: _this_machine,
        machine.process_lives: _process_lives,
        processes.lives: _lives,
        processes.process_here: _process_here,
        parallel.side_by_side: _one_by_one,
        parallel.one_ahead: _one_after_another,
        # Records are frozen: the same bytes may be the same object, and it is a third of the time.
        documents.decode_document: lru_cache(maxsize=4096)(documents.decode_document),
    }
    for module in _modules():
        for name, value in list(vars(module).items()):
            if isinstance(value, types.ModuleType) and value in _STAND_INS:
                # A stand-in is slow where only `os.sep` is asked for.
                if value is not os or _asks_for_pid(module):
                    put(module, name, _STAND_INS[value])
            elif isinstance(value, types.FunctionType) and value in functions:
                put(module, name, functions[value])
            elif isinstance(value, types.FunctionType):
                _put_defaults(getattr(value, "__wrapped__", value), put)
            elif isinstance(value, type) and value.__module__ == module.__name__:
                _put_defaults(vars(value).get("__init__"), put)
    put(opening, "_local", _reader)
    put(opening, "_remote", _reader)
    vars(lease)["_simulated_beating"] = _start_beating
    put(lease.Lease.start_beating, "__code__", _beaten_by_the_world.__code__)
    put(taking, "_LOOK_SECONDS", LOOK_SECONDS)
    put(taking, "_LONGEST_GAP", 2 * LOOK_SECONDS)
    # Secrets are looked for elsewhere; here it would be half of the time.
    put(run, "redact_value", _unchanged)
    put(run, "redact", _unchanged)
    put(documents, "plain", _plain)
    # Functions themselves, not their names: they are the defaults of arguments.
    vars(opening)["_simulated_writer"] = _writer
    put(opening.open_writer, "__code__", _opened_by_the_world.__code__)
    try:
        yield
    finally:
        for owner, name, old in reversed(undone):
            setattr(owner, name, old)
        _Now.world = None


def _put_defaults(function: Any, put: Callable[[Any, str, Any], None]) -> None:
    """Replace clocks that are defaults of arguments."""
    clocks: dict[Any, Any] = {time.monotonic: _monotonic, time.sleep: _sleep, time.time: _time}

    def simulated_clock(value: Any) -> Any:
        return clocks.get(value, value) if isinstance(value, types.BuiltinFunctionType) else value

    named = getattr(function, "__kwdefaults__", None) or {}
    if any(simulated_clock(one) is not one for one in named.values()):
        new = {name: simulated_clock(one) for name, one in named.items()}
        put(function, "__kwdefaults__", new)
    placed = getattr(function, "__defaults__", None) or ()
    if any(simulated_clock(one) is not one for one in placed):
        put(function, "__defaults__", tuple(map(simulated_clock, placed)))


def _asks_for_pid(module: types.ModuleType) -> bool:
    functions = [one for one in vars(module).values() if isinstance(one, types.FunctionType)]
    return any("getpid" in one.__code__.co_names for one in functions)


def _plain(value: Any) -> Any:
    """Do what `plain` does, with the names of a record's fields looked up once."""
    kind = type(value)
    if kind in (str, int, float, bool, type(None)):
        return value
    if is_dataclass(kind):
        return {name: _plain(getattr(value, name)) for name in _field_names(kind)}
    if isinstance(value, Mapping):
        return {str(key): _plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(item) for item in value]
    return value.value if isinstance(value, Enum) else value


@lru_cache(maxsize=256)
def _field_names(kind: type) -> tuple[str, ...]:
    return tuple(one.name for one in fields(kind))


def _unchanged(value: Any) -> Any:
    return value


def _modules() -> list[types.ModuleType]:
    names = [name for name in sys.modules if name.startswith("holdfast.")]
    return [sys.modules[name] for name in names if sys.modules[name] is not None]
