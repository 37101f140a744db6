#!/usr/bin/env python3
"""An archive on a Ray cluster of this machine, with a worker that is killed in the middle.

    tools/ray.sh [CLIPS]

A head and two workers, each a process group of its own on the loopback address, score a manifest through auscult.ray.score. While they
do, one worker with everything it started is killed. Every row must be there once, and the files must be those that
auscult.archive.score writes on its own. Prints JSON.
"""

import json
import os
import signal
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

import numpy as np
import pyarrow.dataset
import ray

import auscult

RATE = 16_000
PORT = 26_379


def make(folder: Path, clips: int) -> tuple[Path, Path]:
    """A model, and a manifest of one-second parts of a few long recordings."""
    random = np.random.default_rng(1)
    normal = random.normal(0, 0.1, (40, RATE)).astype(np.float32)
    machine = auscult.Machine.learn(
        normal, sample_rate=RATE, visits=[at // 4 for at in range(40)], preset="fast", clip_seconds=1.0
    )
    machine.save(folder / "noise.auscult")
    rows = ["path,start_seconds,seconds"]
    for number in range(-(-clips // 600)):
        sound = (32767 * np.clip(random.normal(0, 0.1, 600 * RATE), -1, 1)).astype("<i2").tobytes()
        head = b"RIFF" + (36 + len(sound)).to_bytes(4, "little") + b"WAVEfmt " + (16).to_bytes(4, "little")
        head += b"\x01\0\x01\0" + RATE.to_bytes(4, "little") + (2 * RATE).to_bytes(4, "little") + b"\x02\0\x10\0"
        (folder / f"{number}.wav").write_bytes(head + b"data" + len(sound).to_bytes(4, "little") + sound)
        rows += [f"{number}.wav,{second},1" for second in range(600)]
    (folder / "clips.csv").write_text("\n".join(rows[: clips + 1]) + "\n")
    return folder / "noise.auscult", folder / "clips.csv"


def node(folder: Path, *options: str) -> subprocess.Popen:
    """A node of the cluster that ends with its process group."""
    command = [str(Path(sys.executable).parent / "ray"), "start", "--block", "--node-ip-address=127.0.0.1"]
    command += ["--num-cpus=1", "--object-store-memory=80000000", "--disable-usage-stats", *options]
    log = open(folder / f"node-{time.time_ns()}.log", "wb")
    return subprocess.Popen(command, stdout=log, stderr=log, start_new_session=True)


def kill(process: subprocess.Popen) -> None:
    try:
        os.killpg(process.pid, signal.SIGKILL)
    except ProcessLookupError:
        pass
    process.wait()


def main() -> int:
    clips = int(sys.argv[1]) if len(sys.argv) > 1 else 60_000
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        model, manifest = make(folder, clips)
        began = time.monotonic()
        alone = auscult.archive.score(manifest, model, folder / "alone")
        seconds_alone = time.monotonic() - began
        began = time.monotonic()
        nodes = [node(folder, "--head", f"--port={PORT}", "--include-dashboard=false", f"--temp-dir={folder}/ray")]
        try:
            ray_address = f"127.0.0.1:{PORT}"
            for _ in range(60):
                try:
                    ray.init(address=ray_address, _node_ip_address="127.0.0.1", log_to_driver=False)
                    break
                except (ConnectionError, RuntimeError, ValueError):
                    time.sleep(1)
            nodes += [node(folder, f"--address={ray_address}") for _ in range(2)]
            while len([one for one in ray.nodes() if one["Alive"]]) < 3:
                time.sleep(0.5)
            started = time.monotonic() - began
            killed = threading.Event()

            def watch(progress: auscult.Progress) -> None:
                # In the middle.
                if progress.done == progress.total // 3 and not killed.is_set():
                    killed.set()
                    kill(nodes[-1])

            began = time.monotonic()
            found = auscult.ray.score(manifest, model, folder / "ray", progress=watch)
            seconds = time.monotonic() - began
        finally:
            ray.shutdown()
            for process in reversed(nodes):
                kill(process)
        table = pyarrow.dataset.dataset(folder / "ray", format="parquet").to_table().sort_by("clip_id")
        expected = pyarrow.dataset.dataset(folder / "alone", format="parquet").to_table().sort_by("clip_id")
        ids = table["clip_id"].to_pylist()
        facts = {
            "clips": clips,
            "shards": found.shards,
            "rows": table.num_rows,
            "rows_twice": len(ids) - len(set(ids)),
            "rows_equal_to_one_process": table.equals(expected),
            "worker_killed": killed.is_set(),
            "seconds_to_start_the_cluster": round(started, 1),
            "seconds_on_ray": round(seconds, 1),
            "seconds_on_one_process": round(seconds_alone, 1),
            "rows_by_one_process": alone.rows,
        }
        print(json.dumps(facts, indent=1))
        is_right = facts["rows_equal_to_one_process"] and facts["worker_killed"] and not facts["rows_twice"]
        return 0 if is_right and table.num_rows == clips else 1


if __name__ == "__main__":
    sys.exit(main())
