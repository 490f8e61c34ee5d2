"""The oracle's rules across files: what must fit together in a checkpoint that Spark wrote.

Each rule looks at the decoded files and yields what it found broken, with the files that it
compared: which of them is the damaged one the rule alone can't say. Files whose grammar is broken
are left out here; they are judged by the grammar.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from tests.fuzz.grammar import meaning
from tests.fuzz.kinds import Files, kinds_in
from tests.fuzz.strictness import BrokenError


@dataclass(frozen=True)
class Broken:
    """One rule that does not hold, and the places that it speaks of."""

    rule: str
    places: frozenset[str]


@dataclass(frozen=True)
class Decoded:
    """A checkpoint as the oracle reads it."""

    files: Files
    kinds: dict[str, str]
    content: dict[str, Any]

    def numbered(self, folder: str) -> dict[int, Any]:
        """Entries of a log that could be decoded."""
        found: dict[int, Any] = {}
        for path, entry in self.content.items():
            if path.startswith(f"{folder}/") and path.count("/") == folder.count("/") + 1:
                name = path.rpartition("/")[2].removesuffix(".compact")
                if name.isdecimal() and str(int(name)) == name:
                    found[int(name)] = entry
        return found

    def ids(self, folder: str) -> list[int]:
        """Ids of a log that have a file, whether it can be decoded or not."""
        names = [path[len(folder) + 1 :] for path in self.files if path.startswith(f"{folder}/")]
        return sorted({int(one) for one in names if _is_plain(one)})

    @cached_property
    def offsets(self) -> dict[int, Any]:
        """Decoded offsets entries."""
        return self.numbered("offsets")

    @cached_property
    def commits(self) -> dict[int, Any]:
        """Decoded commits."""
        return self.numbered("commits")

    @cached_property
    def steps(self) -> list[tuple[int, Any, Any]]:
        """Neighbouring offsets entries that could both be decoded."""
        pairs = ((one, self.offsets.get(one - 1), self.offsets[one]) for one in self.offsets)
        return [(one, before, after) for one, before, after in pairs if before is not None]

    @cached_property
    def committed_settings(self) -> dict[str, str]:
        """What the newest entry with a commit pins."""
        done = [one for one in self.offsets if one in self.ids("commits")]
        metadata = self.offsets[max(done)][1] if done else None
        return metadata.get("conf", {}) if metadata else {}


def _is_plain(name: str) -> bool:
    return name.isascii() and name.isdecimal() and str(int(name)) == name and len(name) < 19


def decode(files: Files, kinds: dict[str, str]) -> Decoded:
    """Read every file that follows its grammar."""
    content: dict[str, Any] = {}
    for path, data in files.items():
        kind = kinds.get(path) or kinds_in({path: data})[path]
        try:
            content[path] = meaning(kind, path, data)
        except BrokenError:
            continue
    return Decoded(files, kinds, content)


_MOST = 2000
"""Enough ids to see that some are missing; damaged names count up to 2^63."""

Rule = Callable[[Decoded], Iterator[Broken]]


def _broken(rule: str, *places: str) -> Broken:
    return Broken(rule, frozenset(places))


def _async(found: Decoded) -> bool:
    """Both logs skip the same ids, as async progress tracking writes them."""
    offsets, commits = found.ids("offsets"), found.ids("commits")
    gaps = bool(commits) and commits[-1] - commits[0] >= len(commits)
    return gaps and offsets in (commits, [*commits, offsets[-1] if offsets else -1])


def ids_without_gaps(found: Decoded) -> Iterator[Broken]:
    """Ids of offsets/ follow each other, unless both logs skip the same ones."""
    ids = found.ids("offsets")
    if not ids or _async(found):
        return
    for before, after in zip(ids, ids[1:], strict=False):
        if after != before + 1:
            lost = {f"offsets/{one}" for one in (before + 1, after - 1)}
            yield Broken("ids follow each other", frozenset({*lost, f"offsets/{after}"}))


def commits_have_offsets(found: Decoded) -> Iterator[Broken]:
    """No commit is newer than the newest offsets entry."""
    planned, committed = found.ids("offsets"), found.ids("commits")
    if committed and (not planned or committed[-1] > planned[-1]):
        places = (f"offsets/{committed[-1]}", f"commits/{committed[-1]}", "offsets")
        yield _broken("a commit has offsets", *places)


def offsets_have_commits(found: Decoded) -> Iterator[Broken]:
    """Every planned batch but the newest is committed."""
    planned, committed = found.ids("offsets")[:-1], found.ids("commits")
    lost = [one for one in planned if one not in committed]
    if lost and found.files:
        yield _broken(
            "planned batches are committed", "commits", *(f"commits/{one}" for one in lost)
        )


def query_has_id(found: Decoded) -> Iterator[Broken]:
    """`metadata` is there when a batch was planned."""
    if "metadata" not in found.files and (found.ids("offsets") or found.ids("commits")):
        yield _broken("the query has an id", "metadata")


def state_without_logs(found: Decoded) -> Iterator[Broken]:
    """State belongs to logs."""
    has_state = any(path.startswith("state/") for path in found.files)
    if has_state and not found.ids("offsets") and not found.ids("commits"):
        yield _broken("state belongs to logs", "state", "offsets", "commits")


def watermark_follows(found: Decoded) -> Iterator[Broken]:
    """A batch's watermark is the greater of the one before and of what its commit says."""
    for batch, before, after in found.steps:
        commit = found.commits.get(batch - 1)
        if before[1] is None or after[1] is None:
            continue
        lowest = before[1]["batchWatermarkMs"]
        places = [f"offsets/{batch}", f"offsets/{batch - 1}", f"commits/{batch - 1}"]
        if commit is not None:
            lowest = max(lowest, commit[1]["nextBatchWatermarkMs"])
        now = after[1]["batchWatermarkMs"]
        if now < lowest or (commit is not None and now > lowest):
            yield _broken("the watermark follows", *places)


