"""Rules on state: operators, versions, ids, schemas and checksums belong together."""

from __future__ import annotations

from collections.abc import Iterator

import google_crc32c

from tests.fuzz.decoded import MOST_IDS, Broken, Decoded, Rule, broken, is_plain

_OPERATORS = frozenset(
    [
        "stateStoreSave",
        "dedupe",
        "dedupeWithinWatermark",
        "sessionWindowStateStoreSaveExec",
        "globalLimit",
        "symmetricHashJoin",
        "flatMapGroupsWithState",
        "applyInPandasWithState",
        "transformWithStateExec",
        "transformWithStateInPandasExec",
        "transformWithStateInPySparkExec",
        "StatefulStreamlineAggregate",
    ]
)


def operator_in_its_folder(found: Decoded) -> Iterator[Broken]:
    """Operator metadata bears its folder's number, and names stores that are there."""
    for path, entry in found.content.items():
        if found.kinds.get(path) != "operator metadata":
            continue
        folder = path.split("/")[1]
        if str(entry["operatorInfo"]["operatorId"]) != folder:
            yield broken("an operator lies in its folder", path)
        if entry["operatorInfo"]["operatorName"] not in _OPERATORS:
            yield broken("an operator is known", path)
        for store in entry["stateStoreInfo"]:
            if not _has_store(found, folder, store["storeName"]):
                yield broken("a store is there", path, f"state/{folder}")


def _has_store(found: Decoded, folder: str, store: str) -> bool:
    if store == "default":
        return True
    return any(path.startswith(f"state/{folder}/") and f"/{store}/" in path for path in found.files)


def schema_paths_exist(found: Decoded) -> Iterator[Broken]:
    """The newest operator metadata v2 names schema files that are there."""
    newest: dict[str, int] = {}
    for path in found.content:
        parts = path.split("/")
        if found.kinds.get(path) == "operator metadata" and parts[3] == "v2":
            newest[parts[1]] = max(newest.get(parts[1], -1), int(parts[4]))
    for operator, batch in newest.items():
        path = f"state/{operator}/_metadata/v2/{batch}"
        for store in found.content[path]["stateStoreInfo"]:
            for schema in store["stateSchemaFilePaths"]:
                inside = f"state/{operator}/{schema.partition(f'/state/{operator}/')[2]}"
                if inside not in found.files:
                    yield broken("a recorded schema is there", path, inside)


def _partitions(found: Decoded) -> dict[tuple[str, str, str], dict[int, str]]:
    """Operator, partition and store to the versions that it holds a file of."""
    held: dict[tuple[str, str, str], dict[int, str]] = {}
    for path in found.files:
        if found.kinds.get(path) not in ("delta", "snapshot", "changelog", "zip"):
            continue
        parts = path.split("/")
        store = parts[3] if len(parts) == 5 else ""
        version = int(parts[-1].partition(".")[0].partition("_")[0])
        held.setdefault((parts[1], parts[2], store), {})[version] = path
    return held


def versions_without_gaps(found: Decoded) -> Iterator[Broken]:
    """The kept versions of one store follow each other."""
    for (operator, partition, store), versions in _partitions(found).items():
        folder = f"state/{operator}/{partition}" + (f"/{store}" if store else "")
        last = min(max(versions), min(versions) + MOST_IDS)
        lost = [one for one in range(min(versions), last) if one not in versions]
        for one in lost:
            yield Broken("state versions follow", frozenset({folder, *_version_names(folder, one)}))


def _version_names(folder: str, version: int) -> set[str]:
    return {f"{folder}/{version}.{one}" for one in ("delta", "snapshot", "changelog", "zip")}


def state_is_there(found: Decoded) -> Iterator[Broken]:
    """Each pinned partition of each store holds the version that the next batch reads."""
    planned, committed = found.ids("offsets"), found.ids("commits")
    entry = found.offsets.get(planned[-1]) if planned else None
    if entry is None or entry[1] is None or not committed:
        return
    pinned = entry[1].get("conf", {}).get("spark.sql.shuffle.partitions", "")
    version = planned[-1] + 1 if committed[-1] >= planned[-1] else planned[-1]
    held = _partitions(found)
    single = {operator for operator, _, _ in held if _gathers(found, operator)}
    if not pinned.isdecimal() or version == 0:
        return
    for operator, store in {(one, store) for one, _, store in held}:
        for partition in range(1 if operator in single else min(int(pinned), MOST_IDS)):
            versions = held.get((operator, str(partition), store), {})
            if version not in versions:
                folder = f"state/{operator}/{partition}"
                places = {folder, f"{folder}/{store}", f"offsets/{planned[-1]}"}
                yield Broken("state is there", frozenset(places | {f"state/{operator}", "state"}))
                return


