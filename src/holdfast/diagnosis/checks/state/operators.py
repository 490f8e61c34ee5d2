"""Operator metadata and state schemas: there, in their own folder, known, and in the form of
their place."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import replace

from holdfast.checkpoint.picture import Picture
from holdfast.checkpoint.recovery.state import partition_count, provider_of
from holdfast.checkpoint.releases import KNOWN_OPERATORS
from holdfast.checkpoint.statefiles import DEFAULT_STORE
from holdfast.findings import Finding, Place, Severity
from holdfast.format.state.schema import StateSchema
from holdfast.redaction import excerpt


def check_operator_identity(picture: Picture) -> Iterator[Finding]:
    """Report metadata of another operator than the folder's, and names that no Spark writes."""
    for path, operator in picture.operator_files.items():
        folder, place = int(path.split("/")[1]), Place(path, line=2)
        if operator.id != folder:
            message = f"state/{folder} contains the metadata of operator {operator.id}"
            yield Finding("HF2223", Severity.FATAL, message, place)
        if operator.name not in KNOWN_OPERATORS:
            message = f"operator {folder} is named {operator.name!r}"
            yield Finding("HF2224", Severity.WARNING, message, place, {"name": operator.name})
        stores = picture.layout.state.operators[folder].stores
        for store in operator.stores:
            if store.name not in stores and stores:
                message = f"state/{folder} has no store {store.name!r}, which its metadata names"
                yield Finding("HF2223", Severity.WARNING, message, place)


def lost_state(there: Collection[int], recorded: Sequence[str]) -> Iterator[Finding]:
    """Report operators that the last run kept state of, where there is none of them any more.

    Ids of operators are counted from 0, in the order in which the names were recorded.
    """
    lost = {number: name for number, name in enumerate(recorded) if number not in there}
    if not lost:
        return
    folders = [f"state/{number}" for number in lost] if there else ["state"]
    verb = "is" if len(folders) == 1 else "are"
    kept = ", ".join(f"operator {number} ({name})" for number, name in lost.items())
    message = f"{', '.join(folders)} {verb} missing: the last run kept the state of {kept} there"
    evidence = {"operators": {str(number): name for number, name in lost.items()}}
    yield Finding("HF2221", Severity.FATAL, message, Place(folders[0]), evidence)


def check_schema_places(picture: Picture) -> Iterator[Finding]:
    """Report recorded schema paths that lie elsewhere, or name a file that is not here."""
    for folder, operator in picture.operators.items():
        place = Place(_metadata_path(picture, folder), line=2)
        for path in (path for store in operator.stores for path in store.schema_paths):
            inside = _inside(path, folder)
            root = path[: len(path) - len(inside)] if inside else path
            if not _same_place(root, picture.location):
                message = (
                    f"the state schema of operator {folder} is recorded at another path: {path}"
                )
                yield Finding("HF2225", Severity.ERROR, message, place, {"path": path})
                break
            if inside not in picture.layout.items:
                message = f"{inside} is recorded as a state schema, but missing"
                yield Finding("HF2226", Severity.FATAL, message, Place(inside))


def judged_by_old_place(finding: Finding, exists_at: Callable[[str], bool | None]) -> Finding:
    """Return a finding about schemas elsewhere as fatal where nothing is there any more."""
    path = finding.evidence.get("path") if finding.code == "HF2225" else None
    there = exists_at(path) if isinstance(path, str) else None
    if there is None:
        return finding
    evidence = {**finding.evidence, "exists": there}
    if there:
        message = f"{finding.message}, which still exists"
        return replace(finding, message=message, evidence=evidence)
    message = f"{finding.message}, which no longer exists"
    why = (
        "the checkpoint was moved: Spark reads the schema from the old path and fails, because it "
        "is gone"
    )
    return replace(finding, severity=Severity.FATAL, message=message, evidence=evidence, why=why)


