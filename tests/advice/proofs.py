"""Proofs that are not programs of this package: recorded starts, tests, and steps that only read.

Also steps that are written beside a finding and whose gaps programs fill with a word of their own.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from functools import cache

from holdfast.diagnosis.doctor import wrongfixes
from tests.advice.loading import TRUTH

_FORMER = (
    "if metadata was lost or written again: restore a backup --to another place, and copy its "
    "metadata back"
)
_ID_BACK = (
    "without one, write the id ID back into metadata: offsets/ still holds every batch that the "
    "{} has of it, so nothing is planned again"
)
SPOKEN: dict[str, tuple[str, ...]] = {
    "HF2412": (_FORMER, _ID_BACK.format("table")),
    "HF2443": (_FORMER, _ID_BACK.format("sink")),
}
"""Steps of `diagnosis/checks/sink/ownledger.py`, with ID for the id and the sink's own name."""

_RUNNING = "tests/spark/running"


@dataclass(frozen=True)
class Test:
    """A test that does exactly what a step says."""

    name: str
    situation: str
    outcome: str = "goes on"


_KILLED = Test(
    f"{_RUNNING}/test_files.py::test_a_kill_at_a_point_loses_and_doubles_nothing",
    "a driver was killed at this moment, and the job is started again",
)
_GIVEN_UP = Test(
    f"{_RUNNING}/test_backfill.py::test_a_file_that_is_gone_stops_it",
    "a backfill whose source lost a file is given up, and the job can be reset then",
)
_PUT_BACK = Test(
    f"{_RUNNING}/test_backfill.py::test_one_that_cannot_be_finished_keeps_no_other_from_it",
    "a backfill whose source lost a file is finished once the file is back",
)
_LEFT = Test(
    f"{_RUNNING}/test_backfill_times.py::test_records_that_kafka_removed",
    "Kafka removed records of a day; what is left of it is computed again, and a later time is too",
)
_BACKFILL = Test(
    f"{_RUNNING}/test_backfill.py::test_a_killed_backfill_is_finished",
    "a backfill was killed after a batch, and is applied again while the job runs on",
)
_GONE = Test(
    f"{_RUNNING}/test_output_gone.py::test_a_deleted_delta_table_is_refused",
    "the table was deleted, misspelled, put back, accepted as empty",
)
_LOST = Test(
    f"{_RUNNING}/test_output_gone.py::test_a_function_whose_ledger_is_gone_is_refused",
    "the checkpoint was deleted, put back, and given up on purpose",
)
_MOUNT = Test(
    "tests/spark/test_start_starting.py::test_a_local_output_on_a_cluster_is_refused_before_spark",
    "a project names a cluster, and its output is a local path",
)
_FOREIGN = Test(
    f"{_RUNNING}/test_output_gone.py::test_a_table_with_rows_of_others_is_not_an_empty_one",
    "another table is at the path of the sink",
)
_OTHER_OFFSETS = Test(
    f"{_RUNNING}/test_changed_offsets.py::"
    "test_offsets_that_the_sink_does_not_have_are_refused_and_put_back",
    "an offsets entry was replaced after its batch was delivered, and no copy of it is kept",
)
_OLDER = Test(
    "tests/backup/test_restoring.py::test_the_steps_of_an_older_backup_are_followed",
    "the backup is older than the checkpoint, with and without a newer backup",
)
_RAISED = Test(
    "tests/spark/test_start_starting.py::test_a_start_takes_a_generation_that_the_sink_accepts",
    "the sink knows a newer generation than the records",
)
_CHAIN = Test(
    f"{_RUNNING}/test_chain.py::test_what_stops_a_chain_is_told_before_it_starts",
    "a job streams the table that another one upserts into; a source is moved and put back",
)
_NATIVE = f"{_RUNNING}/test_native.py::"
_LOG_FITS = Test(
    f"{_NATIVE}test_a_file_sink_s_log_has_to_fit_the_checkpoint",
    "the path was mistyped, the log of Spark's file sink was gone",
)
_BEGINS_LATE = Test(
    f"{_NATIVE}test_a_new_folder_for_an_adopted_checkpoint_says_what_it_lacks",
    "an adopted checkpoint meets a new folder",
)
_JVM_KILLED = Test(
    f"{_RUNNING}/test_jvm_death.py::test_a_killed_jvm_in_a_sequence_of_jobs",
    "Spark's JVM was killed by SIGKILL in a batch, and the jobs are started again",
)
_JVM_FULL = Test(
    f"{_RUNNING}/test_jvm_death.py::test_a_jvm_without_memory_under_jobs_side_by_side",
    "a task ran out of memory, and the jobs are started again with more",
)
_RESET = "tests/remedy/remedies/reset/test_planning.py::"
_SERVING = "tests/metrics/test_exposition_serving.py::"
_SESSION = "tests/spark/session/test_opening.py::"
TESTS: dict[tuple[str, str], Test] = {
    ("HF1022", "choose another port with --metrics-port N, or --metrics-port 0 for any free "
     "port"): Test(
        f"{_SERVING}test_a_taken_port_is_refused_and_another_one_is_used",
        "another process listens on the metrics port",
        "metrics are served",
    ),
    ("HF1022", "if --metrics-host is given: use an address of this machine"): Test(
        f"{_SERVING}test_an_address_that_is_not_ours_is_refused",
        "--metrics-host is the address of another machine, then the default",
        "metrics are served",
    ),
    ("HF1023", "give a file whose name ends in .prom, in the directory that the node exporter "
     "reads (--collector.textfile.directory)"): Test(
        "tests/metrics/test_exposition_textfile.py::test_a_place_that_is_not_for_metrics_is_refused",
        "another suffix, no directory, inside a checkpoint, or over a foreign file",
        "the file is written",
    ),
    ("HF4606", "holdfast apply --finish TARGET, or holdfast undo TARGET"): Test(
        "tests/remedy/test_applying_kills.py::test_killed_at_a_point_while_applying",
        "a plan that was killed at every point is finished whole, or undone byte-identical",
    ),
    ("HF2610", "holdfast apply --finish TARGET, or holdfast undo TARGET"): Test(
        "tests/remedy/test_applying_kills.py::test_killed_at_a_point_while_applying",
        "a plan that was killed at every point is finished whole, or undone byte-identical",
    ),
    ("HF4647", "then holdfast apply --finish TARGET, or holdfast undo TARGET"): Test(
        "tests/remedy/steps/test_sink.py::"
        "test_an_edited_declaration_moves_no_step_to_another_output",
        "a plan was killed, and its job declares another path; declared as before, it is undone",
    ),
    ("HF4645", "holdfast journal TARGET shows how far it is"): _BACKFILL,
    ("HF4645", "if it cannot be finished: holdfast undo TARGET --keep-rows gives up the batches "
     "that are left; the rows of those in the sink stay"): _GIVEN_UP,
    **{(code, "holdfast undo TARGET --keep-rows gives up the batches that are left; rows stay"):
       _GIVEN_UP for code in ("HF4603", "HF4605", "HF4609", "HF4612", "HF4648")},
    ("HF4609", "holdfast apply --finish TARGET"): _BACKFILL,
    ("HF4605", "declare them as they were in the plan, then holdfast apply --finish "
     "TARGET"): _BACKFILL,
    ("HF4603", "make the source reachable from here, then holdfast apply --finish "
     "TARGET"): _BACKFILL,
    ("HF4612", "name a time from which every partition still has its records, not …"): _LEFT,
    ("HF4612", "if what is left is enough: holdfast plan backfill TARGET …"): _LEFT,
    ("HF4612", "put the data back where it was, then holdfast apply --finish "
     "TARGET"): _PUT_BACK,
    ("HF4645", "if it does not run any more: holdfast apply --finish TARGET, or holdfast undo "
     "TARGET if nothing of it is in the sink"): Test(
        f"{_RUNNING}/test_backfill.py::test_undo_before_a_row_is_in_the_sink",
        "a backfill was killed before its first commit, and is undone; others are finished",
    ),
    ("HF4646", "holdfast apply --finish TARGET runs the batch again; the sink skips what it "
     "has"): _BACKFILL,
    ("HF4602", "give the job a new output: holdfast plan reset TARGET --output "
     "keep-new:PATH"): Test(
        f"{_RESET}test_a_new_output_says_which_line_to_change",
        "the output cannot be cleared; the new query gets another one",
    ),
    ("HF2352", "make sure that no executor of the old driver is left, then remove these files: "
     "holdfast plan clean TARGET"): Test(
        f"{_RUNNING}/test_late_state.py::test_state_that_came_after_the_batch_was_taken_back",
        "state of a batch is written again after a replay or a reset removed it",
        "every row is there once",
    ),
    ("HF3025", "or, to start over with an empty output: holdfast plan reset JOB --output "
     "clear"): Test(
        "tests/spark/running/test_reset.py::"
        "test_deleting_the_checkpoint_alone_doubles_and_is_refused",
        "the checkpoint was deleted and the output was not",
        "every row is there once",
    ),
    ("HF3031", "if it is to run again where it ended: holdfast undo TARGET"): Test(
        "tests/remedy/remedies/test_retire.py::"
        "test_a_retired_job_is_refused_until_it_is_brought_back",
        "a retired job is brought back byte-identical",
    ),
    ("HF3032", "declare the output that the message names in holdfast.yaml"): Test(
        f"{_RESET}test_the_former_output_is_refused_after_a_new_one_was_named",
        "the former output is declared after a reset that kept it",
    ),
    ("HF3032", "or take the reset back: holdfast undo TARGET"): Test(
        f"{_RESET}test_an_applied_reset_leaves_an_empty_checkpoint_and_an_archive",
        "a reset is undone before the new query has begun",
    ),
    ("HF3033", "take the reset back: holdfast undo TARGET"): Test(
        f"{_RESET}test_an_applied_reset_leaves_an_empty_checkpoint_and_an_archive",
        "a reset is undone before the new query has begun",
    ),
    ("HF3033", "or start the job from holdfast.yaml: holdfast run JOB"): Test(
        "tests/running/test_freshstart.py::"
        "test_the_starting_options_of_a_reset_take_the_place_of_the_declared_ones",
        "the job is declared, and its first start gets the options of the reset",
    ),
    ("HF3034", "put the file back under its old path, byte-identical, then start again"): Test(
        f"{_RUNNING}/test_lost_files.py::"
        "test_a_batch_runs_again_only_with_every_file_that_it_had_read",
        "a file of the pending batch was removed before the batch ran again",
        "every row is there once",
    ),
    ("HF5212", "name what stays as it is in the session: holdfast.run(…, keep_settings=[…])"): Test(
        f"{_SESSION}test_settings_that_differ_have_to_be_named_to_be_kept",
        "the open session has another master, setting or jar than the one declared",
    ),
    ("HF5212", "or stop the session (spark.stop()): Holdfast starts Spark as declared"): Test(
        f"{_SESSION}test_a_session_with_delta",
        "the session of the program was stopped, and left its JVM running",
    ),
    ("HF5304", "start the jobs again"): _JVM_KILLED,
    ("HF5306", "start the jobs again"): _JVM_KILLED,
    ("HF5305", "give the JVM more memory, spark.driver.memory under spark.conf (default 1g), and "
     "start the jobs again"): _JVM_FULL,
    ("HF2376", "declare every column that the query groups by in the key of the sink"): Test(
        "tests/spark/query/test_upsertkey.py::test_the_run_warns_and_a_whole_key_keeps_every_group",
        "groups overwrite each other, and the key gets the missing column",
    ),
    ("HF2372", "add `skipChangeCommits: true` to the options of the source, if the job needs only "
     "commits that add rows"): _CHAIN,
    ("HF2372", "if the upserts only insert rows, start despite it: holdfast run JOB --accept "
     "changing-source"): _CHAIN,
    ("HF2375", "write the option as the message spells it"): Test(
        "tests/diagnosis/checks/declared/test_declarations_sources.py::"
        "test_a_misspelled_option_is_reported_until_it_is_corrected",
        "an option of the source and one of the sink are misspelled, then corrected",
        "nothing is reported any more",
    ),
    ("HF2374", "declare the path that was read before"): _CHAIN,
    ("HF3021", "leave out `native: true`: Holdfast's own Delta sink knows the new application id"):
        Test(
            f"{_NATIVE}test_a_table_that_was_rewound_is_continued_by_our_own_sink_alone",
            "the table was rewound to the newest batch of the checkpoint",
        ),
    ("HF3022", "correct the sink's path, if it was changed by mistake"): _LOG_FITS,
    ("HF3022", "or put _spark_metadata back from a backup of this output"): _LOG_FITS,
    ("HF3022", "or leave out `native: true` and give the sink a new directory: Holdfast's own "
    "file sink begins with the next batch"): Test(
        f"{_NATIVE}test_the_page_moves_from_spark_s_file_sink_to_ours",
        "Holdfast's own file sink gets a new folder",
        "refused (HF3013), accepted by name",
    ),
    ("HF3023", "keep the former output, and read both together"): _BEGINS_LATE,
    ("HF3023", "or, to have everything in one place while the source still has all of its data, "
     "give the job a name, a checkpoint and a sink of its own"): _BEGINS_LATE,
    ("HF5020", "add `native: true`: Spark's own file sink continues to write the directory, "
    "under Holdfast's lease, guards and records"): _LOG_FITS,
    ("HF2451", "start the job again: what is committed is published first, nothing is computed "
     "again"): _KILLED,
    ("HF2459", "nothing has to be done: the next commit of this batch removes them"): _KILLED,
    ("HF2458", "if it is not finished, start the job again: it is finished before anything is "
     "written"): Test(
        "tests/ledgers/files/test_rewinding.py::test_killed_at_each_point",
        "a rewind or clear was killed, and the job is started again",
    ),
    ("HF2458", "void manifests need nothing: the next rewind or clear removes them"): Test(
        "tests/ledgers/files/test_rewinding.py::test_a_void_manifest_is_explained_and_counts_for_nobody",
        "a late driver wrote a manifest after a rewind",
    ),
    ("HF2604", "do not put a copy back by guess: where the sink has the batch with other offsets, "
     "Spark would deliver it again with other rows"): Test(
        f"{_RUNNING}/test_changed_offsets.py::test_a_copy_is_not_to_be_put_back_against_the_sink",
        "the sink has the batch with the offsets that the checkpoint has now",
    ),
    ("HF3027", "move the checkpoint elsewhere as evidence, then restore the backup that has the "
     "sink's newest batch: holdfast backups TARGET"): _OTHER_OFFSETS,
    ("HF3027", "or start over as a new job: another name, with it a new checkpoint, and an empty "
     "sink; it reads its sources from the beginning"): _OTHER_OFFSETS,
    ("HF4502", "restore the newest backup instead: holdfast restore TARGET@newest"): _OLDER,
    ("HF4502", "restore only the files that are missing or damaged: holdfast restore TARGET@ID "
     "--file PATH"): _OLDER,
    ("HF4502", "restore the backup that has the newest batch: holdfast restore TARGET@…"): Test(
        "tests/backup/test_restoring.py::"
        "test_a_copy_that_a_restore_set_aside_is_advised_by_its_id",
        "the copy that has the newest batch was set aside by a restore",
    ),
    ("HF4502", "to look at the older backup: holdfast restore TARGET@ID --to DIR"): _OLDER,
    ("HF4502", "if the job has not run since, take the plan back instead: holdfast undo TARGET"):
        Test(
            "tests/remedy/remedies/replay/test_planning.py::"
            "test_undo_brings_everything_back_where_the_sink_loses_nothing",
            "a replay was applied, and the job has not run since",
        ),
    ("HF2302", "declare it under a new name, with a lasting checkpoint and an empty lasting sink; "
     "it reads its sources from the beginning"): _OTHER_OFFSETS,
    ("HF2302", "do not move the checkpoint by hand: a job whose checkpoint is at another path does "
     "not start (HF1114)"): Test(
        "tests/diagnosis/doctor/test_declaredplace.py::test_a_job_in_a_temporary_folder_is_not_moved",
        "the checkpoint of a job is moved by hand, and the project file names the new place",
        "refused (HF1114)",
    ),
    ("HF5060", "repeat the rewind or clear: it finishes what was begun"): Test(
        "tests/spark/sinks/delta/test_rewind_rewinding.py::"
        "test_a_process_killed_after_the_rows_went_is_finished",
        "a rewind was killed between its commits",
    ),
    ("HF3013", "put the output back, from a copy that was made after the last run ended"): _GONE,
    ("HF2248", "put the table back, with its _delta_log, from a backup"): _GONE,
    ("HF2248", "or correct the sink's path, if it was changed by mistake"): _GONE,
    ("HF3013", "or correct the sink's path, table or search_path, if it was changed by "
     "mistake"): _GONE,
    ("HF3013", "or, if it was emptied on purpose: holdfast run JOB --accept empty-sink"): _GONE,
    ("HF3025", "holdfast backups TARGET     (restore the newest backup of the checkpoint)"): _LOST,
    ("HF3025", "or, if the output was emptied too and the job is to start over: holdfast run JOB "
     "--accept new-checkpoint"): _LOST,
    ("HF3014", "correct the sink's path, table or search_path, so that it names the former "
     "output"): _FOREIGN,
    ("HF3014", "or put the former output back, with its log or ledger, from a backup"): _FOREIGN,
    ("HF3014", "or name a new, empty sink and accept it: holdfast run JOB --accept "
     "empty-sink"): _FOREIGN,
    ("HF3009", "look into the sink, then state it: holdfast run JOB --pending delivered, or "
     "--pending not-delivered"): Test(
        f"{_RUNNING}/test_adopting.py::test_any_other_sink_has_to_be_spoken_for",
        "a checkpoint with a pending batch is adopted, and what the sink has is stated",
    ),
    ("HF2614", "nothing needs to be done; keep the records (.holdfast) together with the "
     "checkpoint"): _RAISED,
    ("HF5042", "if no other driver is running, start the job again: it takes a lease with a newer "
     "generation than the ledger knows"): _RAISED,
    ("HF5027", "put the output back as it was, from a backup, then start the job again"): Test(
        "tests/ledgers/files/test_commit.py::"
        "test_an_output_that_is_removed_while_the_job_runs_stops_it",
        "the output folder was removed under a running job, and is put back",
    ),
    ("HF5027", "or start the job as it is: the start compares the output with the earlier runs, "
     "and refuses it (HF3013) unless you accept an empty one"): _GONE,
    ("HF5027", "or start the job as it is: the start compares the ledger with the checkpoint, "
     "and refuses it (HF3006) unless you accept that the rows are missing"): Test(
        "tests/restart/test_judging.py::test_a_sink_behind_can_be_accepted",
        "the ledger of the table lost the newest batch under a running job",
    ),
    ("HF5090", "if no other driver is running, start the job again: it takes a lease with a newer "
     "generation than the ledger knows"): _RAISED,
    ("HF3019", "if the sink's path or table was changed by mistake, correct it before the next "
     "start"): _GONE,
    ("HF4523", "run the restore again if it is still needed"): Test(
        "tests/backup/test_acting.py::"
        "test_an_intent_that_came_late_is_void_once_another_act_was_done",
        "a restore lost its lease before it changed anything, and a later one was done",
    ),
    ("HF4524", "holdfast restore --undo TARGET keeps the entry and puts everything else back as it "
     "was before the restore"): Test(
        "tests/backup/test_restoring.py::"
        "test_what_a_late_driver_wrote_instead_of_the_restore_is_kept_by_undo",
        "a late driver wrote an entry that the restore was to write",
    ),
    ("HF2604", "a byte-identical copy is kept: put … while nothing runs, without the … of the "
     "other bytes"): Test(
        f"{_RUNNING}/test_changed_offsets.py::"
        "test_a_pending_batch_whose_beginning_was_replaced_is_not_delivered",
        "an entry was replaced, and the kept copy of it is put back",
    ),
    ("HF2604", "move … elsewhere as evidence, then start again"): Test(
        f"{_RUNNING}/test_changed_offsets.py::test_a_copy_is_not_to_be_put_back_against_the_sink",
        "the sink has the batch as the checkpoint says, and the copy is another one",
    ),
    ("HF2601", "--even-if-running does not override a lease"): Test(
        "tests/backup/test_acting.py::test_under_a_driver_the_checkpoint_stays_as_it_is",
        "a job runs, and a restore is asked for with the option",
        "refused (HF2601)",
    ),
    ("HF2605", "if nothing ran since and the first statement is wrong, move its file elsewhere and "
     "state again"): Test(
        "tests/records/test_statements.py::"
        "test_a_wrong_statement_is_moved_elsewhere_and_made_again",
        "the opposite was stated by mistake",
    ),
    ("HF4511", "restore another backup; make a new one while the checkpoint is whole"): Test(
        "tests/backup/test_commands_reports.py::test_a_damaged_list_is_told_and_hides_no_other",
        "the list of the older of two backups is damaged",
        "byte-identical",
    ),
    ("HF5005", "or name a new, empty directory and accept it: holdfast run JOB --accept "
     "empty-sink"): _GONE,
    ("HF5006", "if the output was moved here, or its manifests were removed: put the folder "
     "…/.holdfast/… back, which was next to the output"): Test(
        "tests/spark/sinks/test_files.py::"
        "test_an_output_that_was_moved_without_its_manifests_says_what_to_move",
        "the output was moved without the folder beside it",
    ),
    ("HF3014", "put the directory …/.holdfast/… back, which was beside the output, from a "
     "backup"): Test(
        "tests/ledgers/files/test_startcheck.py::test_manifests_that_were_removed_are_put_back",
        "the manifests beside the output were removed, and are put back",
    ),
    ("HF5011", "if every row of … is the job's, delete them yourself, then clear the sink: an "
     "empty table is always cleared"): Test(
        "tests/spark/sinks/database/test_rewinding.py::"
        "test_a_total_that_an_older_holdfast_did_not_keep",
        "an older Holdfast pruned the ledger without a total",
    ),
    ("HF5011", "or, if these rows may go too: holdfast plan reset TARGET --output clear …"): Test(
        "tests/remedy/steps/test_sink.py::"
        "test_rows_of_an_older_query_that_are_gone_keep_the_checkpoint_gone",
        "the output has batches of another query, which is named",
    ),
    ("HF5048", "start the job with the time zone that the ledger names: set -Duser.timezone for "
     "driver and executors (spark.driver.extraJavaOptions and "
     "spark.executor.extraJavaOptions)"): Test(
        "tests/spark/sinks/database/test_wallclock.py::test_a_table_stays_in_one_zone",
        "a driver in another zone was refused, and the next one has the zone of the ledger",
    ),
    ("HF5091", "or bring the file back as it was"): Test(
        "tests/ledgers/test_custom_batchledger.py::test_a_damaged_entry_stops_with_its_place",
        "an entry was damaged, and is put back",
    ),
    ("HF3028", "declare an output and a checkpoint that all machines share: an object store or "
     "HDFS"): _MOUNT,
    ("HF3028", "or, if the path is the same network mount on every machine: holdfast run JOB "
     "--accept shared-mount"): _MOUNT,
    ("HF3012", "run the job once where the directory can be written, and keep "
    ".holdfast/checkpoints.json"): Test(
        f"{_RUNNING}/test_adopting.py::test_a_project_that_can_t_remember_the_place_says_so",
        "the project's folder can't be written",
    ),
}  # fmt: skip