def _gathers(found: Decoded, operator: str) -> bool:
    """A streaming limit keeps one partition; its key has no type."""
    for path, entry in found.content.items():
        is_schema = found.kinds.get(path) == "state schema" and isinstance(entry[0], dict)
        if path.startswith(f"state/{operator}/") and is_schema and "'void'" in str(entry[0]):
            return True
        if path == f"state/{operator}/_metadata/metadata":
            return bool(entry["operatorInfo"]["operatorName"] == "globalLimit")
    return False


def operators_counted(found: Decoded) -> Iterator[Broken]:
    """Operators are numbered from 0 without gaps, and all those that the newest commit names."""
    present = {int(path.split("/")[1]) for path in found.files if _below_operator(path)}
    committed = found.ids("commits")
    newest = found.commits.get(committed[-1]) if committed else None
    named = {int(one) for one in (newest[1].get("stateUniqueIds") or {})} if newest else set()
    for one in {*range(min(max(present, default=-1) + 1, MOST_IDS)), *named} - present:
        yield (
            broken("operators are counted", f"state/{one}", "state", f"commits/{committed[-1]}")
            if committed
            else broken("operators are counted", f"state/{one}", "state")
        )


def _below_operator(path: str) -> bool:
    parts = path.split("/")
    return len(parts) > 2 and parts[0] == "state" and is_plain(parts[1])


def state_ids_fit(found: Decoded) -> Iterator[Broken]:
    """Where files of a version are kept, the commit before it names one of them."""
    held: dict[tuple[str, str, int], dict[str, set[str]]] = {}
    for path in found.files:
        parts = path.split("/")
        store = "/".join(parts[3:-1])
        name, _, _ = parts[-1].partition(".")
        version, bar, unique = name.partition("_")
        if found.kinds.get(path) in ("zip", "changelog") and bar:
            stores = held.setdefault((parts[1], parts[2], int(version)), {})
            stores.setdefault(store, set()).add(unique)
    for batch, (_, entry) in found.commits.items():
        for operator, partitions in (entry.get("stateUniqueIds") or {}).items():
            for partition, named in enumerate(partitions):
                kept = held.get((operator, str(partition), batch + 1), {})
                if not all(ids & set(named) for ids in kept.values()):
                    folder = f"state/{operator}/{partition}"
                    yield broken("state ids fit", f"commits/{batch}", folder)


def checksums_fit(found: Decoded) -> Iterator[Broken]:
    """Spark's own checksum is that of the file beside it."""
    for path, entry in found.content.items():
        main = path.removesuffix(".crc")
        if found.kinds.get(path) != "Spark checksum" or main not in found.files:
            continue
        data = found.files[main]
        if len(data) != entry["mainFileSize"] or (
            google_crc32c.value(data) != entry["value"] % 2**32
        ):
            yield broken("Spark's checksum fits", path, main)


def operators_recorded(found: Decoded) -> Iterator[Broken]:
    """From 4.0 on (told by a pinned key) each operator with state has metadata and a schema."""
    if "spark.sql.streaming.stateStore.encodingFormat" not in found.committed_settings:
        return
    for operator in {operator for operator, _, _ in _partitions(found)}:
        prefix = f"state/{operator}/_metadata/"
        kept = [path for path in found.files if path.startswith(prefix) and "/." not in path]
        if not kept:
            yield broken("operators are recorded", f"state/{operator}", f"{prefix}metadata")


def schemas_kept(found: Decoded) -> Iterator[Broken]:
    """Each store with state has a schema file."""
    for operator, store in {(one, store) for one, _, store in _partitions(found)}:
        folder = f"state/{operator}/0/{store}".rstrip("/")
        own, shared = f"{folder}/_metadata/schema", f"state/{operator}/_stateSchema"
        if own not in found.files and not any(path.startswith(shared) for path in found.files):
            yield broken("a store has a schema", own, folder, f"state/{operator}", shared)


STATE_RULES: tuple[Rule, ...] = (
    operator_in_its_folder,
    schema_paths_exist,
    versions_without_gaps,
    state_is_there,
    operators_counted,
    state_ids_fit,
    checksums_fit,
    operators_recorded,
    schemas_kept,
)
