#!/usr/bin/env python3
"""`auscult watch` with a camera's sound over RTSP and a microphone. Every wait has an end, and everything that is started is stopped.

    tools/sources.py PROGRAM        (built with --features microphone,rtsp)
"""
import array
import json
import os
import signal
import socket
import subprocess
import sys
import tempfile
import time
import wave
from pathlib import Path

PROGRAM = os.path.realpath(sys.argv[1])
CAMERA = Path(__file__).with_name("camera.py")
LONGEST = 90.0


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def wait_for(what, is_so):
    began = time.monotonic()
    while time.monotonic() - began < LONGEST:
        found = is_so()
        if found:
            return found
        time.sleep(0.2)
    raise SystemExit(f"sources: {what} does not come")


def run(*arguments, folder, code=0, **more):
    ran = subprocess.run([PROGRAM, *arguments], cwd=folder, capture_output=True, text=True, timeout=300, **more)
    if ran.returncode != code:
        raise SystemExit(f"sources: {arguments} ended with {ran.returncode}: {ran.stdout}{ran.stderr}")
    return ran.stdout + ran.stderr


def check(condition, what):
    if not condition:
        raise SystemExit(f"sources: not so: {what}")


def join(files, output):
    """One recording of several; returns its samples."""
    frames = b"".join(wave.open(str(file)).readframes(1 << 30) for file in files)
    with wave.open(str(output), "wb") as written:
        written.setparams((1, 2, 16_000, 0, "NONE", ""))
        written.writeframes(frames)
    return frames


class Watching:
    """A monitor that is stopped at the end."""

    def __init__(self, folder, site, environment=None):
        (folder / "site.toml").write_text(site)
        self.folder, self.log = folder, open(folder / "log", "w")
        self.process = subprocess.Popen([PROGRAM, "watch", "site.toml", "--data", "data"], cwd=folder, stderr=self.log,
                                        env={**os.environ, **(environment or {})})

    def machines(self):
        status = json.loads(run("watch", "status", "--data", "data", "--json", folder=self.folder).strip() or '{"machines": []}')
        return {machine["name"]: machine for machine in status["machines"]}

    def is_in(self, name, *states):
        return lambda: self.machines().get(name, {}).get("state") in states

    def says(self, text):
        return lambda: any(text in json.dumps(machine["source"]) for machine in self.machines().values())

    def __enter__(self):
        wait_for("the monitor", lambda: (self.folder / "data").exists() and self.machines())
        return self

    def __exit__(self, kind, *_):
        self.process.send_signal(signal.SIGTERM)
        code = self.process.wait(10)
        if kind:
            print((self.folder / "log").read_text(), file=sys.stderr)
        else:
            check(code == 0, "a clean end")


def cameras(folder):
    codings = ["l16", "pcmu", "pcma", "aac"]
    port = free_port()

    def start():
        process = subprocess.Popen([sys.executable, CAMERA, str(port), str(folder / "playing.wav")], stdout=subprocess.PIPE)
        check(process.stdout.readline() == b"ready\n", "the cameras are there")
        return process

    machines = "".join(f"""
[[machine]]
name = "{name}"
model = "{'telephone' if name.startswith('pcm') else 'fan'}.auscult"
rtsp = "rtsp://ada:secret@127.0.0.1:{port}/{name}"
no_data_after = "8s"
""" for name in codings)
    machines += f"""
[[machine]]
name = "g722"
rtsp = "rtsp://127.0.0.1:{port}/g722"
[[machine]]
name = "picture"
rtsp = "rtsp://127.0.0.1:{port}/picture"
"""
    camera = start()
    try:
        with Watching(folder, machines) as watching:
            for name in codings:
                wait_for(f"{name}: normal", watching.is_in(name, "normal"))
            wait_for("a coding that is not read", watching.says("its sound is coded as g722"))
            wait_for("a camera without sound", watching.says("pictures and no sound"))
            check("secret" not in (folder / "log").read_text(), "no password in the log")
            print("sources: L16, PCMU, PCMA and AAC over RTSP are judged, and normal")
            camera.kill()
            camera.wait()
            wait_for("no data", watching.is_in("l16", "no-data"))
            camera = start()
            wait_for("normal again", watching.is_in("l16", "normal"))
            print("sources: a camera that was away is back")
    finally:
        camera.kill()
        camera.wait()


def microphone(folder):
    samples = array.array("h", (folder / "playing.raw").read_bytes())
    # Two channels, as floating point, which is the form that is asked for first: the machine is the second one.
    both = array.array("f", (value for sample in samples for value in (0.0, sample / 32_768)))
    (folder / "both.raw").write_bytes(both.tobytes())
    (folder / "alsa.conf").write_text(f"""
</usr/share/alsa/alsa.conf>
pcm.hall {{
    type file
    slave.pcm "null"
    file "/dev/null"
    infile "{folder}/both.raw"
    format raw
    hint {{ show on description "a microphone in the hall" }}
}}
""")
    site = """
[[machine]]
name = "fan"
model = "fan.auscult"
microphone = "hall"
sample_rate = 16000
channel = 2
"""
    with Watching(folder, site, {"ALSA_CONFIG_PATH": str(folder / "alsa.conf")}) as watching:
        # The device plays as fast as it is read: a moment later the recording is over.
        wait_for("normal", lambda: '"to":"normal"' in run("watch", "events", "--data", "data", "--jsonl", folder=folder))
        print("sources: a microphone is judged, and normal")


def main():
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        made = ["--layout", "visits", "--machine", "fan", "--fault", "imbalance", "--train", "24", "0", "--test", "30", "0", "--visits",
                "4", "--seconds", "2", "--severity", "1", "--snr-db", "20"]
        run("synth", "--out", "made", *made, folder=folder)
        normal = sorted((folder / "made/fan/check").rglob("normal_*.wav"))
        (folder / "playing.raw").write_bytes(join(normal, folder / "playing.wav"))
        run("fit", "made/fan/normal", "-o", "fan.auscult", "--preset", "fast", "--clip-seconds", "2", folder=folder)
        # What a telephone line leaves of it.
        run("fit", "made/fan/normal", "-o", "telephone.auscult", "--preset", "fast", "--clip-seconds", "2", "--sample-rate", "8000",
            folder=folder)
        for what in (cameras, microphone):
            place = folder / what.__name__
            place.mkdir()
            for file in ("fan.auscult", "telephone.auscult", "playing.wav", "playing.raw"):
                (place / file).hardlink_to(folder / file)
            what(place)
    print("sources: all of it works")


main()
