#!/usr/bin/env python3
"""Measures how time and memory grow with references and clips, each size in its own process."""

import json
import resource
import subprocess
import sys
import time
from pathlib import Path


def main():
    worker, out, most_references, most_clips = sys.argv[1:5]

    def run(*arguments):
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        command = [worker, "scaling", *arguments]
        row = json.loads(subprocess.run(command, capture_output=True, text=True, check=True).stdout)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        row["process_cpu_seconds"] = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
        return row

    results = {"command": " ".join(sys.argv), "started": time.strftime("%FT%TZ", time.gmtime())}
    results["references"], results["clips"] = [], []
    for count in (100, 316, 1000, 3162, 10_000, 31_623, 100_000):
        if count <= int(most_references):
            results["references"].append(run("references", str(count)))
            print(results["references"][-1], flush=True)
    for count in (1, 16, 256, 4096, 65_536):
        if count <= int(most_clips):
            results["clips"].append(run("clips", str(count)))
            print(results["clips"][-1], flush=True)
    Path(out).write_text(json.dumps(results, indent=1) + "\n")


if __name__ == "__main__":
    main()
