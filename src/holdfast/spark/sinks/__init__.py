"""The sinks that write: each commits rows and identity in one act, or says that it does not."""
