"""The step that takes batches back from the sink, so that their ids can be planned again."""

from __future__ import annotations

from typing import ClassVar

from holdfast.crashpoints import reach
from holdfast.errors import PlanError, SinkError
from holdfast.remedy.plan import Step
from holdfast.remedy.steps.clearing import ClearSink
from holdfast.remedy.steps.work import Result, Work

REWIND = "rewind-sink"
_REFUSED = "HF5011"
_BACK = "holdfast undo TARGET puts metadata back: nothing else was changed"


class RewindSink(ClearSink):
    """Takes back every batch of the query after one; undone as clearing is."""

    name: ClassVar[str] = REWIND

    def apply(self, step: Step, work: Work) -> Result:
        """Rewind; raise PlanError (HF4602) where the sink refuses, and nothing is removed."""
        query_id, through = step.arguments["query_id"], int(step.arguments["through"])
        try:
            with work.open_sink() as sink:
                sink.rewind(query_id, through, generation=work.generation)
        except SinkError as error:
            if error.code.number != _REFUSED:
                raise
            raise PlanError(
                "HF4602", f"the sink cannot be rewound: {error.message}",
                at=error.at, why=error.why, next_steps=(*error.next_steps, _BACK),
            ) from error  # fmt: skip
        reach("plan.sink-rewound")
        return {}
