"""Small programs that make real Spark fail, each with the page that has to explain it.

A subject is a module; to import it registers what it provokes.
"""

from tests.diagnosis.explain.pages.provocations import (
    callingout,
    delta,
    evolving,
    kafka,
    logs,
    processes,
    sinks,
    sources,
    starting,
    state,
    statebytes,
    statereader,
    topics,
    transforming,
)
from tests.diagnosis.explain.pages.provocations.provocation import (
    PROVOCATIONS,
    Provocation,
    provokes,
)

SUBJECTS = (
    logs,
    state,
    statebytes,
    statereader,
    transforming,
    sources,
    sinks,
    starting,
    evolving,
    callingout,
    delta,
    kafka,
    topics,
    processes,
)

__all__ = ["PROVOCATIONS", "SUBJECTS", "Provocation", "provokes"]
