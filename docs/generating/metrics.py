"""The page of metrics, from the table of families."""

from __future__ import annotations

from docs.generating.markdown import code, page, table
from holdfast.metrics.families import FAMILIES, JOB_LABELS, Face, Family


def metrics_page() -> str:
    """Return the page: every family with its type, labels and where it is found."""
    intro = (
        "What `holdfast run --metrics-port N` serves and `holdfast status --metrics FILE` writes, "
        "as OpenMetrics text. Names, labels and meanings are stable; families may be added. Every "
        f"sample has the labels {' and '.join(map(code, JOB_LABELS))}; `project` is empty for jobs "
        "that a program declares. A value that is not known is absent, never 0. Labels hold names "
        "from the project file and from Spark only: no path, URL, offset or message."
    )
    families = table(("metric", "type", "further labels", "in", "meaning"), map(_row, FAMILIES))
    faces = (
        "`run` reports what its own process did; its counters start at 0 with the process. "
        "`status` reads checkpoints and records, so it also covers jobs that are not running. It "
        "has no counters: records describe single runs. A running job updates its record once per "
        "second at most."
    )
    alerts = (
        "Scrape configuration, alert rules and a dashboard: "
        "[monitor and alert](../how-to/monitor-and-alert.md)."
    )
    return page("Metrics", intro, families, faces, alerts)


def _row(family: Family) -> tuple[str, ...]:
    kind = "counter" if family.is_counter else "gauge"
    where = ", ".join(code(face.value) for face in Face if face in family.faces)
    return code(family.name), kind, ", ".join(map(code, family.labels)), where, family.help
