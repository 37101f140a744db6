#!/usr/bin/env python3
"""What `fit --storage f16|int8` does to scores: writes results/storage.md.

    tools/measure_storage.py PROGRAM FOLDER [FOLDER ...]

Each folder has manifest.csv (path,machine,section,split,label,domain). Normal training clips are fitted once in each
storage, and the test clips scored by every model.
"""

import csv
import subprocess
import sys
import tempfile
from pathlib import Path

FRONT_ENDS = ("log-mel", "mfcc", "lpc", "ced")
STORAGES = ("f32", "f16", "int8")


def area(normal, anomalous):
    """AUC by counting pairs."""
    wins = sum((a > n) + 0.5 * (a == n) for a in anomalous for n in normal)
    return 100 * wins / (len(normal) * len(anomalous))


def scores(program, model, manifest):
    run = subprocess.run([program, "score", model, manifest, "--csv"], capture_output=True, text=True)
    rows = list(csv.DictReader(run.stdout.splitlines()))
    if not rows:
        sys.exit(f"no scores: {run.stderr}")
    return [float(row["score"]) for row in rows]


def measure(program, folder, work):
    rows = list(csv.DictReader(open(folder / "manifest.csv")))
    manifests = {}
    for split in ("train", "test"):
        manifests[split] = work / f"{split}.csv"
        paths = [str((folder / row["path"]).resolve()) for row in rows if row["split"] == split]
        manifests[split].write_text("\n".join(["path", *paths]) + "\n")
    labels = [row["label"] for row in rows if row["split"] == "test"]
    for front_end in FRONT_ENDS:
        plain = None
        for storage in STORAGES:
            model = work / f"{front_end}-{storage}.auscult"
            convention = ["--convention", "spectrum"] if front_end == "lpc" else []
            command = [program, "fit", manifests["train"], "-o", model, "--front-end", front_end, *convention, "--storage", storage]
            subprocess.run(command, check=True, capture_output=True)
            found = scores(program, model, manifests["test"])
            plain = plain or found
            changes = sorted(abs(a / b - 1) for a, b in zip(found, plain))
            normal = [score for score, label in zip(found, labels) if label == "normal"]
            anomalous = [score for score, label in zip(found, labels) if label != "normal"]
            yield (
                f"| {folder.name} | {front_end} | {storage} | {model.stat().st_size / 1000:.0f} kB | "
                f"{100 * changes[len(changes) // 2]:.3f} % | {100 * changes[-1]:.3f} % | {area(normal, anomalous):.2f} |"
            )


def main():
    program, folders = sys.argv[1], [Path(folder) for folder in sys.argv[2:]]
    version = subprocess.run([program, "--version"], capture_output=True, text=True).stdout
    commit = next(line for line in version.splitlines() if line.startswith("commit"))
    lines = [
        "# What smaller storage does to scores",
        "",
        f"`tools/measure_storage.py PROGRAM FOLDER`, {commit}. Change: of the scores of the test clips, against f32.",
        "",
        "| clips | front end | storage | model file | median change | largest change | AUC |",
        "|---|---|---|---|---|---|---|",
    ]
    for folder in folders:
        with tempfile.TemporaryDirectory() as work:
            lines += measure(program, folder, Path(work))
    Path("results/storage.md").write_text("\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
