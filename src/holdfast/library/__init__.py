"""The public functions: what the commands do, for programs; each is loaded at its first use."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from holdfast.diagnosis.explain.explaining import explain as explain
    from holdfast.library.backups import back_up as back_up
    from holdfast.library.backups import list_backups as list_backups
    from holdfast.library.backups import restore as restore
    from holdfast.library.backups import settle_restore as settle_restore
    from holdfast.library.checking import check as check
    from holdfast.library.jobs import init_project as init_project
    from holdfast.library.jobs import status as status
    from holdfast.library.looking import diff as diff
    from holdfast.library.looking import doctor as doctor
    from holdfast.library.looking import evidence as evidence
    from holdfast.library.looking import inspect as inspect
    from holdfast.library.program import start as start
    from holdfast.library.recording import record as record
    from holdfast.library.recording import record_event_log as record_event_log
    from holdfast.library.recording import record_jobs as record_jobs
    from holdfast.library.rehearsing import rehearse as rehearse
    from holdfast.library.remedies import apply as apply
    from holdfast.library.remedies import finish_plan as finish_plan
    from holdfast.library.remedies import journal as journal
    from holdfast.library.remedies import plan as plan
    from holdfast.library.remedies import undo as undo
    from holdfast.library.running import run as run
    from holdfast.library.state import open_checkpoint as open_checkpoint
    from holdfast.library.state import read_state as read_state


if not TYPE_CHECKING:
    # Type checkers report a name that is not public.

    def __getattr__(name: str) -> object:
        """Load the module of a function at its first use: `explain` does not wait for `run`."""
        import importlib

        from holdfast import _COMMANDS, _HOMES

        home = _HOMES.get(name, "")
        if not home.startswith(_COMMANDS):
            raise AttributeError(f"module 'holdfast.library' has no attribute {name!r}")
        return getattr(importlib.import_module(home), name)
