"""Pages: a file system or an object store denies access to a user."""

from __future__ import annotations

from holdfast.diagnosis.explain.pages.page import Page

PAGES: tuple[Page, ...] = (
    Page(
        "object-store-access-denied",
        "the object store denies access (status 403)",
        "The credentials that Spark uses may not read, list or write this key: a policy, a missing "
        "role, expired temporary credentials, or a bucket that belongs to another account. "
        "Without the right to list, S3 answers 403 also for keys that do not exist.",
        (
            "Making the bucket public to get on.",
            "A copy of the checkpoint in a bucket where one may write: two copies then claim one "
            "identity.",
        ),
        (
            "Find out which credentials are used, on the driver and on executors: "
            "`fs.s3a.aws.credentials.provider`, the instance's role, the pod's service account.",
            "Allow them GetObject, PutObject, DeleteObject and ListBucket on the path that is "
            "named; with encryption also the key in KMS. Then start again.",
        ),
        fragments=(
            "AccessDeniedException: … Status Code: 403",
            "AccessDeniedException: … 403 Forbidden",
        ),
        codes=("HF7002", "HF7008", "HF5107"),
        general=True,
    ),
    Page(
        "hdfs-permission-denied",
        "HDFS denies this user access to a file or folder",
        "The name node compared the user with owner, group and mode of the inode that the message "
        "names, and with its ACL. The user is the one that Spark runs as, on YARN often the one "
        "who submitted.",
        (
            "Setting `HADOOP_USER_NAME=hdfs`: files then belong to the superuser, and the next "
            "start as the job's own user fails.",
            "`hdfs dfs -chmod -R 777`: everybody may then change the data.",
        ),
        (
            "Read user, access (READ, WRITE or EXECUTE) and inode in the message; EXECUTE is the "
            "right to enter a folder above.",
            "Let an owner give that right with `hdfs dfs -setfacl` or `-chown`, or run the job as "
            "the user that owns the place. Then start again.",
        ),
        fragments=(
            "org.apache.hadoop.security.AccessControlException: Permission denied: user=",
            "AccessControlException: Permission denied: user=",
        ),
        codes=("HF7002", "HF5107"),
        general=True,
    ),
    Page(
        "folder-not-created",
        "a task could not create a folder on the file system that it sees",
        "`Mkdirs failed to create` comes from a local path: the user of the executor may not write "
        "there, or the path exists on the driver's machine only. `cwd=` in the message tells which "
        "machine's working directory it was.",
        (
            "Creating the folder on every worker by hand: each then writes its own part to its own "
            "disk, and no reader sees all rows.",
        ),
        (
            "On a cluster, use a path that all machines share: HDFS, an object store, or a network "
            "mount at the same place everywhere.",
            "On one machine, give the user that runs Spark write access to the folder above.",
        ),
        fragments=("Mkdirs failed to create", "java.io.IOException: Mkdirs failed to create"),
        codes=("HF3028",),
        general=True,
    ),
)