_AGAIN = Test(
    f"{_RUNNING}/test_crashes.py::test_every_row_is_there_once",
    "a run ended at a crash point of a sink, and the job is started again",
)
_SETTLED = Test(
    "tests/backup/test_kills.py::test_a_restore_killed_at_any_moment_is_finished_or_taken_back",
    "a restore was killed",
)
_NEW_CHECKPOINT = Test(
    f"{_RUNNING}/test_run.py::test_a_lost_checkpoint_does_not_fill_the_table_twice",
    "a new checkpoint meets the output of the old one",
    "refused (HF3007)",
)
_NEW_OUTPUT = Test(_GONE.name, "a new output meets the old checkpoint", "refused (HF3013)")
_CONSOLE = Test(
    f"{_RUNNING}/test_output_gone.py::test_a_console_does_not_take_the_batches_of_an_output",
    "a console is declared on the checkpoint of an output",
)
TESTS["HF3013", "declare the former sink again"] = _CONSOLE
TESTS[
    "HF3013",
    "or, to look at the rows, give the query a name and a checkpoint of its own: another job",
] = _CONSOLE
TESTS[
    "HF3013",
    "or, if these batches may be missing from the former sink: holdfast run JOB "
    "--accept empty-sink",
] = _CONSOLE
TESTS["HF2407", "give the sink a directory of its own"] = _NEW_OUTPUT
_START_AGAIN = (
    r"^(?:otherwise )?start (?:the job |it )?again|(?:make some|the line that is named), and start"
)
_CHANGED = Test(
    f"{_RUNNING}/test_changed_query.py::test_a_changed_aggregate_is_refused_before_it_mixes_state",
    "an aggregate was changed, put back, accepted, and given to a job of its own",
)
_BY_WORDS: tuple[tuple[str, str, Test], ...] = (
    (r"HF31\d\d", r"^put the code back|of its own$|--accept", _CHANGED),
    (r"HF(?:26|50|53)\d\d", _START_AGAIN, _AGAIN),
    (r"HF4506|HF2610", r"--finish TARGET, or", _SETTLED),
    (r"HF1109|HF1113|HF1114|HF1118", r"checkpoint of its own|of their own|old path|move it back",
     _NEW_CHECKPOINT),
    (r"HF1111|HF50(?:06|11|20|25)", r"(?:output|folder|directory) of its own|new (?:output|folder|"
     r"directory)", _NEW_OUTPUT),
)  # fmt: skip
"""Tests of steps that many codes have, by the code and the words of the step."""


