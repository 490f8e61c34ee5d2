"""The judge: reads the raw tree, and shares no code with what it judges."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator
from typing import Any

from tests.simulation.driving import Setting
from tests.simulation.tree import Tree
from tests.simulation.world import Actor, World

_CHANGES = frozenset({"create", "replace", "remove", "move", "copy"})
_NOT_AN_ACT = ("/lease/", "/runs/")
"""What every start writes beside a checkpoint, also one that does nothing."""


def rows_in(tree: Tree, setting: Setting) -> Counter[int]:
    """Count every row that a reader sees who lists the output folder."""
    rows: Counter[int] = Counter()
    for name in tree.below(setting.output.url):
        if not name.startswith((".", "_")):
            content = tree.files[f"{setting.output.url}/{name}"].content
            rows.update(int(row) for row in content.split())
    return rows


def judge_any_moment(world: World, setting: Setting) -> Iterator[str]:
    """Tell what must hold whenever nobody is at work, also after kills."""
    for row, count in sorted(rows_in(world.tree, setting).items()):
        if count > 1:
            yield f"row {row} is there {count} times"
    yield from _broken_promises(world, setting)


def judge_end(world: World, setting: Setting, total: int) -> Iterator[str]:
    """Tell what must hold after the last start: every row once, every batch remembered."""
    yield from judge_any_moment(world, setting)
    tree, root = world.tree, setting.checkpoint.url
    planned, committed = _numbers(tree, f"{root}/offsets"), _numbers(tree, f"{root}/commits")
    if planned != committed and planned[-1:] != committed[-1:]:
        yield f"batches {planned} are planned and {committed} are committed"
    expired = _expired_rows(world)
    rows = rows_in(tree, setting)
    missing = [row for row in range(total) if row not in rows and row not in expired]
    if missing:
        yield f"rows {missing} are lost"
    strange = sorted(row for row in rows if row >= total)
    if strange:
        yield f"rows {strange} came from nowhere"
    yield from _gaps(world, setting, committed)


def judge_change(world: World, setting: Setting, actor: Actor, kind: str, path: str) -> None:
    """Note who changes a checkpoint without ever having held its lease, while somebody does.

    Whoever held it and comes late is not meant: between looking and writing there is always a gap,
    which the sink has to bear.
    """
    if kind not in _CHANGES or actor.role == "edit":
        return
    if not path.startswith(f"{setting.checkpoint.url}/"):
        return
    claims = list(_claims(world.tree, setting))
    if any(claim["holder"]["python"]["number"] == actor.pid for claim, _ in claims):
        return
    if claims and not claims[-1][1]:
        world.violate(f"the {actor.role} changed the checkpoint under the holder of its lease")


def _claims(tree: Tree, setting: Setting) -> Iterator[tuple[dict[str, Any], bool]]:
    """Yield every claim of the lease, the newest last, and whether it was given back."""
    folder = f"{_records(setting)}/lease"
    for name in tree.below(folder):
        if name.isdigit():
            beat = tree.files.get(f"{folder}/{name}.beat")
            claim = tree.files[f"{folder}/{name}"].content
            if claim:
                released = beat is not None and b'"released"' in beat.content
                yield json.loads(claim), released


def _broken_promises(world: World, setting: Setting) -> Iterator[str]:
    """Tell files that a manifest names and that are neither published nor staged."""
    expired = world.notes.get("expired", ())
    if any(path.endswith("/taking-back.json") for path in world.tree.files):
        return
    for query, batch_id, manifest in manifests_in(world.tree, setting):
        staging = f"{_kept(setting)}/staging/{query}/{manifest['staging']}"
        for file in manifest["files"]:
            places = (f"{setting.output.url}/{file['path']}", f"{staging}/{file['staged']}")
            there = any(place in world.tree.files for place in places)
            replaced = manifest["mode"] == "complete"
            if not there and not replaced and file["path"] not in expired:
                yield f"{file['path']} of batch {batch_id} is neither staged nor published"


def _gaps(world: World, setting: Setting, committed: list[int]) -> Iterator[str]:
    content = world.tree.files.get(f"{setting.checkpoint.url}/metadata")
    if content is None:
        return
    query = json.loads(content.content)["id"]
    held = [batch for one, batch, _ in manifests_in(world.tree, setting) if one == query]
    if held and held != list(range(held[0], held[-1] + 1)):
        yield f"the ledger has a gap: it holds batches {held}"
    if committed and (not held or held[-1] != committed[-1]):
        yield f"the ledger ends with {held[-1:]}, the checkpoint with {committed[-1]}"


def manifests_in(tree: Tree, setting: Setting) -> Iterator[tuple[str, int, dict[str, Any]]]:
    """Yield every manifest that counts, with its query and batch, in order."""
    folder = f"{_kept(setting)}/manifests"
    fences = _fences(tree, f"{folder}/-epochs")
    for path in tree.below(folder):
        query, _, name = path.partition("/")
        number, _, epoch = name.removesuffix(".json").partition(".")
        if not number.isdigit() or query == "-epochs" or not name.endswith(".json"):
            continue
        if int(epoch or 0) == _epoch(fences, query, int(number)):
            try:
                manifest = json.loads(tree.files[f"{folder}/{path}"].content)
            except ValueError:
                continue
            yield query, int(number), manifest


def _fences(tree: Tree, folder: str) -> list[dict[str, Any]]:
    """Read the newest document of the epochs: the manifests that it takes back do not count."""
    documents = [one for one in tree.below(folder) if one.endswith(".epochs")]
    if not documents:
        return []
    try:
        document = json.loads(tree.files[f"{folder}/{max(documents)}"].content)
    except ValueError:
        # The next start cannot read it either, and is convicted for that.
        return []
    fences: list[dict[str, Any]] = document["fences"]
    return fences


def _epoch(fences: list[dict[str, Any]], query: str, batch_id: int) -> int:
    takes = (
        int(one["number"])
        for one in fences
        if one["query_id"] in (None, query) and batch_id > one["batch_id"]
    )
    return max(takes, default=0)


def backups_broken(world: World, setting: Setting) -> Iterator[str]:
    """Tell published backups of which a copy is missing."""
    store = f"{_records(setting)}/backups"
    for path in world.tree.below(f"{store}/snapshots"):
        if not path.endswith(".json") or path.startswith("."):
            continue
        snapshot = json.loads(world.tree.files[f"{store}/snapshots/{path}"].content)
        for root in snapshot["roots"]:
            for file in root["files"]:
                digest = file["sha256"]
                if f"{store}/objects/{digest[:2]}/{digest}" not in world.tree.files:
                    yield f"a published backup has no copy of {file['path']}"


def acts_of_idle_start(trace: list[tuple[int, str, str]]) -> list[str]:
    """Tell what a start changed that had nothing to do, beside its lease and its record."""
    reads = ("read", "names", "list", "settle")
    return [
        f"{kind} {path}"
        for _, kind, path in trace
        if not kind.startswith(reads) and not any(one in path for one in _NOT_AN_ACT)
    ]


def _numbers(tree: Tree, folder: str) -> list[int]:
    return sorted(int(name) for name in tree.children(folder) if name.isdigit())


def _expired_rows(world: World) -> frozenset[int]:
    return frozenset(world.notes.get("expired_rows", ()))


def _kept(setting: Setting) -> str:
    return f"{setting.semantics.root}/.holdfast/output"


def _records(setting: Setting) -> str:
    return f"{setting.semantics.root}/.holdfast/checkpoint"
