#!/usr/bin/env python3
"""Counts the instructions of the hot stages and compares them with the committed counts.

    bench/instructions.py            compare; fails if a stage needs more than the tolerance
    bench/instructions.py --write    write bench/instructions.json

Times on a busy machine say little; the number of instructions hardly changes. Each stage runs
once and three times under `valgrind --tool=callgrind`; half the difference is one run without
its set-up. Counts hold for one compiler and one level of vector instructions: elsewhere the
comparison is skipped, loudly.
"""

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
COUNTS = HERE / "instructions.json"
STAGES = ["log-mel", "mfcc", "lpc", "score:128", "fit:128"]
TOLERANCE = 0.05


def skip(reason):
    print(f"SKIPPED instruction counts: {reason}")
    sys.exit(0)


def count(program, stage, repetitions):
    command = [
        "valgrind", "--tool=callgrind", "--callgrind-out-file=/dev/null",
        program, "repeat", stage, str(repetitions),
    ]
    environment = dict(os.environ, RAYON_NUM_THREADS="1")
    run = subprocess.run(command, capture_output=True, text=True, env=environment)
    found = re.search(r"Collected : (\d+)", run.stderr)
    if run.returncode != 0 or not found:
        sys.exit(f"{' '.join(command)} failed:\n{run.stderr}")
    return int(found.group(1))


def main():
    if not shutil.which("valgrind"):
        skip("valgrind is not installed (apt install valgrind)")
    rustc = subprocess.run(["rustc", "--version"], capture_output=True, text=True).stdout.strip()
    processor = Path("/proc/cpuinfo").read_text() if Path("/proc/cpuinfo").exists() else ""
    level = "avx2" if " avx2 " in processor else "none"
    committed = json.loads(COUNTS.read_text()) if COUNTS.exists() else None
    writing = sys.argv[1:] == ["--write"]
    if not writing and (committed is None or committed["rustc"] != rustc):
        skip(f"they were counted with {committed and committed['rustc']}, this is {rustc}")
    if not writing and committed["vectors"] != level:
        skip(f"they were counted with {committed['vectors']}, this machine has {level}")
    subprocess.run(
        ["cargo", "build", "--locked", "--quiet", "--profile", "dist", "-p", "auscult-bench"],
        check=True, cwd=HERE.parent,
    )
    target = Path(os.environ.get("CARGO_TARGET_DIR", HERE.parent / "target"))
    program = str(target / "dist" / "auscult-bench")
    counts = {}
    for stage in STAGES:
        counts[stage] = (count(program, stage, 3) - count(program, stage, 1)) // 2
        print(f"{stage:12} {counts[stage]:>14,}", flush=True)
    if writing:
        COUNTS.write_text(json.dumps({"rustc": rustc, "vectors": level, "counts": counts}, indent=2) + "\n")
        return
    worse = 0
    for stage, now in counts.items():
        before = committed["counts"].get(stage)
        change = now / before - 1 if before else float("inf")
        if change > TOLERANCE:
            worse += 1
            print(f"{stage}: {now:,} instructions, committed are {before:,} ({change:+.1%})")
        elif change < -TOLERANCE:
            print(f"{stage}: {-change:.1%} fewer instructions: run bench/instructions.py --write")
    if worse:
        sys.exit(f"{worse} stage(s) need over {TOLERANCE:.0%} more instructions than committed")


if __name__ == "__main__":
    main()
