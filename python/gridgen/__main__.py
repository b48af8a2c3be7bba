"""The command `gridgen`: the same program as that of `cargo install`."""

from __future__ import annotations

import signal
import sys

from . import _core


def main() -> int:
    """Run the program with the arguments of this process and return its exit code."""
    # The program handles interrupts itself; Python would wait for it to end before it takes notice of one.
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    return _core.main(sys.argv[1:])


if __name__ == "__main__":
    sys.exit(main())
