"""Draws the report of a run: by operator and kind of file, what was located and what can't be."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable

from tests.fuzz.bases import UNHEALTHY, bases
from tests.fuzz.expecting import Effect
from tests.fuzz.judging import LONGEST_SECONDS, MOST_BYTES, Judgement
from tests.fuzz.operators import OPERATORS
from tests.fuzz.running import Tally

_SHOWN = 20


def command_of(seed: int, number: int) -> str:
    """Give the command that repeats one case."""
    return f".venv/bin/python -m tests.fuzz --seed {seed} --case {number}"


def report(tally: Tally) -> str:
    """Draw the whole report as Markdown."""
    sections = (
        _summary(tally),
        _matrix(tally),
        _undetectable(tally),
        _cases("Failures", tally.seed, tally.failures),
        _cases("Missed with checksums", tally.seed, tally.missed),
        _cases("Missed without checksums", tally.seed, tally.missed_bare),
        _healthy(tally),
    )
    return "\n\n".join(sections) + "\n"


def _summary(tally: Tally) -> str:
    effects = Counter(one.effect for one in tally.judgements)
    seconds = sorted(one.seconds for one in tally.judgements)
    located = sum(one.located for one in tally.read)
    lines = [
        "# Damaged checkpoints",
        "",
        f"Seed {tally.seed}, {len(tally.judgements):,} damaged checkpoints, {len(OPERATORS)} "
        f"operators, {len(bases())} real checkpoints. One case again: "
        f"`{command_of(tally.seed, 17)}`.",
        "",
        "| judged | figure |",
        "|---|---|",
        f"| failures: exceptions, hangs over {LONGEST_SECONDS} s, more than "
        f"{MOST_BYTES >> 20} MB, writes | {len(tally.failures)} |",
        f"| located, with Hadoop's checksums, of what something shows | "
        f"{_share(len(tally.shown) - len(tally.missed), len(tally.shown))} |",
        f"| located, with Hadoop's checksums, of everything that Spark reads | "
        f"{_share(located, len(tally.read))} |",
        f"| located, without checksums, of broken grammars and rules | "
        f"{_share(len(tally.broken) - len(tally.missed_bare), len(tally.broken))} |",
        f"| of these, at the damaged file itself, not only at one that it no longer fits | "
        f"{_share(sum(one.located_itself_bare for one in tally.broken), len(tally.broken))} |",
        f"| the same with Hadoop's checksums, of what something shows | "
        f"{_share(sum(one.located_itself for one in tally.shown), len(tally.shown))} |",
        f"| findings on healthy checkpoints | {len(tally.false_findings)} |",
        f"| warnings without checksums although nothing that Spark reads changed | "
        f"{sum(one.disturbed for one in tally.judgements):,} |",
        f"| seconds a checkpoint, the slowest of its looks: median, 99 %, most | "
        f"{_at(seconds, 0.5):.3f}, {_at(seconds, 0.99):.3f}, {_at(seconds, 1):.3f} |",
        f"| peak memory of a process, everything loaded | {tally.peak_bytes / 2**20:.0f} MB |",
        *(f"| {effect.value} | {effects[effect]:,} |" for effect in Effect),
    ]
    return "\n".join(lines)


def _matrix(tally: Tally) -> str:
    lines = [
        "## By operator and kind of file",
        "",
        "Count is of damages that change what Spark reads. Silent: no grammar and no rule is "
        "broken, so that only a checksum can show it.",
        "",
        "| operator | kind of file | count | located | missed | located, no checksums "
        "| missed, no checksums | silent |",
        "|---|---|---|---|---|---|---|---|",
    ]
    grouped = _grouped(tally.read, lambda one: (one.operator, one.kind))
    for (operator, kind), cases in sorted(grouped.items()):
        silent = sum(one.effect is Effect.SILENT for one in cases)
        missed = sum(one.detectable and not one.located for one in cases)
        bare = sum(one.effect is not Effect.SILENT and not one.located_bare for one in cases)
        found = sum(one.located for one in cases), sum(one.located_bare for one in cases)
        lines.append(
            f"| {operator} | {kind} | {len(cases)} | {found[0]} | {missed} | {found[1]} | {bare} "
            f"| {silent} |"
        )
    return "\n".join(lines)


def _undetectable(tally: Tally) -> str:
    silent = [one for one in tally.read if one.effect is Effect.SILENT]
    lines = [
        "## What nothing but a checksum shows",
        "",
        "The damaged file is one that Spark could have written. The last column counts those "
        "that leave no trace beside Hadoop's checksums either: file and checksum are both gone.",
        "",
        "| kind of file | change | count | located with checksums | without | no trace at all |",
        "|---|---|---|---|---|---|",
    ]
    grouped = _grouped(silent, lambda one: (one.kind, one.change))
    for (kind, change), cases in sorted(grouped.items(), key=lambda item: -len(item[1])):
        traceless = sum(not one.detectable for one in cases)
        found = sum(one.located for one in cases), sum(one.located_bare for one in cases)
        lines.append(
            f"| {kind} | {change} | {len(cases)} | {found[0]} | {found[1]} | {traceless} |"
        )
    return "\n".join(lines)


def _cases(title: str, seed: int, cases: list[Judgement]) -> str:
    lines = [f"## {title}: {len(cases)}"]
    for one in cases[:_SHOWN]:
        lines.append(
            f"- case {one.number}: {one.operator} of {one.kind} in {one.base}, which "
            f"{one.effect.value}: `{command_of(seed, one.number)}`"
        )
        lines += [f"  ```\n  {failure.strip()}\n  ```" for failure in one.failures]
    return "\n".join(lines)


def _healthy(tally: Tally) -> str:
    lines = [f"## Findings on healthy checkpoints: {len(tally.false_findings)}"]
    lines += [f"- {one}" for one in tally.false_findings[:_SHOWN]]
    lines += ["", "Left out, because real Spark left them broken:"]
    lines += [f"- {name}: {reason}" for name, reason in UNHEALTHY.items()]
    return "\n".join(lines)


def _grouped(
    cases: Iterable[Judgement], key: Callable[[Judgement], tuple[str, str]]
) -> dict[tuple[str, str], list[Judgement]]:
    groups: dict[tuple[str, str], list[Judgement]] = {}
    for one in cases:
        groups.setdefault(key(one), []).append(one)
    return groups


def _share(part: int, whole: int) -> str:
    return f"{part:,} of {whole:,} ({100 * part / max(whole, 1):.3f} %)"


def _at(ordered: list[float], share: float) -> float:
    return ordered[min(len(ordered) - 1, int(share * len(ordered)))]
