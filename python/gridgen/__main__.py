"""The command `gridgen`, the program that `cargo install` installs too."""

from __future__ import annotations

import signal
import sys

from . import _core


def main() -> int:
    """Run the program with the arguments of this process and return its exit code."""
    # The program handles interrupts itself. Python would handle one only after the program has ended.
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    return _core.main(sys.argv[1:])


if __name__ == "__main__":
    sys.exit(main())