def check_state_ids(picture: Picture) -> Iterator[Finding]:
    """Report commits whose state ids have another shape than the state."""
    for batch_id, commit in picture.commits.items():
        if commit.version == 1 and commit.state_ids:
            message = f"commits/{batch_id} names state ids, which version 1 does not have"
            yield Finding("HF2233", Severity.ERROR, message, Place(f"commits/{batch_id}", line=1))
        for operator_id, partitions in (commit.state_ids or {}).items():
            count = partition_count(picture, operator_id)
            place = Place(f"commits/{batch_id}", line=2)
            if operator_id not in picture.layout.state.operators:
                if picture.is_unlisted("state"):
                    continue
                message = f"commits/{batch_id} names operator {operator_id}, which has no state"
                yield Finding("HF2233", Severity.ERROR, message, place)
            elif count is not None and len(partitions) not in (1, count):
                message = (
                    f"commits/{batch_id} lists {len(partitions)} partitions of operator "
                    f"{operator_id}, {count} are pinned"
                )
                yield Finding("HF2233", Severity.ERROR, message, place)
            else:
                yield from _unknown_ids(picture, batch_id, operator_id, partitions)


def _unknown_ids(
    picture: Picture, batch_id: int, operator_id: int, partitions: tuple[tuple[str, ...], ...]
) -> Iterator[Finding]:
    """Where files of the version are kept, the commit must name them by their ids."""
    for store in picture.layout.state.operators[operator_id].stores.values():
        for partition, ids in enumerate(partitions):
            files = store.partitions.get(partition)
            named = (*files.zips, *files.changelogs) if files is not None else ()
            kept = {unique for version, unique in named if version == batch_id + 1 and unique}
            if kept and not kept & set(ids):
                message = f"commits/{batch_id} names no kept state of operator {operator_id}"
                yield Finding(
                    "HF2233", Severity.ERROR, message, Place(f"commits/{batch_id}", line=2)
                )
                return


def _metadata_path(picture: Picture, folder: int) -> str:
    files = picture.layout.state.operators[folder]
    newest = max(files.metadata_by_batch, default=None)
    if newest is not None:
        return files.metadata_by_batch[newest]
    return files.metadata or f"state/{folder}"


def _inside(path: str, operator_id: int) -> str:
    """Cut a recorded absolute path down to its part below the checkpoint."""
    marker = f"state/{operator_id}/"
    found = path.rfind("/" + marker)
    return path[found + 1 :] if found >= 0 else ""


def _same_place(recorded: str, location: str) -> bool:
    return _plain(recorded) == _plain(location)


def _plain(location: str) -> str:
    """Strip what may differ between Spark's spelling of a place and ours."""
    text = location.replace("%20", " ").rstrip("/")
    scheme, separator, rest = text.partition(":")
    if separator and scheme == "file":
        return "/" + rest.lstrip("/")
    if separator and scheme in ("s3a", "s3n"):
        return f"s3:{rest}"
    return text


_SINCE_40 = "spark.sql.streaming.stateStore.encodingFormat"
_ATOMS = frozenset(
    (
        *("void", "null", "boolean", "byte", "short", "integer", "long", "float", "double"),
        *("string", "binary", "date", "timestamp", "timestamp_ntz", "variant", "interval"),
        "calendar_interval",
    )
)
_SIZED = re.compile(
    r"(decimal|char|varchar|time|geometry|geography)\(.*\)|string collate \w+|interval [a-z ]+"
)
_COLUMN = {"name", "type", "nullable", "metadata"}
_NESTED = (
    {"type", "fields"},
    {"type", "elementType", "containsNull"},
    {"type", "keyType", "valueType", "valueContainsNull"},
)
_ENCODERS = frozenset(
    f"{one}StateEncoderSpec"
    for one in (
        *("NoPrefixKey", "PrefixKeyScan", "RangeKeyScan"),
        *("TimestampAsPrefixKey", "TimestampAsPostfixKey"),
    )
)


