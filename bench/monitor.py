#!/usr/bin/env python3
"""How many machines two cores can watch: raw samples over TCP in real time, 10 s clips, the history on disk.

    bench/monitor.py [PROGRAM] [SECONDS] [MACHINES...]

For every number of machines: processor time and memory of the monitor, clips that were judged, and the time from the last sample of
an anomalous clip to its event in the history. The senders are one process beside it; its processor time is not counted.
"""
import json
import os
import platform
import resource
import selectors
import socket
import sqlite3
import subprocess
import sys
import tempfile
import time
import wave
from pathlib import Path

PROGRAM = str(Path(sys.argv[1] if len(sys.argv) > 1 else "target/dist/auscult").resolve())
SECONDS = float(sys.argv[2]) if len(sys.argv) > 2 else 45.0
COUNTS = [int(count) for count in sys.argv[3:]] or [1, 100, 500, 1000]
PRESET = os.environ.get("PRESET", "fast")
RATE, FIRST_PORT = 16_000, 20_000
TICK = os.sysconf("SC_CLK_TCK")


def run(*arguments, folder):
    subprocess.run([PROGRAM, *arguments], cwd=folder, capture_output=True, check=True, timeout=900)


def samples(path):
    with wave.open(str(path)) as sound:
        return sound.readframes(sound.getnframes())


def usage(process):
    fields = Path(f"/proc/{process.pid}/stat").read_text().rsplit(")", 1)[1].split()
    status = Path(f"/proc/{process.pid}/status").read_text()
    resident = next(int(line.split()[1]) for line in status.splitlines() if line.startswith("VmRSS"))
    return (int(fields[11]) + int(fields[12])) / TICK, resident / 1024


def connect(ports):
    streams = []
    for port in ports:
        for _ in range(600):
            try:
                streams.append(socket.create_connection(("127.0.0.1", port)))
                break
            except OSError:
                time.sleep(0.05)
    return streams


def measure(count, folder, normal, faulty):
    data = folder / f"data-{count}"
    machines = [f'[[machine]]\nname = "m{n}"\nmodel = "fan.auscult"\ntcp = "127.0.0.1:{FIRST_PORT + n}"\nsample_rate = {RATE}\n'
                f'keep = "none"\nring = "0s"\n[machine.alarm]\nraise = 1\nwindow = 1\n' for n in range(count)]
    (folder / "site.toml").write_text("\n".join(machines))
    watching = subprocess.Popen([PROGRAM, "watch", "site.toml", "--data", str(data)], cwd=folder, stderr=subprocess.DEVNULL)
    try:
        streams = connect(range(FIRST_PORT, FIRST_PORT + count))
        assert len(streams) == count, f"{len(streams)} of {count} connected"
        for stream in streams:
            stream.setblocking(False)
        # Half a second at a time; machines do not begin their clips together.
        step, size = 0.5, RATE
        offsets = [(n * 7919) % 20 for n in range(count)]
        began = time.monotonic()
        before, _ = usage(watching)
        sent, late, latencies = 0, 0.0, []
        history, faulty_at = None, None
        while time.monotonic() - began < SECONDS:
            for n, stream in enumerate(streams):
                place = (offsets[n] + sent) % 20
                # The first machine is faulty in every third clip.
                is_faulty = n == 0 and ((offsets[0] + sent) // 20) % 3 == 2
                sound = faulty if is_faulty else normal
                try:
                    stream.send(sound[place * size:(place + 1) * size])
                except BlockingIOError:
                    late = max(late, step)
            sent += 1
            if (sent % 20) == 0 and ((offsets[0] + sent - 1) // 20) % 3 == 2:
                faulty_at = time.time()
            wait = began + sent * step - time.monotonic()
            late = max(late, -wait)
            deadline = time.monotonic() + max(wait, 0.0)
            while time.monotonic() < deadline:
                if faulty_at is not None:
                    history = history or sqlite3.connect(f"file:{data}/history.db?mode=ro", uri=True)
                    found = history.execute("SELECT count(*) FROM events WHERE to_state = 'alarm' AND kind = 'state'").fetchone()[0]
                    if found > len(latencies):
                        latencies.append(time.time() - faulty_at)
                        faulty_at = None
                time.sleep(0.005)
        elapsed = time.monotonic() - began
        after, memory = usage(watching)
        time.sleep(1.0)
        with sqlite3.connect(f"file:{data}/history.db?mode=ro", uri=True) as database:
            clips = database.execute("SELECT count(*) FROM clips").fetchone()[0]
    finally:
        for stream in streams:
            stream.close()
        watching.terminate()
        watching.wait(60)
    expected = sum((sent) // 20 for _ in range(count))
    return {
        "machines": count,
        "seconds": round(elapsed, 1),
        "clips": clips,
        "clips_expected": expected,
        "cores_used": round((after - before) / elapsed, 3),
        "milliseconds_of_processor_a_clip": round(1000 * (after - before) / max(clips, 1), 2),
        "megabytes": round(memory, 1),
        "megabytes_a_machine": round(memory / count, 2),
        "senders_late_seconds": round(late, 2),
        "event_latency_milliseconds": [round(1000 * latency) for latency in latencies],
    }


def main():
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (min(hard, 65_536), hard))
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        run("synth", "--out", "made", "--layout", "visits", "--machine", "fan", "--fault", "imbalance", "--train", "100", "0", "--test", "1",
            "0", "--visits", "5", "--severity", "1", "--snr-db", "20", folder=folder)
        run("fit", "made/fan/normal", "-o", "fan.auscult", "--preset", PRESET, folder=folder)
        # A clip that was learnt, over and over: normal by any threshold.
        normal = samples(min((folder / "made/fan/normal").rglob("*.wav")))
        faulty = samples(min((folder / "made/fan/check").rglob("imbalance_*.wav")))
        result = {
            "command": " ".join(["bench/monitor.py", *sys.argv[1:]]),
            "preset": PRESET,
            "references": 100,
            "commit": subprocess.run(["git", "rev-parse", "--short", "HEAD"], capture_output=True, text=True).stdout.strip(),
            "machine": f"{os.cpu_count()} x {platform.processor() or platform.machine()}",
            "runs": [],
        }
        for count in COUNTS:
            result["runs"].append(measure(count, folder, normal, faulty))
            print(json.dumps(result["runs"][-1]), file=sys.stderr, flush=True)
        print(json.dumps(result, indent=2))


main()
