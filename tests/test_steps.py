"""A next step is written as a command; a program is given the arguments of the function it called.

And whoever chose a project by an option finds that option in the commands to copy.
"""

from __future__ import annotations

import ast
import inspect
import re
from pathlib import Path

import pytest

import holdfast
from holdfast.answers import Answer, in_python
from holdfast.codes import CODES
from holdfast.errors import HoldfastError, RefusedError
from holdfast.findings import Finding, Place, Severity
from holdfast.steps import named_steps, repeated_options, steps_in_python
from tests.advice.raised import raised_by_code

PUBLIC = (
    "back_up", "check", "diff", "doctor", "evidence", "inspect", "list_backups", "open_checkpoint",
    "read_state", "restore", "run", "settle_restore", "start", "status",
)  # fmt: skip
OF_OTHERS = {"HF1023", "HF5208", "HF4508", "HF4608", "HF4617"}
"""They name options of the node exporter, of pip, and some of commands that nobody is asked for in
Python."""


def _steps() -> list[tuple[str, str]]:
    raised = raised_by_code()
    return [
        (code.number, step)
        for code in CODES
        for step in dict.fromkeys((*code.next_steps, *raised.get(code.number, ())))
    ]


def _parameters() -> set[str]:
    functions = [getattr(holdfast, name) for name in PUBLIC]
    return {one for function in functions for one in inspect.signature(function).parameters}


@pytest.mark.parametrize("called", PUBLIC)
def test_no_step_in_python_names_an_option_outside_of_a_command(called: str) -> None:
    for code, step in _steps():
        (shown,) = steps_in_python((step,), called)
        assert steps_in_python((shown,), called) == (shown,), "translated once is enough"
        commands = re.sub(r"holdfast [a-z]+[^,;]*", "", shown)
        if code not in OF_OTHERS and (code != "HF2791" or called == "diff"):
            assert not re.search(r"(?<![\w-])--[a-z]", commands), (code, shown)
        named = re.findall(r"(?<![\w:/{.])([a-z_]+)=(?:…|True|False|[\"\[\d])", commands)
        assert {*named} <= _parameters(), (code, shown)


def test_a_comma_in_quotes_does_not_end_a_command() -> None:
    ends = """--from '{"t": {"0": 2, "1": 5}}' --to '{"t": {"0": 3, "1": 9}}'"""
    step = f"if what is left is enough: holdfast plan backfill job {ends}"
    assert steps_in_python((step,), "plan") == (step,)
    assert steps_in_python(("holdfast doctor job, or --to PATH",), "plan") == (
        'holdfast doctor job, or to="PATH"',
    )


def test_steps_of_a_start_are_arguments_of_the_function_that_was_called() -> None:
    def spoken(code: str, called: str) -> list[str]:
        steps = next(one.next_steps for one in CODES if one.number == code)
        return list(steps_in_python(steps, called))

    assert spoken("HF3009", "start") == [
        "look into the sink, then state it: holdfast.start(…, pending_delivered=True), or "
        "pending_delivered=False"
    ]
    assert spoken("HF3013", "run")[-1] == (
        'or, if it was emptied on purpose: holdfast.run(…, accept=["empty-sink"])'
    )
    assert spoken("HF3025", "start")[0].startswith("holdfast backups TARGET "), "a whole command"
    assert "read Spark's whole trace, with the cause: error.trace" in spoken("HF5302", "start")
    assert spoken("HF1022", "run")[0] == (
        "choose another port with metrics_port=N, or metrics_port=0 for any free port"
    )
    assert spoken("HF5207", "run")[0] == "run once without offline=True; they are kept for later"
    assert spoken("HF2743", "read_state")[0].endswith("with batch=…")
    assert spoken("HF2791", "diff")[0].endswith("with from_batch=… and to_batch=…")
    assert spoken("HF1001", "inspect") == ["help(holdfast.inspect)"]
    filled = ("state it: holdfast run --project 'my jobs.yaml' orders --accept shared-sink",)
    assert steps_in_python(filled, "run") == ('state it: holdfast.run(…, accept=["shared-sink"])',)
    assert steps_in_python(filled, "inspect") == filled


def test_an_acceptance_of_one_change_is_an_argument_that_can_be_pasted() -> None:
    def shown(job: str, called: str) -> str:
        step = f"or, if the change is intended: holdfast run {job} --accept HF3116:ab12cd34"
        return steps_in_python((step,), called)[0].removeprefix("or, if the change is intended: ")

    accept = 'accept=["HF3116:ab12cd34"]'
    assert shown("orders", "run") == f"holdfast.run(…, {accept})"
    assert shown("orders", "start") == f"holdfast.start(…, {accept})"
    assert shown("orders", "check") == f"holdfast.run(…, {accept})"
    assert shown("JOB", "check") == f"holdfast.start(…, {accept})", "a DataFrame has no name"
    assert shown("--profile prod orders", "check") == f"holdfast.run(…, {accept})"
    against = ("holdfast check JOB --against BUNDLE",)
    assert steps_in_python(against, "check") == ('holdfast.check(…, against="BUNDLE")',)


def test_errors_and_answers_of_public_functions_speak_python() -> None:
    finding = Finding("HF3013", Severity.ERROR, "gone", Place(""))

    def run() -> Answer[None]:
        return Answer("run", "", None, (finding,))

    assert 'accept=["empty-sink"]' in in_python(run)().findings[0].next_steps[-1]

    def start() -> None:
        error = RefusedError("HF3009", "pending")
        error.answer = run()
        raise error

    with pytest.raises(HoldfastError) as caught:
        in_python(start)()
    assert "pending_delivered=False" in str(caught.value)
    assert "--" not in str(caught.value)
    assert caught.value.answer is not None
    assert "--" not in str(caught.value.answer.findings[0].next_steps)


