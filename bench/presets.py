#!/usr/bin/env python3
"""What the preset `fast` costs on one thread, beside the same in numpy and librosa, in turns.

    cargo build --profile dist -p auscult-bench
    RAYON_NUM_THREADS=1 OMP_NUM_THREADS=1 python3 bench/presets.py [ROUNDS] > results/presets/cost.json
    python3 bench/presets.py growth > results/presets/growth.jsonl

Both go from the samples of a 10 s clip at 16 kHz to a score against 500 references: log-mel in the DCASE form with
two views and four bands, and the modulation spectrum with the scaled distance. Needs numpy and librosa. Growth is
measured on all threads, of `best` with as many numbers as CED gives in the place of CED itself.
"""

import json
import pathlib
import statistics
import subprocess
import sys
import time

import numpy as np

ROOT = pathlib.Path(__file__).resolve().parents[1]
WORKER = ROOT / "target/dist/auscult-bench"
RATE, COUNT = 16_000, 500
BANDS = [(0, 38), (38, 76), (76, 114), (90, 128)]


def mel_triangles():
    """16 triangles from 30 Hz to 8 kHz, linear in hertz, HTK mel."""
    mel = lambda hertz: 2595 * np.log10(1 + hertz / 700)
    edges = 700 * (10 ** (np.linspace(mel(30), mel(RATE / 2), 18) / 2595) - 1)
    hertz = np.arange(129) * RATE / 256
    rise = (hertz - edges[:-2, None]) / (edges[1:-1] - edges[:-2])[:, None]
    fall = (edges[2:, None] - hertz) / (edges[2:] - edges[1:-1])[:, None]
    return np.clip(np.minimum(rise, fall), 0, None)


TRIANGLES = mel_triangles()
WINDOW = np.hanning(256)


def modulation(samples):
    frames = np.lib.stride_tricks.sliding_window_view(samples, 256)[::64] * WINDOW
    power = np.abs(np.fft.rfft(frames, axis=1)) ** 2
    log = np.log(power @ TRIANGLES.T + 1e-10)
    log = (log - log.mean(axis=0)) * np.hanning(len(log))[:, None]
    lines = np.abs(np.fft.rfft(log, axis=0)) / len(log)
    width = RATE / 64 / len(log)
    edges = [int(np.ceil((0.5 + at) / width)) for at in range(120)] + [int(np.floor(120 / width))]
    sums = [lines[start : max(end, start + 1)].mean(axis=0) for start, end in zip(edges, edges[1:])]
    return np.array(sums).T.ravel()


def log_mel(samples):
    import librosa  # growth goes without

    mel = librosa.feature.melspectrogram(y=samples, sr=RATE, n_fft=1024, hop_length=512, n_mels=128)
    decibels = 10 * np.log10(mel + np.finfo(float).eps)
    return decibels.mean(axis=1), decibels.max(axis=1)


def unit(rows):
    return rows / np.linalg.norm(rows, axis=-1, keepdims=True)


class Memory:
    def __init__(self, random):
        self.views = [random.normal(-40, 3, (COUNT, 128)).cumsum(axis=1) / 10 - 40 for _ in range(2)]
        lines = unit(np.abs(random.normal(size=(COUNT, 1920))))
        variance = lines.var(axis=0)
        self.weights = 1 / np.sqrt(variance + 0.5 * variance.mean())
        self.lines = lines * self.weights
        self.scales = random.uniform(0.5, 1, COUNT)

    def score(self, samples):
        bands = []
        for view, memory in zip(log_mel(samples), self.views):
            for start, end in BANDS:
                difference = unit(view[start:end]) - unit(memory[:, start:end])
                bands.append(((difference**2).sum(axis=1) / 4 / self.scales).min())
        lines = unit(modulation(samples)) * self.weights
        return np.mean(bands), (((lines - self.lines) ** 2).sum(axis=1) / self.scales).min()


def growth():
    """What both presets cost with growing memories; calibration is left out at 100,000 references."""
    sizes = [(100, "calibrate"), (1000, "calibrate"), (10_000, "calibrate"), (10_000, "fit"), (100_000, "fit")]
    for preset in ("fast", "best"):
        for count, how in sizes:
            run = subprocess.run([WORKER, "growth", preset, str(count), how], capture_output=True, text=True, check=True)
            print(run.stdout, end="", flush=True)


def main():
    if sys.argv[1:] == ["growth"]:
        return growth()
    rounds = int(sys.argv[1]) if len(sys.argv) > 1 else 30
    random = np.random.default_rng(1)
    memory, samples = Memory(random), random.normal(size=10 * RATE).astype(np.float32) * 0.1
    ours, theirs = [], []
    memory.score(samples)
    for _ in range(rounds):
        run = subprocess.run([WORKER, "preset", str(COUNT), "20"], capture_output=True, text=True, check=True)
        ours.append(json.loads(run.stdout))
        start = time.perf_counter()
        memory.score(samples)
        theirs.append((time.perf_counter() - start) * 1e3)
    middle = lambda key: statistics.median(one[key] for one in ours)
    commit = subprocess.run(["git", "-C", ROOT, "rev-parse", "--short", "HEAD"], capture_output=True, text=True).stdout.strip()
    processor = [line.split(":")[1].strip() for line in open("/proc/cpuinfo") if line.startswith("model name")][:1]
    print(json.dumps({
        "command": "RAYON_NUM_THREADS=1 OMP_NUM_THREADS=1 python3 bench/presets.py " + str(rounds),
        "commit": commit, "processor": processor, "rounds": rounds,
        "auscult": {key: middle(key) for key in ("samples_to_score_ms", "extract_ms", "score_ms", "fit_ms", "fit_and_calibrate_ms")},
        "numpy_and_librosa_ms": statistics.median(theirs),
        "times_faster": statistics.median(theirs) / middle("samples_to_score_ms"),
    }, indent=1))


if __name__ == "__main__":
    main()
