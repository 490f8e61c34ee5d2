"""Keeps the options with which the JVMs of tests start."""

from __future__ import annotations

VARIABLE = "SPARK_SUBMIT_OPTS"
# A JVM that lives for seconds spends most of them on compiling what it will never run again, and
# the threads of a concurrent collector take the processors that the tests work on.
QUICK = "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC"
# A Spark that serves many tests compiles thousands of queries: without room for their code and
# their classes it spends a third of its time on making some.
ROOM = "-XX:ReservedCodeCacheSize=512m -XX:MetaspaceSize=512m"
