"""The program ``auscult``, as ``python -m auscult`` and as the script of the package."""

from __future__ import annotations

import signal
import sys


def main() -> None:
    """Runs the program with the arguments of this process and ends it with the program's exit code.

    >>> import subprocess, sys
    >>> said = subprocess.run([sys.executable, "-m", "auscult", "--version"], capture_output=True, text=True).stdout
    >>> said.split()[0]
    'auscult'
    """
    from auscult import _native

    # The program watches for Ctrl-C itself; Python's handler would raise KeyboardInterrupt once it has ended.
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    sys.exit(_native.run_program(["auscult", *sys.argv[1:]]))


if __name__ == "__main__":
    main()
