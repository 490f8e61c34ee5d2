"""An oracle of grammar of its own: whether bytes are what Spark writes there, and what they mean.

Written from the description of the format with json, re and struct alone, so that a mistake of
the decoders is not a mistake here too. Two files mean the same when `meaning` gives equal values:
white space in JSON and a final line feed are no difference, neither is `v01` for `v1`, nor a field
that no Spark knows: Spark passes it over.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any, NoReturn

from tests.fuzz.kinds import STATE_CONTENT
from tests.fuzz.schemagrammar import schema_meaning
from tests.fuzz.strictness import BrokenError, strict_json, strict_text

_UUID = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}")
_VERSION = re.compile(r"v\+?0*([1-9][0-9]{0,8})")
_SOURCE_ID = re.compile(r"[A-Za-z0-9_]+")
_API_VERSIONS = ("DSv1", "DSv2")


def follows(kind: str, path: str, data: bytes) -> bool:
    """Tell whether bytes follow the grammar of their kind of file."""
    try:
        meaning(kind, path, data)
    except BrokenError:
        return False
    return True


def meaning(kind: str, path: str, data: bytes) -> Any:
    """Give what the bytes mean, as plain values; raise BrokenError where they are no such file."""
    if kind in STATE_CONTENT:
        if not data:
            raise BrokenError("state is never empty")
        return data
    reader = _READERS.get(kind)
    return data if reader is None else reader(path, data)


def _fail(reason: str) -> NoReturn:
    raise BrokenError(reason)


def _object(value: Any, needed: set[str], optional: frozenset[str] = frozenset()) -> dict[str, Any]:
    if not isinstance(value, dict):
        _fail("no object")
    if not needed <= set(value):
        _fail(f"fields {sorted(value)}")
    return {name: value[name] for name in value if name in needed | optional}


def _integer(value: Any, bits: int = 64) -> int:
    if isinstance(value, bool) or not isinstance(value, int):
        _fail("no integer")
    if not -(2 ** (bits - 1)) <= value < 2 ** (bits - 1):
        _fail("an integer out of bounds")
    return value


def _text(value: Any) -> str:
    return value if isinstance(value, str) else _fail("no string")


def _lines(data: bytes) -> list[str]:
    lines = strict_text(data).split("\n")
    return lines[:-1] if lines[-1] == "" else lines


def _version(line: str, known: tuple[int, ...]) -> int:
    found = _VERSION.fullmatch(line)
    if found is None or int(found[1]) not in known:
        _fail(f"version line {line[:20]!r}")
    return int(found[1])


def _query(path: str, data: bytes) -> Any:
    entry = _object(strict_json(strict_text(data)), {"id"})
    if not _UUID.fullmatch(_text(entry["id"])):
        _fail("no UUID")
    return entry


def _offsets(path: str, data: bytes) -> Any:
    lines = _lines(data)
    version = _version(lines[0], (1, 2))
    if len(lines) < 3:
        _fail("no source")
    metadata = None if version == 1 and not lines[1].strip(" \t") else _clocks(version, lines[1])
    if version == 1:
        return version, metadata, [_offset(line) for line in lines[2:]]
    named: dict[str, Any] = {}
    for line in lines[2:]:
        name, colon, text = line.partition(":")
        if not colon or not _SOURCE_ID.fullmatch(name) or name in named:
            _fail("no named source")
        named[name] = _offset(text)
    return version, metadata, named


def _clocks(version: int, line: str) -> Any:
    optional = {"conf"} | ({"sourceMetadataInfo", "controlBatchInfo"} if version == 2 else set())
    clocks = {"batchWatermarkMs", "batchTimestampMs"}
    entry = _object(strict_json(line), set(), frozenset(optional | clocks))
    for name in clocks:
        # Spark's own class has this default: an entry without the field is read, not refused.
        entry[name] = _integer(entry.get(name, 0))
    for value in _object(entry.get("conf", {}), set(entry.get("conf", {}))).values():
        _text(value)
    return entry


def _offset(text: str) -> Any:
    return None if text == "-" else (strict_json(text),)


def _commit(path: str, data: bytes) -> Any:
    lines = _lines(data)
    version = _version(lines[0].strip(" \t"), (1, 2, 3))
    if len(lines) != 2:
        _fail("a commit has two lines")
    needed = {"nextBatchWatermarkMs"}
    needed |= {"stateUniqueIds"} if version == 2 else {"sinkMetadataMap"} if version == 3 else set()
    entry = _object(strict_json(lines[1]), needed, frozenset({"stateUniqueIds"}))
    _integer(entry["nextBatchWatermarkMs"])
    for operator, partitions in entry.get("stateUniqueIds", {}).items():
        _state_ids(operator, partitions)
    if version == 1 and entry.get("stateUniqueIds"):
        _fail("ids in v1")
    _sinks(entry.get("sinkMetadataMap"))
    return version, entry


def _state_ids(operator: str, partitions: Any) -> None:
    if not re.fullmatch(r"0|[1-9][0-9]{0,8}", operator) or not isinstance(partitions, list):
        _fail("no operator")
    for stores in partitions:
        if not isinstance(stores, list) or not all(_UUID.fullmatch(_text(one)) for one in stores):
            _fail("no id")


def _sinks(sinks: Any) -> None:
    if sinks is None:
        return
    fields = {"sinkName", "commitOffset", "providerName", "apiVersion", "isActive"}
    for name, value in _object(sinks, set(sinks) if isinstance(sinks, dict) else set()).items():
        sink = _object(value, fields)
        if sink["sinkName"] != name or sink["apiVersion"] not in _API_VERSIONS:
            _fail("no sink")
        if not isinstance(sink["isActive"], bool):
            _fail("no flag")
        for field in ("commitOffset", "providerName"):
            _text(sink[field])
    if sum(sink["isActive"] for sink in sinks.values()) != 1:
        _fail("not one active sink")


def _source_log(path: str, data: bytes) -> Any:
    lines = _lines(data)
    _version(lines[0], (1,))
    if len(lines) < 2:
        _fail("no file in the entry")
    items = [_object(strict_json(line), {"path", "timestamp", "batchId"}) for line in lines[1:]]
    for item in items:
        _text(item["path"])
        _integer(item["timestamp"])
        _integer(item["batchId"])
    return items


def _initial(path: str, data: bytes) -> Any:
    if not data.startswith(b"\0"):
        found = re.fullmatch(r"(v[^\n]*)\n(-?[0-9]{1,19})", strict_text(data))
        if found is None:
            _fail("no time of creation")
        _version(found[1], (1,))
        return int(found[2])
    version, newline, text = strict_text(data[1:]).partition("\n")
    _version(version, (1,))
    topics = strict_json(text) if newline else _fail("no offset")
    for partitions in _object(topics, set(topics) if isinstance(topics, dict) else set()).values():
        for partition, offset in _object(partitions, set(partitions)).items():
            if not partition.isdecimal() or _integer(offset) < 0:
                _fail("no partition")
    return topics


def _operator(path: str, data: bytes) -> Any:
    first, newline, text = strict_text(data).partition("\n")
    version = _version(first, (2,) if "/v2/" in path else (1,))
    fields = {"operatorInfo", "stateStoreInfo"}
    fields |= {"operatorPropertiesJson"} if version == 2 else set()
    entry = _object(strict_json(text) if newline else None, fields)
    info = _object(entry["operatorInfo"], {"operatorId", "operatorName"})
    _integer(info["operatorId"])
    _text(info["operatorName"])
    if not isinstance(entry["stateStoreInfo"], list) or not entry["stateStoreInfo"]:
        _fail("no stores")
    for store in entry["stateStoreInfo"]:
        _store(version, store)
    if version == 2 and _text(entry["operatorPropertiesJson"]):
        properties = strict_json(entry["operatorPropertiesJson"])
        if not isinstance(properties, dict):
            _fail("no properties")
    return entry


def _store(version: int, value: Any) -> None:
    fields = {"storeName", "numColsPrefixKey", "numPartitions"}
    fields |= {"stateSchemaFilePaths"} if version == 2 else set()
    store = _object(value, fields)
    _text(store["storeName"])
    _integer(store["numColsPrefixKey"], 32)
    _integer(store["numPartitions"], 32)
    paths = store.get("stateSchemaFilePaths", [])
    if not isinstance(paths, list):
        _fail("no paths")
    for path in paths:
        _text(path)


def _spark_checksum(path: str, data: bytes) -> Any:
    fields = {"algorithm", "value", "mainFileSize", "timestampMs", "creator"}
    entry = _object(strict_json(strict_text(data)), fields)
    if entry["algorithm"] != "CRC32C":
        _fail("no known algorithm")
    _integer(entry["value"], 32)
    for field in ("mainFileSize", "timestampMs"):
        _integer(entry[field])
    if not isinstance(entry["creator"], dict):
        _fail("no creator")
    return entry


_READERS: dict[str, Callable[[str, bytes], Any]] = {
    "metadata": _query,
    "offsets": _offsets,
    "commits": _commit,
    "source log": _source_log,
    "initial offset": _initial,
    "operator metadata": _operator,
    "state schema": schema_meaning,
    "Spark checksum": _spark_checksum,
}
