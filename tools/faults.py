#!/usr/bin/env python3
"""What happens to a monitor in bad days: a disk that is full for a while, and ten thousand recordings at once. Everything is stopped and
unmounted at the end.

    tools/faults.py [PROGRAM] [RECORDINGS]        as root, for a disk of its own; without, the full disk is SKIPPED and said so
"""
import json
import os
import shutil
import signal
import socket
import sqlite3
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

PROGRAM = os.path.realpath(sys.argv[1] if len(sys.argv) > 1 else "target/debug/auscult")
# Recordings on a full disk: the history lets 4,608 results wait, and the thread that judges 256 recordings.
WAITING = 6_000
RECORDINGS = int(sys.argv[2]) if len(sys.argv) > 2 else 10_000


def wait_for(what, is_so, longest=60.0):
    began = time.monotonic()
    while time.monotonic() - began < longest:
        found = is_so()
        if found:
            return found
        time.sleep(0.2)
    raise SystemExit(f"faults: {what} does not come")


def check(condition, what):
    if not condition:
        raise SystemExit(f"faults: not so: {what}")


def run(*arguments, folder):
    ran = subprocess.run([PROGRAM, *arguments], cwd=folder, capture_output=True, text=True, timeout=300)
    check(ran.returncode == 0, f"{arguments} ends well: {ran.stderr}")
    return ran.stdout


class Watching:
    def __init__(self, folder, data):
        self.folder, self.data, self.log = folder, data, folder / "log"
        # What a system would hear: that it is alive.
        self.pats, self.socket = [], socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        (folder / "notify").unlink(missing_ok=True)
        self.socket.bind(str(folder / "notify"))
        threading.Thread(target=self.hear, daemon=True).start()
        surroundings = {**os.environ, "NOTIFY_SOCKET": str(folder / "notify"), "WATCHDOG_USEC": "60000000"}
        self.process = subprocess.Popen([PROGRAM, "watch", "site.toml", "--data", data], cwd=folder, stderr=open(self.log, "w"), env=surroundings)

    def hear(self):
        while True:
            if b"WATCHDOG=1" in self.socket.recv(4096):
                self.pats.append(time.monotonic())

    def clips(self):
        """Recordings in the history, each with how often it is there."""
        try:
            with sqlite3.connect(f"file:{self.data}/history.db?mode=ro", uri=True) as history:
                return dict(history.execute("SELECT path, count(*) FROM clips GROUP BY path"))
        except sqlite3.Error:
            return {}

    def stop(self):
        self.process.send_signal(signal.SIGTERM)
        began = time.monotonic()
        code = self.process.wait(30)
        check(code == 0, f"a clean end, but {code}: {self.log.read_text()[-2000:]}")
        return time.monotonic() - began


def prepare(folder):
    run("synth", "--out", "made", "--layout", "visits", "--machine", "fan", "--fault", "imbalance", "--train", "20", "0", "--test", "4", "0",
        "--visits", "4", "--seconds", "1", folder=folder)
    run("fit", "made/fan/normal", "-o", "fan.auscult", "--preset", "paper", folder=folder)
    (folder / "in").mkdir()
    (folder / "site.toml").write_text('[[machine]]\nname = "fan"\nmodel = "fan.auscult"\nfolder = "in"\nkeep = "none"\n')
    return sorted((folder / "made/fan/check").rglob("normal_*.wav"))


def many_at_once(folder):
    clips = prepare(folder)
    (folder / "heap").mkdir()
    for number in range(RECORDINGS):
        os.link(clips[number % len(clips)], folder / f"heap/{number:05}.wav")
    watching = Watching(folder, folder / "data")
    try:
        wait_for("the monitor", lambda: (folder / "data/history.db").exists())
        began = time.monotonic()
        os.rename(folder / "heap", folder / "in/heap")
        wait_for(f"{RECORDINGS} recordings", lambda: len(watching.clips()) == RECORDINGS, 900)
        seconds = time.monotonic() - began
        memory = [line for line in Path(f"/proc/{watching.process.pid}/status").read_text().splitlines() if line.startswith("VmHWM")]
        check(set(watching.clips().values()) == {1}, "every recording is scored once")
    finally:
        ended = watching.stop()
    check(ended < 5, f"it ends within five seconds, not {ended:.1f}")
    found = {"recordings": RECORDINGS, "seconds": round(seconds, 1), "peak_memory_mb": int(memory[0].split()[1]) // 1000}
    print(f"faults: {json.dumps(found)}")


def full_disk(folder):
    disk = folder / "disk"
    disk.mkdir()
    if subprocess.run(["mount", "-t", "tmpfs", "-o", "size=16m", "tmpfs", disk], capture_output=True).returncode:
        print("faults: SKIPPED the full disk: a disk of its own can be mounted by root only")
        return
    try:
        clips = prepare(folder)
        watching = Watching(folder, disk / "data")
        try:
            wait_for("the monitor", lambda: (disk / "data/history.db").exists())
            time.sleep(1)
            filler = disk / "filler"
            with open(filler, "wb", buffering=0) as full:
                try:
                    while True:
                        full.write(bytes(4096))
                except OSError:
                    pass
            # More than may wait in memory.
            (folder / "heap").mkdir()
            for number in range(WAITING):
                os.link(clips[number % len(clips)], folder / f"heap/{number:04}.wav")
            os.rename(folder / "heap", folder / "in/heap")
            wait_for("the disk is full", lambda: "nothing is lost" in watching.log.read_text())
            before = len(watching.clips())
            check(before < WAITING, "the disk was full before all was written")
            time.sleep(60)
            check(watching.process.poll() is None, "the monitor lives on")
            watching.pats.clear()
            time.sleep(15)
            check(len(watching.pats) > 1, "the watchdog is told that it is alive")
            # Asked to stop, it does not wait for somebody to make room.
            check(watching.stop() < 5, "it ends within five seconds on a full disk, too")
            filler.unlink()
            watching = Watching(folder, disk / "data")
            wait_for("all recordings", lambda: len(watching.clips()) == WAITING, 300)
            check(set(watching.clips().values()) == {1}, "every recording is scored once")
        finally:
            watching.stop()
        with sqlite3.connect(disk / "data/history.db") as history:
            check(history.execute("PRAGMA integrity_check").fetchone() == ("ok",), "the history is whole")
        check("the same as in the history" in run("watch", "replay", "--data", disk / "data", folder=folder), "replay equals live")
        print(f"faults: a disk that was full after {before} of {WAITING} recordings, and then had room: all of them are there, each once")
    finally:
        subprocess.run(["umount", "-l", disk], check=True)


for fault in (full_disk, many_at_once):
    with tempfile.TemporaryDirectory() as name:
        fault(Path(name))
print("faults: nothing was lost")
