"""One file a command: it parses, calls the engine, and hands the answer to a face."""
