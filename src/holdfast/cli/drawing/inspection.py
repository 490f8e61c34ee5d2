"""Draws the page of `inspect`: identity, the next start, batches, sources, state, findings."""

from __future__ import annotations

from rich.console import Console, RenderableType
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from holdfast.answers import Answer
from holdfast.checkpoint.operators import Operator, Store
from holdfast.checkpoint.recovery.outcome import Action
from holdfast.cli.drawing.console import amount_text, draw_findings, size_text, time_text
from holdfast.diagnosis.inspection.result import RECORDED, Inspection, Source, Unverified
from holdfast.wording import counted

_HEADLINES = {
    Action.FRESH: ("begins at batch 0", "green"),
    Action.PLAN: ("plans batch {batch_id}", "green"),
    Action.RERUN: ("runs batch {batch_id} again", "yellow"),
    Action.FAIL: ("fails", "bold red"),
    Action.UNKNOWN: ("is unknown", "yellow"),
}


def draw_inspection(answer: Answer[Inspection], console: Console) -> None:
    """Draw the whole page."""
    found = answer.result
    console.print(Text(found.location, "bold"))
    console.print(_indented(_identity(found)))
    _draw_next_start(found, console)
    if found.timeline:
        _section(console, _batches_title(found), _batches(found))
    if found.sources:
        _section(console, "Sources, read up to", _sources(found.sources))
    if found.operators:
        _section(console, f"State ({found.provider or 'unknown provider'})", _state(found))
    if found.unusual_settings:
        _section(console, "Pinned settings other than the defaults", _settings(found))
    if found.additions:
        _section(console, "Fields that no known Spark writes", _additions(found))
    if answer.findings:
        console.print()
        console.print(Text("Findings", "bold"))
        draw_findings(answer.findings, answer.location, console)


def _section(console: Console, title: str, content: RenderableType) -> None:
    console.print()
    console.print(Text(title, "bold"))
    console.print(_indented(content))


def _indented(content: RenderableType) -> Padding:
    return Padding(content, (0, 0, 0, 2))


def _pairs() -> Table:
    grid = Table.grid(padding=(0, 2))
    grid.add_column(no_wrap=True)
    grid.add_column(overflow="fold")
    return grid


def _identity(found: Inspection) -> Table:
    grid = _pairs()
    grid.add_row("query id", found.query_id or "none")
    grid.add_row("written by", _written_by(found))
    parts = ", ".join(f"{part.name} {size_text(part.size_bytes)}" for part in found.parts)
    total = f"{counted(found.file_count, 'file')}, {size_text(found.size_bytes)}"
    grid.add_row("size", f"{total} ({parts})" if parts else total)
    if found.sink is not None:
        sink = found.sink
        kind = f"native {sink.kind}" if sink.native else sink.kind
        named = f"{sink.identity} ({kind})" if sink.identity else kind
        grid.add_row("sink", f"{named}, recorded" if sink.basis == RECORDED else named)
        if sink.asked is not None:
            is_held = sink.basis == "asked" and sink.last_committed is not None
            held = f"has batches up to {sink.last_committed}: " if is_held else ""
            grid.add_row("", f"{held}{sink.asked}")
    if found.watermark_ms:
        grid.add_row("watermark", f"{time_text(found.watermark_ms)} for the next batch")
    if found.verified:
        grid.add_row("verified", "every file was read and compared with its checksums")
    return grid


def _written_by(found: Inspection) -> str:
    version = found.spark_version
    if version.value is not None:
        return f"Spark {version.value} ({version.basis})"
    if version.low is None:
        return f"Spark {version.high} or older ({version.basis})"
    return f"Spark {version.low} to {version.high} ({version.basis})"