def commit_keeps_watermark(found: Decoded) -> Iterator[Broken]:
    """A commit's watermark is not below the one of its own batch."""
    for batch, commit in found.commits.items():
        entry = found.offsets.get(batch)
        if entry is None or entry[1] is None:
            continue
        if commit[1]["nextBatchWatermarkMs"] < entry[1]["batchWatermarkMs"]:
            yield _broken("a commit keeps the watermark", f"commits/{batch}", f"offsets/{batch}")


def time_goes_on(found: Decoded) -> Iterator[Broken]:
    """Batches are planned one after the other, after 1970 and not at the same entry."""
    for batch, entry in found.offsets.items():
        if entry[1] is not None and entry[1]["batchTimestampMs"] <= 0:
            yield _broken("a batch has a time", f"offsets/{batch}")
    for batch, before, after in found.steps:
        places = (f"offsets/{batch}", f"offsets/{batch - 1}")
        if (before[1] is None) != (after[1] is None):
            yield _broken("all entries have metadata", *places)
        elif before == after and after[1] is not None:
            yield _broken("entries differ", *places)
        elif after[1] and after[1]["batchTimestampMs"] < before[1]["batchTimestampMs"]:
            yield _broken("time goes on", *places)


def sources_stay(found: Decoded) -> Iterator[Broken]:
    """In v1 the number of sources stays; a log's version never goes back."""
    for batch, before, after in found.steps:
        places = (f"offsets/{batch}", f"offsets/{batch - 1}")
        if before[0] == after[0] == 1 and len(before[2]) != len(after[2]):
            yield _broken("the number of sources stays", *places)
        if after[0] < before[0]:
            yield _broken("the log version stays", *places)
    for batch, commit in found.commits.items():
        earlier = found.commits.get(batch - 1)
        if earlier is not None and commit[0] < earlier[0]:
            yield _broken(
                "the log version stays", f"commits/{batch}", f"commits/{batch - 1}"
            )


_RELEASE_KEYS = (10, 11, 15, 17)


def settings_stay(found: Decoded) -> Iterator[Broken]:
    """Pinned settings are repeated, unless Spark's release or the partitions changed."""
    for batch, before, after in found.steps:
        if before[1] is None or after[1] is None:
            continue
        old, new = before[1].get("conf", {}), after[1].get("conf", {})
        places = (f"offsets/{batch}", f"offsets/{batch - 1}")
        changed = {key for key in set(old) & set(new) if old[key] != new[key]}
        if changed - {"spark.sql.shuffle.partitions"}:
            yield _broken("settings stay", *places)
        elif changed and before[2] != after[2]:
            yield _broken("settings stay", *places)
        if set(old) != set(new) and not {len(old), len(new)} <= set(_RELEASE_KEYS):
            yield _broken("settings are a release's", *places)


def file_offsets_fit(found: Decoded) -> Iterator[Broken]:
    """A file source's offset never goes back and points into the source's own log."""
    for batch, before, after in found.steps:
        for name, now in _file_offsets(after).items():
            earlier = _file_offsets(before).get(name)
            if earlier is not None and now < earlier:
                yield _broken(
                    "offsets go forward", f"offsets/{batch}", f"offsets/{batch - 1}"
                )
    planned = found.ids("offsets")
    newest = found.offsets.get(planned[-1]) if planned else None
    if newest is None or newest[0] != 1 or _names_sources(newest):
        return
    lines = newest[2]
    for name, offset in _file_offsets(newest).items():
        first = next(at for at, line in enumerate(lines) if line == lines[int(name)])
        folder = name if _log_ids(found, name) else str(first)
        ids = _log_ids(found, folder)
        if not ids or offset > max(ids):
            places = (f"sources/{name}", f"sources/{name}/{offset}", "sources")
            yield _broken("an offset lies in its log", f"offsets/{planned[-1]}", *places)


