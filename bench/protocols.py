#!/usr/bin/env python3
"""How long every protocol takes on a development set as large as that of DCASE 2023, and what a clip costs.

    bench/protocols.py PROGRAM WORK_FOLDER [PROTOCOL...]

Makes seven synthetic machines of 1,000 clips to learn from and 200 to judge, of 10 s, in WORK_FOLDER (2.7 GB; those that are there are
kept), runs each protocol on them once, without a cache of vectors, and writes results/speed/DATE-protocols.json after each; rows of other
protocols that the file has from the same commit stay. The protocol cost is auscult bench cost, in DATE-cost.json. PROGRAM needs training
for table-4-small:

    cargo build --locked --profile dist -p auscult-cli --features training
    bench/protocols.py target/dist/auscult /tmp/protocols && bench/tables.py
"""
import json
import os
import shutil
import subprocess
import sys
from datetime import datetime, timezone
from pathlib import Path

from processes import peak_memory_and_seconds

ROOT = Path(__file__).resolve().parent.parent
#: Names of the data set, and what sounds in their place: kind and seed.
MACHINES = {
    "fan": ("fan", 1), "slider": ("slider", 1), "valve": ("valve", 1), "bearing": ("pump", 1), "gearbox": ("fan", 2),
    "ToyCar": ("pump", 2), "ToyTrain": ("slider", 2),
}
PROTOCOLS = [
    "cost", "table-1", "table-2", "log-mel rows of table-3", "diagnostics", "table-3 without its networks", "table-5", "figure-3",
    "figure-4", "figure-5", "genrep", "baselines", "my-folder", "table-4-small", "networks of table-3, one machine",
]


def make(program, folder):
    for name, (kind, seed) in MACHINES.items():
        target = folder / "dcase2023" / name
        if target.is_dir():
            continue
        work = folder / "making"
        shutil.rmtree(work, ignore_errors=True)
        counts = ["--train", "990", "10", "--test", "50", "50", "--severity", "0.6"]
        subprocess.run(
            [program, "synth", "--out", str(work), "--machine", kind, "--seed", str(seed), *counts],
            check=True, stdout=subprocess.DEVNULL,
        )
        target.parent.mkdir(parents=True, exist_ok=True)
        (work / kind).rename(target)
        shutil.rmtree(work)


def rows_of_table_3(folder, name, is_kept):
    """Table 3 with some of its systems."""
    text = (ROOT / "crates/auscult-eval/protocols/table-3.toml").read_text()
    head, *systems = text.split("[[system]]")
    kept = [system.split("[[cited]]")[0] for system in systems if is_kept(system)]
    path = folder / f"{name}.toml"
    path.write_text(head + "".join(f"[[system]]{system}" for system in kept))
    print(f"{name}: {len(kept)} systems")
    return path


#: Parts of a protocol that are run alone.
PARTS = {
    "log-mel rows of table-3": lambda it: 'front_end = "log-mel"\n' in it,
    # Two networks for each machine see every frame a hundred times: hours, whatever scores them.
    "table-3 without its networks": lambda it: "back_end" not in it,
    "networks of table-3, one machine": lambda it: "back_end" in it,
}


def run(program, folder, name):
    """Runs a protocol, and says what it took and what came of it."""
    protocol = rows_of_table_3(folder, name.replace(" ", "-").replace(",", ""), PARTS[name]) if name in PARTS else name
    out = folder / "run"
    shutil.rmtree(out, ignore_errors=True)
    command = [program, "bench", "run", str(protocol), "--data", str(folder), "--dataset", "dcase2023", "--out", str(out), "--no-cache"]
    if name.endswith("one machine"):
        command += ["--machine", "fan"]
    seconds, peak, processor = peak_memory_and_seconds(command)
    results = json.loads((out / "results.json").read_text())
    missing = sum(len(front_end["systems"]) for front_end in results["facts"]["missing"])
    return {
        "protocol": name, "seconds": seconds, "processor_seconds": processor, "peak_mb": peak,
        "scored": sum(row["score"] is not None for row in results["rows"]),
        "without_score": missing + sum(row["score"] is None for row in results["rows"]),
        "diagnostics": len(results.get("diagnostics", [])),
        "load": Path("/proc/loadavg").read_text().split()[0],
    }


def facts(program, arguments):
    """Where, when and with what."""
    machine = subprocess.run(["lscpu"], capture_output=True, text=True, check=True).stdout
    model = next(line.split(":", 1)[1].strip() for line in machine.splitlines() if line.startswith("Model name"))
    version = subprocess.run([program, "--version"], capture_output=True, text=True, check=True).stdout
    commit = next(line.split()[1] for line in version.splitlines() if line.startswith("commit:"))
    return {
        "commit": commit, "time": datetime.now(timezone.utc).isoformat(timespec="seconds"), "machine": model, "threads": os.cpu_count(),
        "command": " ".join(["bench/protocols.py", Path(program).name, "FOLDER", *arguments]),
    }


def main():
    program, folder = str(Path(sys.argv[1]).resolve()), Path(sys.argv[2]).resolve()
    wanted = sys.argv[3:] or PROTOCOLS
    make(program, folder)
    about = facts(program, sys.argv[3:])
    speed = ROOT / "results" / "speed"
    path = speed / f"{about['time'][:10]}-protocols.json"
    before = json.loads(path.read_text()) if path.exists() else {}
    rows = {row["protocol"]: row for row in before["rows"]} if before.get("commit") == about["commit"] else {}
    for name in wanted:
        if name == "cost":
            cost = subprocess.run([program, "bench", "cost", "--json"], stdout=subprocess.PIPE, text=True, check=True).stdout
            found = json.loads(cost) | {"time": about["time"]}
            (speed / f"{about['time'][:10]}-cost.json").write_text(json.dumps(found, indent=1) + "\n")
            continue
        rows[name] = run(program, folder, name)
        print(json.dumps(rows[name]), flush=True)
        ordered = sorted(rows.values(), key=lambda row: PROTOCOLS.index(row["protocol"]) if row["protocol"] in PROTOCOLS else len(PROTOCOLS))
        path.write_text(json.dumps(about | {"machines": len(MACHINES), "clips": 1200, "rows": ordered}, indent=1) + "\n")
    print(path)


if __name__ == "__main__":
    main()
