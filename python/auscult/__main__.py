"""The program ``auscult``, as ``python -m auscult`` and as the script of the package."""

from __future__ import annotations

import sys


def main() -> None:
    """Runs the program with the arguments of this process and ends it with the program's exit code.

    >>> from auscult.__main__ import main
    >>> main.__name__
    'main'
    """
    from auscult import _native

    sys.exit(_native.run_program(["auscult", *sys.argv[1:]]))


if __name__ == "__main__":
    main()