def _names_sources(entry: Any) -> bool:
    """Spark 4.2 keeps named sources in logs of version 1 too, where lines bear no names."""
    settings = (entry[1] or {}).get("conf", {})
    key = "spark.sql.streaming.queryEvolution.enableSourceEvolution"
    return bool(settings.get(key) == "true")


def _file_offsets(entry: Any) -> dict[str, int]:
    sources = entry[2] if isinstance(entry[2], dict) else dict(enumerate(entry[2]))
    return {
        str(name): offset[0]["logOffset"]
        for name, offset in sources.items()
        if offset and isinstance(offset[0], dict) and isinstance(offset[0].get("logOffset"), int)
    }


def _log_ids(found: Decoded, name: str) -> dict[int, str]:
    prefix = f"sources/{name}/"
    return {
        int(path[len(prefix) :].removesuffix(".compact")): path
        for path, kind in found.kinds.items()
        if path.startswith(prefix) and kind == "source log" and path in found.files
    }


def _log_names(found: Decoded) -> set[str]:
    return {
        path.split("/")[1]
        for path, kind in found.kinds.items()
        if kind == "source log" and path in found.files
    }


def source_log_whole(found: Decoded) -> Iterator[Broken]:
    """From the last compact entry on, a file source's log has every id."""
    for name in _log_names(found):
        ids = _log_ids(found, name)
        compact = [one for one, path in ids.items() if path.endswith(".compact")]
        first = max(compact, default=0)
        for one in range(first, min(max(ids), first + _MOST)):
            if one not in ids:
                yield _broken(
                    "a source log is whole", f"sources/{name}/{one}", f"sources/{name}"
                )


def source_log_entries(found: Decoded) -> Iterator[Broken]:
    """An entry holds its own files; a compact one holds every id up to its own."""
    for name in _log_names(found):
        for log_id, path in _log_ids(found, name).items():
            items = found.content.get(path)
            if not isinstance(items, list):
                continue
            numbers = {item["batchId"] for item in items}
            wanted = {*range(min(log_id, _MOST)), log_id} if path.endswith(".compact") else {log_id}
            if numbers != wanted:
                yield _broken("an entry holds its own files", path)
    yield from _compacted(found)


def _compacted(found: Decoded) -> Iterator[Broken]:
    """Files of kept entries stand in the compact entry that follows them."""
    for name in _log_names(found):
        ids = _log_ids(found, name)
        for compact_id, path in ids.items():
            content = found.content.get(path)
            if not path.endswith(".compact") or not isinstance(content, list):
                continue
            held = {str(item) for item in content}
            for log_id, other in ids.items():
                items = found.content.get(other)
                if log_id < compact_id and isinstance(items, list):
                    if not {str(item) for item in items} <= held:
                        yield _broken("a compact entry repeats", path, other)


def operator_in_its_folder(found: Decoded) -> Iterator[Broken]:
    """Operator metadata bears its folder's number, and names stores that are there."""
    for path, entry in found.content.items():
        if found.kinds.get(path) != "operator metadata":
            continue
        folder = path.split("/")[1]
        if str(entry["operatorInfo"]["operatorId"]) != folder:
            yield _broken("an operator lies in its folder", path)
        if entry["operatorInfo"]["operatorName"] not in _OPERATORS:
            yield _broken("an operator is known", path)
        for store in entry["stateStoreInfo"]:
            if not _has_store(found, folder, store["storeName"]):
                yield _broken("a store is there", path, f"state/{folder}")


def _has_store(found: Decoded, folder: str, store: str) -> bool:
    if store == "default":
        return True
    return any(
        path.startswith(f"state/{folder}/") and f"/{store}/" in path for path in found.files
    )


_OPERATORS = frozenset(
    "stateStoreSave dedupe dedupeWithinWatermark sessionWindowStateStoreSaveExec globalLimit "
    "symmetricHashJoin flatMapGroupsWithState applyInPandasWithState transformWithStateExec "
    "transformWithStateInPandasExec transformWithStateInPySparkExec "
    "StatefulStreamlineAggregate".split()
)


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
                    yield _broken("a recorded schema is there", path, inside)


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
        last = min(max(versions), min(versions) + _MOST)
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
        for partition in range(1 if operator in single else min(int(pinned), _MOST)):
            versions = held.get((operator, str(partition), store), {})
            if version not in versions:
                folder = f"state/{operator}/{partition}"
                places = {folder, f"{folder}/{store}", f"offsets/{planned[-1]}"}
                yield Broken("state is there", frozenset(places | {f"state/{operator}", "state"}))
                return


