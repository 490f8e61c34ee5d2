"""Pages: what the deployment has to provide: access to files and object stores, jars that fit
together."""

from __future__ import annotations

from holdfast.diagnosis.explain.pages import Page

ACCESS_PAGES: tuple[Page, ...] = (
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
        "HDFS denies this user access to a file or directory",
        "The name node compared the user with owner, group and mode of the inode that the message "
        "names, and with its ACL. The user is the one that Spark runs as, on YARN often the user "
        "who submitted the job.",
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
        "a task could not create a directory on the file system that it sees",
        "`Mkdirs failed to create` comes from a local path: the user of the executor may not "
        "write there, or the path exists on the driver's machine only. `cwd=` in the message "
        "shows which machine's working directory it was.",
        (
            "Creating the directory on every worker by hand: each then writes its own part to its "
            "own disk, and no reader sees all rows.",
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
    Page(
        "host-unknown",
        "a host name cannot be resolved",
        "The machine that reports this found no address for the name: a misspelled host, DNS that "
        "does not know it from inside this container or network, or, with HDFS, a name service "
        "whose configuration (`hdfs-site.xml`) is not on the class path. Nothing was read or "
        "written there; a batch in progress is run again by the next start.",
        (
            "An address in place of the name in a checkpoint's path: Spark compares recorded paths "
            "as they are written.",
        ),
        (
            "Resolve the name on the machine that failed, driver or executor: `getent hosts NAME`.",
            "For an HDFS name service, give Spark the cluster's configuration with "
            "`HADOOP_CONF_DIR`. Then start again.",
        ),
        fragments=("java.net.UnknownHostException:",),
        unseen="names are resolved when Spark runs",
        general=True,
    ),
)


_DEPLOYED = "it is a matter of the deployment"

CLASSPATH_PAGES: tuple[Page, ...] = (
    Page(
        "filesystem-class-missing",
        "Spark has no file system for the scheme of this path",
        "`s3a://`, `abfss://` and `gs://` need a jar of Hadoop or of the vendor that is not part "
        "of Spark. Nothing was read or written; the checkpoint at that path is as it was.",
        (
            "Changing the scheme (`s3://` for `s3a://`) to make the error go away: paths in the "
            "checkpoint name the old one.",
            "A `hadoop-aws` of another release than the Hadoop in this Spark: it fails later, "
            "with NoSuchMethodError.",
        ),
        (
            "Add the jar in the release of Spark's Hadoop: `org.apache.hadoop:hadoop-aws` for "
            "s3a, `hadoop-azure` for abfss, Google's `gcs-connector` for gs. "
            "`spark.sparkContext._jvm.org.apache.hadoop.util.VersionInfo.getVersion()` shows it.",
            "A job of `holdfast run` needs no step for s3a: its jars come from the lock.",
        ),
        fragments=(
            "ClassNotFoundException: Class org.apache.hadoop.fs. … not found",
            "ClassNotFoundException: Class com.google.cloud.hadoop.fs. … not found",
            "ClassNotFoundException: org.apache.hadoop.fs.s#a.S#AFileSystem",
            "UnsupportedFileSystemException: No FileSystem for scheme",
            "java.io.IOException: No FileSystem for scheme",
        ),
        unseen=_DEPLOYED,
        general=True,
    ),
    Page(
        "jdbc-driver-missing",
        "the JDBC driver of the database is not on the class path",
        "`No suitable driver` means that no loaded driver accepts the URL: its jar is missing, or "
        "the URL is misspelled. No row was written.",
        ("Writing to the database from Python inside a UDF, to avoid the jar.",),
        (
            "Add the driver's jar with `spark.jars` or `spark.jars.packages`, and set the option "
            '`driver`, such as `option("driver", "org.postgresql.Driver")`.',
            "Check the URL: `jdbc:postgresql://host:5432/database`.",
        ),
        fragments=(
            "java.sql.SQLException: No suitable driver",
            "ClassNotFoundException: org.postgresql.Driver",
            "ClassNotFoundException: com.mysql.cj.jdbc.Driver",
            "ClassNotFoundException: oracle.jdbc.OracleDriver",
            "ClassNotFoundException: com.microsoft.sqlserver.jdbc.SQLServerDriver",
        ),
        unseen="the class path is known when Spark runs",
        general=True,
    ),
    Page(
        "class-missing",
        "a class is not on the class path",
        "A jar is missing on the driver or on the executors, or only a part of what it depends on "
        "was added. A restart after a new image or an upgrade often ends here.",
        (
            "Copying jars until it starts: two releases of one library fail later and in worse "
            "ways.",
        ),
        (
            "Find the jar that holds the class, and add it with all it depends on: "
            "`spark.jars.packages` fetches these as well, `spark.jars` does not.",
            "Check that executors get it too: a jar that only the driver has is not enough.",
        ),
        fragments=("java.lang.NoClassDefFoundError:", "java.lang.ClassNotFoundException:"),
        unseen="jars are known only when Spark runs",
        general=True,
    ),
    Page(
        "class-versions-clash",
        "two jars of different releases do not fit together",
        "A class was found, but it does not have a method that its caller was compiled against: a "
        "connector for another Spark, another Scala (`_2.12` and `_2.13`), or two releases of one "
        "library. A batch may have run in part; it is run again by the next start.",
        ("Excluding classes by trial: the clash moves to a rarer path.",),
        (
            "Take the connector built for exactly this Spark and Scala; the suffix of its name "
            "shows which.",
            "List duplicates: `jar tf` over the jars, for the class in the message.",
        ),
        fragments=(
            "java.lang.NoSuchMethodError:",
            "java.lang.AbstractMethodError:",
            "java.lang.IncompatibleClassChangeError:",
            "java.lang.NoSuchFieldError:",
        ),
        unseen="which jars meet is known only when Spark runs",
        general=True,
    ),
)