def _draw_next_start(found: Inspection, console: Console) -> None:
    start = found.next_start
    text, style = _HEADLINES[start.action]
    console.print()
    headline = text.format(batch_id=start.batch_id)
    console.print(Text.assemble(("The next start ", "bold"), (headline, style)))
    grid = _pairs()
    grid.add_row("", start.reason)
    if start.sink_touched:
        grid.add_row("", f"Batch {start.batch_id} is written to the sink before that.")
    if start.action is not Action.UNKNOWN:
        grid.add_row("", f"Valid for Spark {start.assumes_spark} and an unchanged query.")
    if found.unverified is not None and start.action in (Action.PLAN, Action.RERUN):
        grid.add_row("", f"Not verified: {_unverified_text(found.unverified, found.verified)}")
    for other in start.differs:
        grid.add_row("", f"Spark {other.spark}: {other.action.value}, {other.reason}")
    console.print(grid)


def _unverified_text(one: Unverified, verified: bool) -> str:
    files = f"{counted(one.files, 'state file')}, {size_text(one.size_bytes)}"
    if verified:
        return f"{files}, without checksums (holdfast doctor --verify decodes them)"
    return f"{files} (--verify reads them)"


def _batches_title(found: Inspection) -> str:
    batches = found.batches
    first = batches.first_kept
    last = batches.last_planned
    if first is None:
        return "Batches: none planned"
    return f"Batches {first} to {last} (last {len(found.timeline)}, oldest first)"


def _batches(found: Inspection) -> Table:
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="underline")
    table.add_column("batch", justify="right")
    table.add_column("planned", no_wrap=True)
    table.add_column("committed", no_wrap=True)
    if any(batch.watermark_ms for batch in found.timeline):
        table.add_column("watermark", no_wrap=True)
    with_watermark = len(table.columns) == 4
    for source in found.sources[:3]:
        table.add_column(_source_title(source, len(found.sources)), overflow="fold")
    for batch in found.timeline:
        committed = Text("yes") if batch.committed else Text("no", "yellow")
        row: list[RenderableType] = [
            str(batch.id),
            time_text(batch.timestamp_ms) if batch.planned else Text("missing", "red"),
            committed,
        ]
        if with_watermark:
            row.append(time_text(batch.watermark_ms) if batch.watermark_ms else "")
        row += [amount_text(one) for one in batch.advances[:3]]
        table.add_row(*row)
    return table


def _source_title(source: Source, count: int) -> str:
    return source.kind if count == 1 else f"{source.name}: {source.kind}"


def _sources(sources: tuple[Source, ...]) -> Table:
    grid = Table.grid(padding=(0, 2))
    grid.add_column(no_wrap=True)
    grid.add_column(no_wrap=True)
    grid.add_column(overflow="fold")
    for source in sources:
        grid.add_row(source.name, source.kind, source.summary)
        if source.pending_amount is not None:
            grid.add_row("", "", f"pending: {amount_text(source.pending_amount)}")
        if source.note:
            grid.add_row("", "", Text(source.note, "dim"))
    return grid


def _state(found: Inspection) -> Table:
    grid = _pairs()
    for operator in found.operators:
        grid.add_row(f"operator {operator.id}", _operator_line(operator))
        for store in operator.stores:
            grid.add_row("", Text(_store_line(store), "dim"))
    return grid


def _operator_line(operator: Operator) -> str:
    name = operator.name or "not named (Spark 3.5 records no names)"
    partitions = operator.partitions
    if not partitions:
        return name
    return f"{name}, {counted(partitions, 'partition')}"


def _store_line(store: Store) -> str:
    key = ", ".join(f"{one.name} {one.type_text}" for one in store.key_schema or ())
    value = ", ".join(f"{one.name} {one.type_text}" for one in store.value_schema or ())
    versions = f"versions {store.versions[0]} to {store.versions[1]}" if store.versions else "empty"
    schema = f": {key} → {value}" if key else ""
    return f"{store.name}, {versions}{schema}"


def _additions(found: Inspection) -> Table:
    grid = _pairs()
    for one in found.additions:
        grid.add_row(one.file, f"{one.field} = {one.value}")
    return grid


def _settings(found: Inspection) -> Table:
    grid = Table.grid(padding=(0, 2))
    grid.add_column(overflow="fold")
    grid.add_column(overflow="fold")
    for key, value in found.unusual_settings.items():
        grid.add_row(key, value.rpartition(".")[2] if key.endswith("providerClass") else value)
    return grid