def test_of(code: str, step: str) -> Test | None:
    """Return the test that does what a step says."""
    if (code, step) in TESTS:
        return TESTS[code, step]
    if code == "HF5022":
        return None
    fitting = (test for codes, words, test in _BY_WORDS
               if re.fullmatch(codes, code) and re.search(words, step))  # fmt: skip
    return next(fitting, None)


_INTERVAL = ("4.2.0/interval-changed", "4.3.0/interval-changed")
_GOES_ON = tuple(f"{spark}/stateless/temporary-left" for spark in ("3.5.9", "4.2.1", "4.3.0"))
RECORDS: dict[tuple[str, str], tuple[str, ...]] = {
    ("HF2103", "start the query with the Spark that wrote it, or a newer one"): (
        "4.3.0/offsets-v2/none",
        "4.2.1/offsets-v2/none",
    ),
    ("HF2206", "keep asyncProgressTrackingEnabled on"): ("4.2.0/async-goes-on",),
    ("HF2247", "set maxFileAge of the source to more than the difference before the next "
     "start"): ("4.2.0/future-file-and-max-age",),
    ("HF2358", "declare the option as it was, so that nobody relies on the new value"): (
        "4.2.0/starting-offsets-changed",
    ),
    ("HF2359", "start the job with its checkpoint; a new one would lose the position and the "
     "state"): ("4.2.0/newer-release",),
    ("HF2361", "write the sources in the query in the order of the checkpoint"): (
        "4.2.0/union-swapped",
    ),
    ("HF2362", "declare the operators that the checkpoint has state of"): (
        "4.2.0/operator-removed",
        "4.2.0/operator-added",
        "4.2.0/aggregation-to-deduplication",
    ),
    ("HF2362", "if the operator is new: declare the operators that the checkpoint has state of"): (
        "4.2.0/operator-added",
    ),
    ("HF2363", "declare the columns that the state was written with"): (
        "4.2.0/key-added",
        "4.2.0/key-replaced",
    ),
    ("HF2364", "declare the aggregates that the state was written with"): ("4.2.0/sum-to-max",),
    ("HF2366", "declare the path of the table that was read before"): (
        "4.2.0/delta-source-created-again",
    ),
    ("HF2367", "put the missing files of _delta_log back from a copy of the table"): (
        "4.2.0/delta-log-cleaned",
    ),
    ("HF2331", "keep it where latency matters more than doubles"): ("4.2.0/async-goes-on",),
    ("HF2227", "nothing needs to be done"): _GOES_ON,
    ("HF2306", "keep the join an inner one"): ("4.0.5/inner-join-in-format-one",),
    ("HF2307", "start with a current release of Delta"): ("4.2.0/delta-source-idle",),
    ("HF2308", "nothing needs to be done"): _INTERVAL,
    ("HF2309", "shorten spark.sql.streaming.stateStore.maintenanceInterval, or let one run last "
     "longer"): ("4.2.0/snapshot-flipped",),
    ("HF2313", "do not start this query with an older Spark"): (
        "3.5.9/stateless/offset-version-2",
    ),
    ("HF2314", "with changelogs on, Spark 4.2 and later fall back to an older snapshot by "
     "themselves: do not start it with an earlier one"): (
        "4.1.4/table-removed-with-changelogs",
        "4.1.4/zip-cut-with-changelogs",
    ),
    ("HF2315", "nothing needs to be done"): ("4.2.0/table-left-over",),
    ("HF2316", "do not remove the file: Spark 4.2 and later pass a damaged snapshot over by "
     "themselves, and nothing replaces a delta or changelog"): (
        "4.2.1/aggregation/state-newest-missing",
    ),
    ("HF2332", "rocksdb.changelogCheckpointing.enabled can be turned on or off between any two "
     "starts; turn it on where state is large and batches are short"): (
        "4.2.0/changelog-turned-on",
        "4.2.0/changelog-turned-off",
    ),
    ("HF2333", "do not change spark.sql.streaming.stateStore.checkpointFormatVersion on a "
     "checkpoint that has batches: 4.0 to 4.2 stop, 4.3 ignores it. Choose 2 for new RocksDB "
     "queries on 4.3"): ("4.2.0/format-raised", "4.2.0/format-lowered"),
    ("HF2336", "leave it: Spark keeps to the interval that it finds"): _INTERVAL,
    ("HF2347", "make sure that the other place is never started again"): ("4.2.0/copy-alone",),
    ("HF2412", "do not write the id that the table knows into a new checkpoint: Spark would plan "
     "batches that the table has under that id, and Delta drops their rows without an error"): (
        "4.2.0/delta-former-id-in-new-checkpoint",
    ),
    ("HF2412", _ID_BACK.format("table")): ("4.2.0/delta-former-id-restored",),
    ("HF2708", "start the query with the Spark that wrote it, or a newer one"): (
        "4.3.0/rocksdb/none",
        "4.2.1/rocksdb/none",
    ),
}  # fmt: skip

