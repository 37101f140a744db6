#!/usr/bin/env python3
"""How many machines two cores can watch in real time: 10 s clips, the history on disk, several runs one after the other.

    bench/monitor.py [PROGRAM] [SECONDS] [RUN...] > results/monitor/machines.json

A run is PRESET:SOURCE:MACHINES, as in fast:tcp:1000 or best:files:250. Without any, the ones that are published are made. Every
run says how much processor time and memory the monitor took, whether every clip was judged, and how long it took from the last
sample of an anomalous clip to its event in the history. Whoever sends the sound is a process beside the monitor on the same
cores, and so is whoever looks for events; their processor time is not counted.
"""
import json
import multiprocessing
import os
import platform
import random
import resource
import socket
import sqlite3
import statistics
import struct
import subprocess
import sys
import tempfile
import time
import wave
from pathlib import Path

PROGRAM = str(Path(sys.argv[1] if len(sys.argv) > 1 else "target/dist/auscult").resolve())
SECONDS = float(sys.argv[2]) if len(sys.argv) > 2 else 62.0
RUNS = sys.argv[3:] or [
    "fast:tcp:1", "fast:tcp:100", "fast:tcp:500", "fast:tcp:1000", "fast:tcp:2000", "fast:files:500", "fast:files:1000",
    "best:tcp:1", "best:tcp:125", "best:tcp:250", "best:files:125", "best:files:250",
]  # fmt: skip
RATE, FIRST_PORT = 16_000, 20_000
STEPS_A_CLIP, STEP_SECONDS = 20, 0.5
FAULTY_MACHINES = 12
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


class Streams:
    """Raw samples over TCP, half a second at a time."""

    def __init__(self, folder, count):
        self.streams = [connect(FIRST_PORT + n) for n in range(count)]

    @staticmethod
    def lines(folder, n):
        return f'tcp = "127.0.0.1:{FIRST_PORT + n}"\nsample_rate = {RATE}\n'

    def deliver(self, n, place, sound, clip):
        size = len(sound) // STEPS_A_CLIP
        try:
            sent = self.streams[n].send(sound[place * size : (place + 1) * size])
            return sent == size
        except BlockingIOError:
            return False

    def end(self):
        for stream in self.streams:
            stream.close()


def connect(port):
    for _ in range(600):
        try:
            stream = socket.create_connection(("127.0.0.1", port))
            stream.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 1 << 18)
            stream.setblocking(False)
            return stream
        except OSError:
            time.sleep(0.05)
    raise SystemExit(f"nobody listens at port {port}")


class Files:
    """A WAV file of each clip, renamed into the watched folder when it is whole."""

    def __init__(self, folder, count):
        self.folder = folder

    @staticmethod
    def lines(folder, n):
        (folder / f"in/m{n}").mkdir(parents=True)
        return f'folder = "in/m{n}"\n'

    def deliver(self, n, place, sound, clip):
        if place == STEPS_A_CLIP - 1:
            # 44 bytes, PCM, one channel of 16 bits.
            header = struct.pack("<4sI4s4sIHHIIHH4sI", b"RIFF", 36 + len(sound), b"WAVE", b"fmt ", 16, 1, 1, RATE, 2 * RATE, 2, 16,
                                 b"data", len(sound))  # fmt: skip
            partial = self.folder / f"in/{n}.partial"
            partial.write_bytes(header + sound)
            partial.rename(self.folder / f"in/m{n}/clip-{clip:04}.wav")
        return True

    def end(self):
        pass


def look_for_events(path, ended, found):
    """When each alarm of the history could first be read, in a process of its own."""
    history, seen, times = sqlite3.connect(f"file:{path}?mode=ro", uri=True), 0, []
    query = "SELECT events.rowid, machines.name FROM events JOIN machines ON machines.id = machine WHERE events.rowid > ? AND kind = 'state' AND to_state = 'alarm'"
    while not ended.is_set():
        for row, machine in history.execute(query, (seen,)).fetchall():
            seen = max(seen, row)
            times.append((machine, time.time()))
        time.sleep(0.005)
    found.put(times)


