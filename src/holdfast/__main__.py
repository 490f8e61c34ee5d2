"""`python -m holdfast` is `holdfast`."""

from __future__ import annotations

import sys


def main() -> None:
    """Run a command; whoever presses Ctrl-C while it is still being loaded sees no traceback."""
    try:
        from holdfast.cli.main import main as run_command

        run_command()
    except KeyboardInterrupt:
        sys.exit(130)


if __name__ == "__main__":
    main()
