"""Pages: jars that are missing, or that do not fit together."""

from __future__ import annotations

from holdfast.diagnosis.explain.pages.page import Page

_DEPLOYED = "it is a matter of the deployment"

PAGES: tuple[Page, ...] = (
    Page(
        "filesystem-class-missing",
        "Spark has no file system for the scheme of this path",
        "`s3a://`, `abfss://` and `gs://` need a jar of Hadoop's or of the vendor that is not part "
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
        ("Writing to the database from Python inside of a UDF, to avoid the jar.",),
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
        "A class was found, and it lacks a method that its caller was compiled against: a "
        "connector for another Spark, another Scala (`_2.12` and `_2.13`), or two releases of one "
        "library. A batch may have run in part; it is run again by the next start.",
        ("Excluding classes by trial: the clash moves to a rarer path.",),
        (
            "Take the connector built for exactly this Spark and Scala; the suffix of its name "
            "tells which.",
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