def check_operator_recorded(picture: Picture) -> Iterator[Finding]:
    """Report operators with state of Spark 4.0 or later that have no metadata."""
    committed = [one for one in picture.offsets if one in picture.layout.commits.files]
    entry = picture.offsets[max(committed)] if committed else None
    if entry is None or entry.metadata is None or _SINCE_40 not in entry.metadata.settings:
        return
    for operator in picture.layout.state.operators.values():
        unread = operator.metadata is None and not operator.metadata_by_batch
        if unread and any(store.partitions for store in operator.stores.values()):
            path = f"state/{operator.id}/_metadata/metadata"
            message = f"{path} is missing: the kind of operator {operator.id} is not recorded"
            evidence = {"files": [f"state/{operator.id}"]}
            yield Finding("HF2240", Severity.WARNING, message, Place(path), evidence)


def check_schema_recorded(picture: Picture) -> Iterator[Finding]:
    """Report stores with state, in one of Spark's own forms, that have no schema."""
    if provider_of(picture) not in ("hdfs", "rocksdb"):
        return
    for operator in picture.layout.state.operators.values():
        shared = any(store.schema_files for store in operator.stores.values())
        for store in operator.stores.values():
            held = any(files.versions() for files in store.partitions.values())
            if held and not shared and store.partition_schema is None:
                suffix = "" if store.name == DEFAULT_STORE else f"/{store.name}"
                path = f"state/{operator.id}/0{suffix}/_metadata/schema"
                message = f"{path} is missing: the columns of this state are not recorded"
                evidence = {"files": [f"state/{operator.id}"]}
                yield Finding("HF2240", Severity.WARNING, message, Place(path), evidence)


def check_description_versions(picture: Picture) -> Iterator[Finding]:
    """Report operator metadata and schemas of a version that Spark keeps at another place."""
    for path, operator in picture.operator_files.items():
        if operator.version != (2 if "/v2/" in path else 1):
            message = f"{path} has version {operator.version}, which Spark keeps elsewhere"
            yield Finding("HF2223", Severity.FATAL, message, Place(path, line=1))
    for path, schema in picture.schema_files.items():
        if (schema.version == 3) != ("/_stateSchema/" in path):
            message = f"{path} has version {schema.version}, which Spark keeps elsewhere"
            yield Finding("HF2115", Severity.FATAL, message, Place(path, byte=0))


def check_schema_types(picture: Picture) -> Iterator[Finding]:
    """Report state schemas with columns that no known Spark could have written."""
    for path, schema in picture.schema_files.items():
        strange = next(_strange(schema), None)
        if strange is not None:
            yield Finding("HF2115", Severity.WARNING, f"{path}: {strange}", Place(path))


def _strange(schema: StateSchema) -> Iterator[str]:
    for family in schema.families:
        for text in (family.key_json, family.value_json, family.user_key_json):
            if text is not None:
                yield from _strange_type(json.loads(text))
        encoder = json.loads(family.encoder_json) if family.encoder_json else None
        if encoder is not None and encoder.get("keyStateEncoderType") not in _ENCODERS:
            yield f"unknown key encoder for {family.name!r}"


def _strange_type(kind: object) -> Iterator[str]:
    if isinstance(kind, str):
        if kind not in _ATOMS and not _SIZED.fullmatch(kind):
            yield f"unknown type {excerpt(kind, 40)!r}"
    elif isinstance(kind, dict) and kind.get("type") != "udt":
        if set(kind) not in _NESTED:
            yield f"a type has the fields {', '.join(sorted(kind))}"
        for field in kind.get("fields") or ():
            if set(field) != _COLUMN:
                yield f"a column has the fields {', '.join(sorted(field))}"
            yield from _strange_type(field.get("type"))
        for name in ("elementType", "keyType", "valueType"):
            if name in kind:
                yield from _strange_type(kind[name])