def test_public_functions_speak_python_and_commands_do_not() -> None:
    with pytest.raises(HoldfastError) as caught:
        holdfast.inspect("nothing", spark="9.9")
    assert caught.value.next_steps == ("help(holdfast.inspect)",)
    from holdfast import library

    with pytest.raises(HoldfastError) as caught:
        library.inspect("nothing", spark="9.9")
    assert caught.value.next_steps == ("holdfast --help",)
    assert holdfast.inspect is holdfast.inspect


def test_commands_repeat_the_options_that_chose_the_project() -> None:
    given = ("--project", "my jobs.yaml", "--profile", "prod")
    steps = (
        "holdfast backups orders     (restore the newest)",
        "find out who started it, and let `holdfast run` start it alone",
        "holdfast explain HF3025",
        "compare the two: restore --to another place, then holdfast diff",
    )
    assert repeated_options(steps, given) == (
        "holdfast backups --project 'my jobs.yaml' --profile prod orders     (restore the newest)",
        *steps[1:],
    )
    assert repeated_options(steps, ()) == steps


def test_only_commands_of_steps_are_given_options() -> None:
    """Each place that takes them is a command with something to examine or start."""
    for code, step in _steps():
        for found in re.finditer(
            r"--project X (\S+)", repeated_options((step,), ("--project", "X"))[0]
        ):
            assert re.match(r"TARGET|JOB|ONE|--|shows|…", found[1]), (code, step)


def test_a_run_with_an_option_that_is_no_argument_stays_a_command() -> None:
    """What tells an error must not become one."""
    step = "holdfast run orders --keep-running"
    assert steps_in_python((step,), "run") == (step,)


NAME_OPTIONS = {
    "backup/restoring.py", "backup/sinklog.py", "diagnosis/checks/sink/delta.py",
    "diagnosis/checks/sink/ownledger.py", "diagnosis/checks/subject.py",
    "diagnosis/evidence/missing.py",
    "diagnosis/inspection/keptoffsets.py", "diagnosis/inspection/sink/gone.py",
    "jobs/discovery.py", "jobs/projectfile/profiles.py",
    "jobs/target.py", "ledgers/sinkstate.py", "library/advising.py", "library/checking.py",
    "remedy/remedies/backfill/sinkfitness.py", "remedy/remedies/backfill/times.py",
    "remedy/sourcedata.py",
    "remedy/acts.py", "remedy/steps/backfill.py", "remedy/remedies/replay/beginnings.py",
    "remedy/remedies/reset/planning.py", "remedy/remedies/reset/starting.py",
    "remedy/repairs/repair.py", "remedy/steps/sink.py",
    "records/leases/acting.py", "records/leases/taking.py", "spark/sinks/files.py",
    "storage/filesystem.py",
    "storage/location.py", "storage/options.py", "restart/bundles.py", "targets/opening.py",
}  # fmt: skip
"""Modules with next steps that name options: steps are translated for programs, as tested above."""
OTHER_PROGRAMS = {"spark/session/installation.py", "spark/jars/ivy.py"}
TABLES = {"diagnosis/doctor/fieldcases.py", "metrics/families.py", "steps.py"}
_FACES = ("cli/", "codes/", "demonstration/", "diagnosis/explain/pages/")


def test_only_next_steps_name_options_below_the_faces() -> None:
    """A message is shown as it is, also to a program, which has arguments and no options."""
    root = Path(str(holdfast.__file__)).parent
    naming = {
        name
        for file in root.rglob("*.py")
        if not (name := file.relative_to(root).as_posix()).startswith(_FACES)
        and any(map(_OPTION.search, _texts(file)))
    }
    assert naming == NAME_OPTIONS | OTHER_PROGRAMS | TABLES
    for name in NAME_OPTIONS:
        tree = ast.parse((root / name).read_text(encoding="utf-8"))
        named = [one for one in ast.walk(tree) if isinstance(one, ast.Assign)]
        messages = [one for one in named if ast.unparse(one.targets[0]) == "message"]
        raised = [one for one in ast.walk(tree) if isinstance(one, ast.Call) and len(one.args) > 1]
        spoken = [*messages, *(one.args[1] for one in raised if "Error" in ast.unparse(one.func))]
        assert not [one for one in map(ast.unparse, spoken) if _OPTION.search(one)], name


_OPTION = re.compile(r"(?<![\w-])--[a-z]")


def _texts(file: Path) -> list[str]:
    """Return the texts of a module that are not docstrings."""
    tree = ast.parse(file.read_text(encoding="utf-8"))
    said = [one for one in ast.walk(tree) if isinstance(one, ast.Expr)]
    docs = {id(one.value) for one in said if isinstance(one.value, ast.Constant)}
    texts = [one for one in ast.walk(tree) if isinstance(one, ast.Constant) and id(one) not in docs]
    return [one.value for one in texts if isinstance(one.value, str)]


def test_a_job_is_asked_without_naming_the_sink_that_it_declares() -> None:
    """Of a path nobody else knows the sink."""
    step = "ask the sink: holdfast evidence TARGET --sink PATH"
    assert named_steps((step,), "orders", "orders") == ("ask the sink: holdfast evidence orders",)
    assert named_steps((step,), "/tmp/it") == (
        "ask the sink: holdfast evidence /tmp/it --sink PATH",
    )
