"""The page of codes, from the registry."""

from __future__ import annotations

from docs.generating.markdown import page, sentence, table
from holdfast.codes import CODES, Code

FAMILIES = {
    "HF10": "Usage",
    "HF11": "Project file",
    "HF20": "Location",
    "HF21": "Single checkpoint files",
    "HF22": "Consistency of a checkpoint",
    "HF23": "Checkpoint, location and project",
    "HF24": "Checkpoint and sink",
    "HF25": "Evidence",
    "HF26": "Lease and records",
    "HF27": "State",
    "HF30": "Before a start",
    "HF31": "Changes between the last run and a start",
    "HF45": "Backups and restores",
    "HF46": "Plans and the journal",
    "HF50": "Writing sinks",
    "HF51": "Loading sources and transforms",
    "HF52": "Starting Spark",
    "HF53": "Jobs that fail while they run",
    "HF70": "Storage",
}
FINDINGS = (
    "HF1004",
    "HF21",
    "HF22",
    "HF23",
    "HF24",
    "HF2504",
    "HF2505",
    "HF2745",
    "HF2746",
    "HF2747",
    "HF2775",
    "HF3008",
    "HF3011",
    "HF3012",
    "HF3101",
    "HF3141",
    "HF3143",
    "HF3151",
    "HF3156",
    "HF3158",
    "HF3159",
    "HF4501",
    "HF4513",
    "HF4515",
    "HF4517",
    "HF4525",
    "HF4616",
    "HF4650",
)
"""Codes that are only ever reported as findings: they stop no command and no job."""


IN_ORDER = tuple(sorted(CODES, key=lambda one: one.number))
"""All codes by number."""


def codes_page() -> str:
    """Return the page: every code with its meaning, why it matters and what to do next."""
    intro = (
        "Every error and every finding has a code. The meaning of a code never changes, and its "
        "number is never reused. `holdfast explain HF2204` prints the same text offline."
    )
    overview = table(
        ("code", "what"),
        ((f"[{one.number}](#{one.number.lower()})", one.title) for one in IN_ORDER),
    )
    return page("Codes", intro, overview, *_sections())


def _sections() -> list[str]:
    parts: list[str] = []
    for prefix, title in FAMILIES.items():
        family = [one for one in IN_ORDER if one.number.startswith(prefix)]
        parts.append(f"## {title} ({prefix}xx)")
        parts += [_entry(one) for one in family]
    return parts


def _entry(code: Code) -> str:
    steps = "\n".join(f"- {sentence(step)}" for step in code.next_steps)
    status = (
        "Reported as a finding; the exit status is 3 if its severity is warning or higher."
        if code.number.startswith(FINDINGS)
        else f"Exit status {code.exit_status} if it stops a command or a job."
    )
    return (
        f"### {code.number}\n\n**{sentence(code.title)}** {sentence(code.why)}\n\n"
        f"What to do next:\n\n{steps}\n\n{status}"
    )
