"""A declared job that never ran: what its first start is refused for, as far as no Spark is asked.

Only what is certain is reported, or a misspelling that is likely: Spark knows formats by the jars
that it has, and a path may be reachable from its machines alone.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

from holdfast.diagnosis.inspection.subject import DeclaredJob, Subject
from holdfast.findings import Finding, Place, Severity
from holdfast.jobs.discovery import module_file
from holdfast.nearest import CLOSE, nearest

_NEED_SCHEMA = frozenset({"json", "csv", "parquet", "orc"})
_FORMATS = _NEED_SCHEMA | {
    "text", "delta", "kafka", "rate", "rate-micro-batch", "socket", "xml", "avro", "binaryfile",
    "iceberg", "hudi", "kinesis", "eventhubs", "pubsub", "pulsar", "memory", "statestore",
}  # fmt: skip
_TYPES = frozenset(
    {"array", "bigint", "binary", "boolean", "byte", "char", "character", "date", "dec", "decimal",
     "double", "float", "geography", "geometry", "int", "integer", "interval", "long", "map",
     "numeric", "real", "short", "smallint", "string", "struct", "time", "timestamp",
     "timestamp_ltz", "timestamp_ntz", "tinyint", "varchar", "variant", "void"}
)  # fmt: skip
_COLUMN = re.compile(r"(?:^|,)\s*(?:`[^`]+`|\w+)\s*:?\s+(\w+)")
_NESTED = re.compile(r"<[^<>]*>|\([^()]*\)")
_GLOB = re.compile(r"[*?\[{]")
_WHY = "the first start is refused for this reason; nothing is written"
_PATH = ("correct path:, or create the directory if data is still to come",)
_INFERENCE = "spark.sql.streaming.schemaInference"


def check_first_start(subject: Subject) -> Iterator[Finding]:
    """Report what keeps a job that has no checkpoint yet from starting."""
    job = subject.job
    if job is None or subject.is_there or job.folder is None:
        return
    yield from _missing_paths(job)
    yield from _sources(job)
    for key, reference in (("transform", job.job.transform), ("sink", job.job.sink.function)):
        if reference is not None:
            yield from _function(key, reference, Path(job.folder))


def _missing_paths(job: DeclaredJob) -> Iterator[Finding]:
    """Yield sources whose local path does not exist and that no other job of the project writes."""
    local = {name: path for name, path in job.source_paths.items() if path.startswith("/")}
    missing = [
        name for name, path in local.items() if not _GLOB.search(path) and not Path(path).exists()
    ]
    for name in missing and [one for one in missing if one not in job.fed_sources()]:
        is_delta = job.job.named_sources[name].format.lower() == "delta"
        cause = "there is no Delta table at" if is_delta else "there is nothing at"
        message = f"{_named(name)}: {cause} {local[name]}"
        if is_delta:
            yield _refused_start("HF5105", message)
        else:
            yield Finding("HF5101", Severity.ERROR, message, Place(""), {}, _WHY, _PATH)


def _sources(job: DeclaredJob) -> Iterator[Finding]:
    inferred = job.settings.get(_INFERENCE, "").lower() == "true"
    for name, source in job.job.named_sources.items():
        form, schema = source.format.lower(), source.schema_text
        near = None if form in _FORMATS or "." in form else nearest(form, _FORMATS, CLOSE)
        if near is not None:
            message = f"Spark knows no format {source.format}; did you mean {near}?"
            yield _refused_start("HF5103", f"{_named(name)}: {message}")
        if form in _NEED_SCHEMA and schema is None and not inferred:
            message = f"a {form} source requires a schema, and none is declared under schema:"
            yield _refused_start("HF5104", f"{_named(name)}: {message}")
        if schema is not None and (wrong := _wrong_type(schema)) is not None:
            message = f"Spark knows no type {wrong[0]}; did you mean {wrong[1]}?"
            yield _refused_start("HF5102", f"{_named(name)}: {message}")


def _wrong_type(schema: str) -> tuple[str, str] | None:
    """Return the first type of a column that looks misspelled, and what it looks like."""
    flat = schema
    while (shorter := _NESTED.sub("", flat)) != flat:
        flat = shorter
    for found in _COLUMN.finditer(flat):
        kind = found[1].lower()
        near = None if kind in _TYPES else nearest(kind, _TYPES, CLOSE)
        if near is not None:
            return found[1], near
    return None


def _function(key: str, reference: str, folder: Path) -> Iterator[Finding]:
    """Yield a module that is not in the project, or that binds no such name."""
    module, _, name = reference.partition(":")
    file = module_file(folder, module)
    if file is None:
        path = f"{module.replace('.', '/')}.py"
        yield _refused_start("HF5111", f"{key}: {folder} has no {path} for {reference}")
        return
    try:
        tree = ast.parse(file.read_bytes())
    except (OSError, SyntaxError, ValueError) as error:
        yield _refused_start("HF5112", f"{key}: {reference} cannot be loaded: {error}")
        return
    bound = set(_bound(tree))
    if name not in bound and not bound & {"*", "__getattr__"}:
        near = nearest(name, bound)
        hint = f"; did you mean {near}?" if near else ""
        yield _refused_start("HF5113", f"{key}: {name} does not exist in {module}{hint}")


def _bound(tree: ast.Module) -> Iterator[str]:
    """Yield every name that a module may bind, in whatever branch."""
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            yield node.name
        elif isinstance(node, ast.Import | ast.ImportFrom):
            yield from (one.asname or one.name.partition(".")[0] for one in node.names)
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            yield node.id


def _named(source: str) -> str:
    return "source" if source == "source" else f"source {source}"


def _refused_start(code: str, message: str) -> Finding:
    return Finding(code, Severity.ERROR, message, Place(""), {}, _WHY)
