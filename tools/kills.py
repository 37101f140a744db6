#!/usr/bin/env python3
"""Kills a monitor at random moments while numbered recordings arrive, and looks at what is left: every recording is scored once,
no event comes twice, the database is whole, and a replay gives the same events.

    tools/kills.py [PROGRAM] [TIMES]
"""
import csv
import io
import json
import os
import random
import shutil
import signal
import sqlite3
import subprocess
import sys
import tempfile
import time
from pathlib import Path

PROGRAM = str(Path(sys.argv[1] if len(sys.argv) > 1 else "target/debug/auscult").resolve())
TIMES = int(sys.argv[2]) if len(sys.argv) > 2 else 200
SITE = """
[[machine]]
name = "fan"
model = "fan.auscult"
folder = "in"
alarm.raise = 3
[[webhook]]
url = "http://127.0.0.1:9/nobody-is-there"
"""


def run(*arguments, folder):
    return subprocess.run([PROGRAM, *arguments], cwd=folder, capture_output=True, text=True, check=True, timeout=300).stdout


def main():
    chance = random.Random(7)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        run("synth", "--out", "made", "--layout", "visits", "--machine", "fan", "--fault", "imbalance", "--train", "24", "0", "--test",
            "40", "0", "--visits", "4", "--seconds", "1", "--severity", "1", "--snr-db", "20", folder=folder)
        run("fit", "made/fan/normal", "-o", "fan.auscult", "--preset", "paper", folder=folder)
        clips = sorted((folder / "made/fan/check").rglob("*.wav"))
        (folder / "in").mkdir()
        (folder / "site.toml").write_text(SITE)
        written, began = 0, time.monotonic()

        def put():
            nonlocal written
            shutil.copy(chance.choice(clips), folder / "moving.wav")
            os.replace(folder / "moving.wav", folder / f"in/{written:06}.wav")
            written += 1

        for _ in range(TIMES):
            watching = subprocess.Popen([PROGRAM, "watch", "site.toml", "--data", "data"], cwd=folder, stderr=subprocess.DEVNULL)
            end = time.monotonic() + chance.uniform(0.02, 0.8)
            while time.monotonic() < end:
                put()
                time.sleep(chance.uniform(0.0, 0.03))
            watching.send_signal(signal.SIGKILL)
            watching.wait()
        watching = subprocess.Popen([PROGRAM, "watch", "site.toml", "--data", "data"], cwd=folder, stderr=subprocess.DEVNULL)
        last = time.monotonic() + 300
        while time.monotonic() < last:
            status = json.loads(run("watch", "status", "--data", "data", "--json", folder=folder))["machines"]
            if status and status[0]["clips"] >= written:
                break
            time.sleep(0.2)
        watching.terminate()
        assert watching.wait(10) == 0
        rows = list(csv.DictReader(io.StringIO(run("watch", "export", "--data", "data", "--csv", folder=folder))))
        paths = [row["path"] for row in rows]
        events = [json.loads(line) for line in run("watch", "events", "--data", "data", "--jsonl", folder=folder).splitlines()]
        ids = [event["id"] for event in events]
        with sqlite3.connect(folder / "data/history.db") as database:
            whole = database.execute("PRAGMA integrity_check").fetchone()[0]
            waiting, told = database.execute("SELECT count(*), count(DISTINCT event) FROM outbox").fetchone()
        replayed = run("watch", "replay", "--data", "data", folder=folder)
        result = {
            "kills": TIMES,
            "recordings": written,
            "scored": len(paths),
            "scored_twice": len(paths) - len(set(paths)),
            "lost": written - len(set(paths)),
            "events": len(ids),
            "events_twice": len(ids) - len(set(ids)),
            "messages": waiting,
            "messages_twice": waiting - told,
            "database": whole,
            "replay_equals_live": "the same as in the history" in replayed,
            "seconds": round(time.monotonic() - began),
        }
        print(json.dumps(result, indent=2))
        fine = not (result["scored_twice"] or result["lost"] or result["events_twice"] or result["messages_twice"])
        if not (fine and whole == "ok" and result["replay_equals_live"]):
            raise SystemExit("kills: something was lost or came twice")


main()
