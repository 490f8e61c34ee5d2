"""The life of a run without pyspark: options, admission, guards, restarts, events, report."""
