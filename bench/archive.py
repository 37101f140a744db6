#!/usr/bin/env python3
"""An archive on one machine: growth, memory, and a plain script of the same log-mel part beside it.

    cargo build --profile dist -p auscult-cli
    python3 bench/archive.py [PROGRAM] [LARGEST] > results/archive/run.json

Clips are parts of a second of 100 long recordings, a tenth of a second apart, scored with `fast` by a model of 100 references; growth is from
1,000 clips to LARGEST (a million). The peer reads its clips with soundfile, computes librosa's log-mel with two views, and is spread by joblib;
it scores nothing. Both use all cores and take turns. Needs librosa, soundfile, joblib, and 4 GB on the disk.
"""

import json
import pathlib
import statistics
import subprocess
import sys
import tempfile
import time
import wave

import numpy as np

from processes import peak_memory_and_seconds

RATE, FILES, STEP = 16_000, 100, 0.1


def make_sound(folder, largest):
    random = np.random.default_rng(1)
    seconds = int(largest // FILES * STEP) + 2
    for number in range(FILES):
        with wave.open(str(folder / f"{number:02}.wav"), "wb") as file:
            file.setparams((1, 2, RATE, 0, "NONE", ""))
            for _ in range(0, seconds, 60):
                file.writeframes((3000 * random.standard_normal(60 * RATE)).clip(-32768, 32767).astype("<i2").tobytes())
    (folder / "normal").mkdir()
    for number in range(100):
        with wave.open(str(folder / f"normal/{number:02}.wav"), "wb") as file:
            file.setparams((1, 2, RATE, 0, "NONE", ""))
            file.writeframes((3000 * random.standard_normal(RATE)).astype("<i2").tobytes())


def write_manifest(path, clips):
    """Every recording has as many clips, one after the other."""
    each = clips // FILES
    with open(path, "w") as file:
        file.write("path,start_seconds,seconds\n")
        for number in range(FILES):
            file.writelines(f"{number:02}.wav,{STEP * at:.1f},1\n" for at in range(each))


def peer(folder, clips):
    """Seconds for a plain script of the log-mel part alone."""
    from joblib import Parallel, delayed

    def views(path, start):
        import librosa
        import soundfile

        sound, _ = soundfile.read(path, start=int(start * RATE), frames=RATE, dtype="float32")
        mel = librosa.feature.melspectrogram(y=sound, sr=RATE, n_fft=1024, hop_length=512, n_mels=128)
        decibels = 10 * np.log10(mel + 1e-10)
        return decibels.mean(axis=1), decibels.max(axis=1)

    rows = [line.split(",") for line in (folder / "peer.csv").read_text().split()[1:]]
    jobs = [delayed(views)(str(folder / path), float(start)) for path, start, _ in rows]
    with Parallel(n_jobs=-1) as parallel:
        parallel(jobs[:8])
        began = time.perf_counter()
        parallel(jobs)
        return time.perf_counter() - began


def main():
    program = sys.argv[1] if len(sys.argv) > 1 else "target/dist/auscult"
    largest = int(sys.argv[2]) if len(sys.argv) > 2 else 1_000_000
    with tempfile.TemporaryDirectory(dir="/var/tmp") as name:
        folder = pathlib.Path(name)
        make_sound(folder, largest)
        fit = [program, "fit", str(folder / "normal"), "-o", str(folder / "m.auscult"), "--preset", "fast", "--clip-seconds", "1"]
        subprocess.run(fit, check=True, capture_output=True)
        growth = []
        clips = 1_000
        while clips <= largest:
            write_manifest(folder / "clips.csv", clips)
            out = folder / f"out-{clips}"
            command = [program, "archive", "score", str(folder / "m.auscult"), str(folder / "clips.csv"), "--out", str(out)]
            seconds, peak, used = peak_memory_and_seconds(command)
            size = sum(path.stat().st_size for path in out.iterdir())
            growth.append(
                {
                    "clips": clips,
                    "seconds": round(seconds, 2),
                    "processor_seconds": round(used, 2),
                    "clips_a_second": round(clips / seconds),
                    "peak_mb": round(peak, 1),
                    "bytes_a_clip": round(size / clips, 1),
                }
            )
            print(growth[-1], file=sys.stderr)
            clips *= 10
        write_manifest(folder / "peer.csv", 4_000)
        rounds = []
        for turn in range(5):
            seconds = peer(folder, 4_000)
            command = [program, "archive", "score", str(folder / "m.auscult"), str(folder / "peer.csv"), "--out", str(folder / f"turn-{turn}")]
            ours, _, _ = peak_memory_and_seconds(command)
            rounds.append((seconds, ours))
            print(rounds[-1], file=sys.stderr)
        peers, own = (statistics.median(values) for values in zip(*rounds))
        last = growth[-1]
        print(
            json.dumps(
                {
                    "command": " ".join(sys.argv),
                    "commit": subprocess.check_output(["git", "rev-parse", "--short", "HEAD"], text=True).strip(),
                    "machine": machine(),
                    "growth": growth,
                    "processor_hours_a_million_clips": round(last["processor_seconds"] / last["clips"] * 1e6 / 3600, 3),
                    "beside_librosa_and_joblib": {
                        "clips": 4_000,
                        "librosa_log_mel_only_seconds": round(peers, 2),
                        "auscult_fast_whole_seconds": round(own, 2),
                        "ratio": round(peers / own, 1),
                    },
                },
                indent=1,
            )
        )


def machine():
    cpu = [line.split(":")[1].strip() for line in open("/proc/cpuinfo") if line.startswith("model name")]
    return f"{len(cpu)} x {cpu[0]}"


if __name__ == "__main__":
    main()
