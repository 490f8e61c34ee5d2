"""What holds for every test."""

from __future__ import annotations

import os

# A JVM that lives for seconds spends most of them on compiling what it will never run again.
os.environ.setdefault("SPARK_SUBMIT_OPTS", "-XX:TieredStopAtLevel=1")
