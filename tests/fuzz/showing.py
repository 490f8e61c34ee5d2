"""Shows one case in full, so that it can be looked into."""

from __future__ import annotations

from holdfast.diagnosis.checks.picture import inspect_checkpoint
from holdfast.storage.memory import MemoryReader
from tests.fuzz.cases import make_case
from tests.fuzz.expecting import expect
from tests.fuzz.judging import judge
from tests.fuzz.kinds import kinds_in, without_hadoop_sides
from tests.fuzz.rules import broken_rules

_SHOWN_BYTES = 400


def show(seed: int, number: int) -> str:
    """Tell what was damaged, what the oracles say, and what Holdfast found."""
    case = make_case(seed, number)
    lines = [f"case {number}: {case.operator} on {case.base.name}"]
    for path in sorted({*case.base.files, *case.files}):
        before, after = case.base.files.get(path), case.files.get(path)
        if before != after:
            lines += [f"  {path}", f"    was {_shown(before)}", f"    is  {_shown(after)}"]
    lines.append(f"oracle: {expect(case)}")
    kinds = {**kinds_in(case.files), **kinds_in(case.base.files)}
    lines += [f"  {broken}" for broken in broken_rules(case.files, kinds)]
    verdict = judge(seed, number)
    lines.append(f"judged: {verdict}")
    lines += verdict.failures
    if not verdict.failures:
        lines += _findings("with checksums", case.files, case.base.location)
        bare = without_hadoop_sides(case.files)
        lines += _findings("without checksums", bare, case.base.location)
    return "\n".join(lines)


def _findings(title: str, files: dict[str, bytes], location: str) -> list[str]:
    answer = inspect_checkpoint(MemoryReader(files, location=location), verified=True)
    return [f"{title}:"] + [
        f"  {one.code} {one.severity.value} {one.place.within('')}: {one.message}"
        for one in answer.findings
    ]


def _shown(data: bytes | None) -> str:
    if data is None:
        return "not there"
    return repr(data[:_SHOWN_BYTES]) + (f" … {len(data):,} bytes" if len(data) > 400 else "")
