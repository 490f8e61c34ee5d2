"""HF70xx: the place where bytes live can't be reached, listed or read."""

from __future__ import annotations

from holdfast.codes.code import Code

STORAGE_CODES: tuple[Code, ...] = (
    Code(
        "HF7001",
        "nothing exists at this location",
        "if the checkpoint is not where the query looks for it, Spark starts from the beginning",
        ("check the spelling of the path, and that the volume or bucket is the right one",),
        exit_status=21,
    ),
    Code(
        "HF7002",
        "access was denied",
        "what cannot be read is not checked",
        ("run as the user that runs the job, or give this user read access",),
    ),
    Code(
        "HF7003",
        "no reader for this kind of URL",
        "Holdfast reads local paths and what fsspec knows",
        ("give a local path, or a URL with s3, s3a, gs, abfss, hdfs or another fsspec scheme",),
        exit_status=2,
    ),
    Code(
        "HF7004",
        "the reader for this kind of URL is not installed",
        "the readers for object stores are extras, so that the core stays small",
        ("install the extra that the message names",),
        exit_status=2,
    ),
    Code(
        "HF7005",
        "this location cannot be read from here",
        "the same text means another place, or none, on this machine",
        ("give the location as this machine sees it",),
        exit_status=2,
    ),
    Code(
        "HF7006",
        "the storage failed while reading",
        "a part of the checkpoint was not seen, so nothing is concluded from it",
        ("try again; if it stays, look at the storage itself",),
    ),
    Code(
        "HF7007",
        "the storage did not answer in time",
        "a part of the checkpoint was not seen, so nothing is concluded from it",
        ("try again, or allow more time with --timeout",),
    ),
    Code(
        "HF7008",
        "credentials are missing or were rejected",
        "what cannot be read is not checked",
        ("set them under storage: in holdfast.yaml, in the environment, or with --storage-option",),
    ),
    Code(
        "HF7009",
        "something tried to write through a reader",
        "reading never writes; this is a bug in Holdfast and was stopped",
        ("please report it, with the command",),
        exit_status=1,
    ),
    Code(
        "HF7010",
        "a storage option is malformed or unknown",
        "a guessed option would read another place than the job does",
        ("write it as --storage-option key=value",),
        exit_status=2,
    ),
    Code(
        "HF7011",
        "the storage is unreachable",
        "a part of the checkpoint was not seen, so nothing is concluded from it",
        (
            "check the host, port and endpoint in the location and the storage options",
            "check that this machine may reach the storage (network, proxy, VPN)",
        ),
    ),
    Code(
        "HF7012",
        "the storage is overloaded or failed for a moment",
        "several attempts failed; a part of the checkpoint was not seen",
        ("try again in a while; if it stays, look at the storage's own health",),
    ),
    Code(
        "HF7013",
        "this is not a regular file inside the checkpoint",
        "Spark keeps a checkpoint in regular files; opening a pipe or a device could hang, and "
        "a link that leads out would show other data as the checkpoint's",
        ("look at what is there; Holdfast neither opens nor changes it",),
    ),
    Code(
        "HF7014",
        "this storage cannot create a file only if it does not exist",
        "two writers could overwrite each other's backup without noticing; what is written once "
        "must stay as it is. Tried and known to work: local file systems with hard links, and S3 "
        "with conditional writes",
        (
            "copy the checkpoint to a local directory with the storage's own tools, and back that "
            "up",
        ),
        exit_status=2,
    ),
    Code(
        "HF7015",
        "the storage failed while writing",
        "nothing half written counts: a file has all of its bytes, or it does not exist",
        ("look at the space that is left and at this user's rights, then try again",),
    ),
    Code(
        "HF7016",
        "a directory was expected, and this is a file",
        "a checkpoint is a directory that contains `metadata`, offsets/ and commits/; one file "
        "of it, or an archive, is not enough",
        (
            "give the directory that holds offsets/ and commits/",
            "unpack an archive first, and give the directory that it contained",
        ),
        exit_status=21,
    ),
)