WRONG_RECORDS: dict[str, tuple[str, ...]] = {
    wrongfixes.SECOND_JOB: ("4.2.1/stateless/directory-next-in-commits",),
    wrongfixes.SPARK_METADATA: ("4.2.0/sink-log-lost-at-compaction",),
    wrongfixes.CHECKPOINT: ("4.2.0/delta-new-checkpoint", "4.2.0/another-path"),
    wrongfixes.COPY: ("4.2.0/copies-on-one-table",),
    wrongfixes.NEW_CHECKPOINT: ("4.2.0/new-checkpoint-old-output", "4.2.0/delta-new-checkpoint"),
    wrongfixes.FORMER_ID: ("4.2.0/delta-former-id-in-new-checkpoint",),
    wrongfixes.OLD_SPARK: ("4.2.0/delta-new-id-and-pending",),
    wrongfixes.DATA_LOSS: ("4.2.0/loss-allowed",),
}
"""Wrong fixes that trials or restarts have executed, by their text."""

_REASONS: tuple[tuple[str, str], ...] = (
    (r"^holdfast (?:inspect|doctor|evidence|backups|explain|journal|state|status|diff|--help)\b",
     "command"),
    (r"^(?:run|ask) `?holdfast (?:inspect|doctor)\b", "command"),
    (r"^see (?:what is still there|which keys there are): holdfast state", "command"),
    (r"^nothing needs to be done; a backup|has none$", "nothing"),
    (r"^nothing needs to be done: the change is safe$", "nothing"),
    (r"^install pyspark here", "installs"),
    (r"^while the checkpoint still has the file: holdfast backup", "backs up"),
    (r"--sink-log-to$", "argument"),
    (r"see docs/reference/", "documentation"),
    (r"^holdfast backup (?:TARGET|JOB)\b", "backs up"),
    (r"^(?:see|find out|look|compare|ask|check|watch|wait|keep it for evidence)\b", "looks"),
    (r"^(?:without a backup: ask|where the entry is still missing: look|if somebody edited it on "
     r"purpose: find out|on an object store: compare|the data files of these batches)", "looks"),
    (r"^before the start: ask the sink", "looks"),
    (r"^(?:do not start|do not put|let no other program start|let it run|wait)", "waits"),
    (r"^(?:keep other programs away|keep every other driver away|keep large rewrites)", "waits"),
    (r"^(?:keep the default|if the job was only renamed|a change of partitions needs)", "keeps"),
    (r"^grant SELECT on the table", "access"),
    (r"^(?:run as the user|run as a user|fix what keeps|give the storage's address)", "access"),
    (r"pip install|^update Holdfast|^or use the newer version|^look whether a newer", "installs"),
    (r"^if a newer Holdfast wrote the records: start the job with that version$", "installs"),
    (r"^(?:give the driver enough memory|make room there|allow more memory)", "capacity"),
    (r"^raise the memory limit of the container", "capacity"),
    (r"^a (?:driver|process) that is dead is noticed", "waits"),
    (r"^then examine it again: holdfast doctor", "command"),
    (r"^give an empty or new directory$", "argument"),
    (r"^start the program with python or holdfast", "environment"),
    (r"^(?:or )?stop (?:this driver|the job|the query)|^a JVM that outlived", "stops"),
)  # fmt: skip
"""Steps that change neither checkpoint nor output, by how they begin."""
_FAMILIES: tuple[tuple[str, str], ...] = (
    (r"HF1\d\d\d", "project"),
    (r"HF20\d\d|HF25\d\d", "argument"),
    (r"HF27(?:28|3[89]|4[0-9]|5\d|7\d|9\d|23)", "argument"),
    (r"HF5001|HF5002|HF5005|HF5012|HF5007|HF5008|HF5021|HF504[348]|HF507[02]", "project"),
    (r"HF51\d\d|HF530[123]|HF5311", "project"),
    (r"HF52\d\d", "environment"),
    (r"HF45(?:0[2-9]|1[0-6]|2[12])", "argument"),
    (r"HF46\d\d", "argument"),
    (r"HF7\d\d\d|HF2611|HF2613|HF5028", "storage"),
)
"""Families whose steps are about the project file, options, installation or storage."""
_ACTS = re.compile(
    r"\bbackup\b|^start|start (?:it|the job|again)|checkpoint of its own|of their own|rewind|"
    r"output of its|--finish|--undo|old path back|move it back|new output|new folder|new directory|"
    r"bring the"
)
"""Words of a step that acts, whatever its family."""
_ACTS_AFTER_ALL = re.compile(
    r"put (?:the|it|them) |; read these batches|move them to|then state it|newest state back"
)
"""Words of a step that begins with a look, and goes on to act."""


def reading(code: str, step: str) -> str | None:
    """Return why a step changes neither checkpoint nor output, None for one that acts."""
    if _ACTS_AFTER_ALL.search(step):
        return None
    found = next((reason for pattern, reason in _REASONS if re.search(pattern, step)), None)
    if found is not None or _ACTS.search(step):
        return found
    return next((reason for family, reason in _FAMILIES if re.fullmatch(family, code)), None)


@cache
def restored_situations() -> dict[str, tuple[str, ...]]:
    """Return by code the damages that were restored to the bytes that Spark wrote."""
    file = TRUTH / "files.json"
    if not file.exists():
        return {}
    read = json.loads(file.read_text(encoding="utf-8"))
    return {code: tuple(names) for code, names in read.items()}
