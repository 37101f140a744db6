#!/usr/bin/env python3
"""Checks the table of the ten usual changes in ARCHITECTURE.md: every file exists, and no change touches more files than it may."""
import re
import sys
from pathlib import Path

MOST = {
    "a front end": 2, "an aggregation": 1, "a metric": 2, "a DCASE year": 1, "a chart of the report": 3,
    "a model file version": 2, "an encoder": 4, "an alarm state": 1, "a detector option": 3, "a live source": 2,
}

rows = re.findall(r"^\| (an? [^|]+?) \| (.+?) \|$", Path("ARCHITECTURE.md").read_text(), re.M)
found = {change: files for change, files in rows if change in MOST}
problems = [f"no row for {change}" for change in MOST if change not in found]
for change, files in found.items():
    paths = re.findall(r"`([^`]+)`", files)
    problems += [f"{change}: {path} does not exist" for path in paths if not Path(path).exists()]
    if len(paths) > MOST[change]:
        problems.append(f"{change}: {len(paths)} files, at most {MOST[change]} are wanted")
for problem in problems:
    print(f"guard: ARCHITECTURE.md: {problem}", file=sys.stderr)
sys.exit(1 if problems else 0)