def measure(preset, source, count, folder, normal, faulty):
    kind = {"tcp": Streams, "files": Files}[source]
    folder.mkdir()
    machines = [
        f'[[machine]]\nname = "m{n}"\nmodel = "../{preset}.auscult"\n{kind.lines(folder, n)}keep = "none"\nring = "0s"\n'
        "[machine.alarm]\nraise = 1\nwindow = 1\nclear = 1\n"
        for n in range(count)
    ]
    (folder / "site.toml").write_text("\n".join(machines))
    data = folder / "data"
    watching = subprocess.Popen([PROGRAM, "watch", "site.toml", "--data", str(data)], cwd=folder, stderr=open(folder / "log", "w"))
    ended, found = multiprocessing.Event(), multiprocessing.Queue()
    try:
        for _ in range(2400):
            if (data / "control.sock").exists():
                break
            assert watching.poll() is None, (folder / "log").read_text()[-2000:]
            time.sleep(0.05)
        sender = kind(folder, count)
        looking = multiprocessing.Process(target=look_for_events, args=(f"{data}/history.db", ended, found))
        looking.start()
        # Machines do not begin their clips together, and those that end together are not all on one thread of the monitor.
        chance = random.Random(count)
        offsets = [chance.randrange(STEPS_A_CLIP) for _ in range(count)]
        faulty_machines = set(chance.sample(range(count), min(count, FAULTY_MACHINES)))
        sent, late, lost, ends = 0, 0.0, 0, []
        began, (before, _) = time.monotonic(), usage(watching)
        while time.monotonic() - began < SECONDS:
            for n in range(count):
                clip, place = divmod(sent - offsets[n], STEPS_A_CLIP)
                if clip < 0:
                    continue
                # The faulty ones are faulty in every second clip.
                is_faulty = n in faulty_machines and clip % 2 == 1
                lost += not sender.deliver(n, place, faulty if is_faulty else normal, clip)
                if is_faulty and place == STEPS_A_CLIP - 1:
                    ends.append((f"m{n}", time.time()))
            sent += 1
            wait = began + sent * STEP_SECONDS - time.monotonic()
            late = max(late, -wait)
            time.sleep(max(wait, 0.0))
        elapsed = time.monotonic() - began
        after, memory = usage(watching)
        time.sleep(3.0)
        ended.set()
        events = found.get(timeout=30)
        looking.join()
        with sqlite3.connect(f"file:{data}/history.db?mode=ro", uri=True) as database:
            clips = database.execute("SELECT count(*) FROM clips").fetchone()[0]
        sender.end()
    finally:
        ended.set()
        watching.terminate()
        watching.wait(60)
    latencies = []
    for machine, at in ends:
        later = [when - at for name, when in events if name == machine and at <= when < at + STEPS_A_CLIP * STEP_SECONDS]
        latencies.append(round(1000 * min(later)) if later else None)
    known = sorted(latency for latency in latencies if latency is not None)
    return {
        "preset": preset,
        "source": source,
        "machines": count,
        "seconds": round(elapsed, 1),
        "clips": clips,
        "clips_expected": sum((sent - offset) // STEPS_A_CLIP for offset in offsets),
        "pieces_lost_by_the_sender": lost,
        "cores_used": round((after - before) / elapsed, 3),
        "milliseconds_of_processor_a_clip": round(1000 * (after - before) / max(clips, 1), 2),
        "megabytes": round(memory, 1),
        "megabytes_a_machine": round(memory / count, 2),
        "sender_late_seconds": round(late, 2),
        "anomalous_clips": len(ends),
        "events_of_them": len(known),
        "event_latency_milliseconds": {
            "median": statistics.median(known) if known else None,
            "largest": known[-1] if known else None,
            "all": latencies,
        },
    }


def main():
    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (min(hard, 65_536), hard))
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        run("synth", "--out", "made", "--layout", "visits", "--machine", "fan", "--fault", "imbalance", "--train", "100", "0", "--test", "1",
            "0", "--visits", "5", "--severity", "1", "--snr-db", "20", folder=folder)  # fmt: skip
        for preset in sorted({made.split(":")[0] for made in RUNS}):
            run("fit", "made/fan/normal", "-o", f"{preset}.auscult", "--preset", preset, folder=folder)
        # A clip that was learnt, over and over: normal by any threshold.
        normal = samples(min((folder / "made/fan/normal").rglob("*.wav")))
        faulty = samples(min((folder / "made/fan/check").rglob("imbalance_*.wav")))
        processor = [line.split(":")[1].strip() for line in Path("/proc/cpuinfo").read_text().splitlines() if line.startswith("model name")]
        result = {
            "command": " ".join(["bench/monitor.py", *sys.argv[1:]]),
            "references": 100,
            "commit": subprocess.run(["git", "rev-parse", "--short", "HEAD"], capture_output=True, text=True).stdout.strip(),
            "machine": f"{os.cpu_count()} x {processor[0] if processor else platform.machine()}",
            "load_before": os.getloadavg()[0],
            "runs": [],
        }
        for number, made in enumerate(RUNS):
            preset, source, count = made.split(":")
            result["runs"].append(measure(preset, source, int(count), folder / f"run-{number}", normal, faulty))
            print(json.dumps(result["runs"][-1]), file=sys.stderr, flush=True)
        print(json.dumps(result, indent=1))


main()