def _gathers(found: Decoded, operator: str) -> bool:
    """A streaming limit keeps one partition; its key has no type."""
    for path, entry in found.content.items():
        if path.startswith(f"state/{operator}/") and found.kinds.get(path) == "state schema":
            if isinstance(entry[0], dict) and '"void"' in str(entry[0]).replace("'", '"'):
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
    for one in {*range(min(max(present, default=-1) + 1, _MOST)), *named} - present:
        yield _broken(
            "operators are counted", f"state/{one}", "state", f"commits/{committed[-1]}"
        ) if committed else _broken("operators are counted", f"state/{one}", "state")


def _below_operator(path: str) -> bool:
    parts = path.split("/")
    return len(parts) > 2 and parts[0] == "state" and _is_plain(parts[1])


def state_ids_fit(found: Decoded) -> Iterator[Broken]:
    """Where files of a version are kept, the commit before it names one of them."""
    held: dict[tuple[str, str, int], set[str]] = {}
    for path in found.files:
        parts = path.split("/")
        name, _, suffix = parts[-1].partition(".")
        version, bar, unique = name.partition("_")
        if found.kinds.get(path) in ("zip", "changelog") and bar:
            held.setdefault((parts[1], parts[2], int(version)), set()).add(unique)
    for batch, (_, entry) in found.commits.items():
        for operator, partitions in (entry.get("stateUniqueIds") or {}).items():
            for partition, stores in enumerate(partitions):
                files = held.get((operator, str(partition), batch + 1))
                if files is not None and not set(stores) <= files:
                    folder = f"state/{operator}/{partition}"
                    yield _broken("state ids fit", f"commits/{batch}", folder)


def checksums_fit(found: Decoded) -> Iterator[Broken]:
    """Spark's own checksum is that of the file beside it."""
    import google_crc32c

    for path, entry in found.content.items():
        main = path.removesuffix(".crc")
        if found.kinds.get(path) != "Spark checksum" or main not in found.files:
            continue
        data = found.files[main]
        if len(data) != entry["mainFileSize"] or (
            google_crc32c.value(data) != entry["value"] % 2**32
        ):
            yield _broken("Spark's checksum fits", path, main)


def operators_recorded(found: Decoded) -> Iterator[Broken]:
    """From 4.0 on (told by a pinned key) each operator with state has metadata and a schema."""
    if "spark.sql.streaming.stateStore.encodingFormat" not in found.committed_settings:
        return
    for operator in {operator for operator, _, _ in _partitions(found)}:
        prefix = f"state/{operator}/_metadata/"
        if not any(path.startswith(prefix) for path in found.files):
            yield _broken("operators are recorded", f"state/{operator}", f"{prefix}metadata")


def schemas_kept(found: Decoded) -> Iterator[Broken]:
    """Each store with state has a schema file."""
    for operator, store in {(one, store) for one, _, store in _partitions(found)}:
        folder = f"state/{operator}/0/{store}".rstrip("/")
        own, shared = f"{folder}/_metadata/schema", f"state/{operator}/_stateSchema"
        if own not in found.files and not any(path.startswith(shared) for path in found.files):
            yield _broken("a store has a schema", own, folder, f"state/{operator}", shared)


def names_are_plain(found: Decoded) -> Iterator[Broken]:
    """Nothing in the logs is named like a number in another spelling, and no folder like a batch."""
    for path in found.files:
        parts = path.split("/")
        if parts[0] not in ("offsets", "commits") or len(parts) < 2:
            continue
        name = parts[1]
        if name.lstrip("+").isdecimal() and (name != str(int(name)) or len(parts) > 2):
            yield _broken("names are plain", f"{parts[0]}/{name}")


RULES: tuple[Rule, ...] = (
    ids_without_gaps,
    commits_have_offsets,
    offsets_have_commits,
    query_has_id,
    state_without_logs,
    watermark_follows,
    commit_keeps_watermark,
    time_goes_on,
    sources_stay,
    settings_stay,
    file_offsets_fit,
    source_log_whole,
    source_log_entries,
    operator_in_its_folder,
    schema_paths_exist,
    versions_without_gaps,
    state_is_there,
    operators_counted,
    state_ids_fit,
    checksums_fit,
    operators_recorded,
    schemas_kept,
    names_are_plain,
)


def broken_rules(files: Files, kinds: dict[str, str]) -> list[Broken]:
    """Give every rule that does not hold."""
    found = decode(files, kinds)
    return [broken for rule in RULES for broken in rule(found)]
