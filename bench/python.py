"""Times the Python package beside librosa, torchaudio, scikit-learn and PyOD, in turns and in one go.

Called by python.sh. Every contestant is a process of its own that has all cores; in each round each has one turn at each
piece of work, so that a busy machine is busy for all of them. A turn begins with a rest and a run that does not count:
threads of whoever came before may still spin, and cores that rested wake slowly. Short work is done again and again for
a while, and its median counts. What they compute is compared before anything is timed.
Written down are all times, the median, the most memory a process held beyond what it held before the work, the command,
the commit and the machine.
"""

from __future__ import annotations

import argparse
import datetime
import json
import multiprocessing
import os
import platform
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

RATE = 16_000
CORES = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
#: Seconds that a turn begins with, and that short work goes on for.
REST, WHILE = 0.2, 0.2
#: Ours before the peers; the ratios that are promised.
WANTED = {
    "log-mel": {"torchaudio": 8, "librosa": 15},
    "detector 128": {"scikit-learn": 3, "pyod-knn": 3, "pyod-lof": 3},
    "detector 6144": {"scikit-learn": 3, "pyod-knn": 3, "pyod-lof": 3},
    "machine": {"librosa and scikit-learn": 10},
}


# Sound and vectors that wander a little from clip to clip.


def clips_of_noise(count: int) -> np.ndarray:
    random = np.random.default_rng(1)
    t = np.arange(10 * RATE, dtype=np.float32) / RATE
    tones = sum(0.1 / k * np.sin(2 * np.pi * 29.5 * k * t) for k in range(1, 12)).astype(np.float32)
    clips = random.standard_normal((count, len(t)), dtype=np.float32)
    clips *= 0.05
    clips += 0.3 * tones
    return clips


def vectors(axis: int) -> tuple[np.ndarray, np.ndarray]:
    random = np.random.default_rng(2)
    train = random.standard_normal((1000, axis)).astype(np.float32) + 4
    test = random.standard_normal((1000, axis)).astype(np.float32) * np.linspace(1, 2, 1000)[:, None] + 4
    return train, test.astype(np.float32)


# Each contestant: what it prepares outside the clock, and the work.


def ours_log_mel(work):
    import auscult

    clips = clips_of_noise(work["clips"])
    return lambda: auscult.features.log_mel(clips, RATE, convention="s15")


def ours_log_mel_again(work):
    import auscult

    clips = clips_of_noise(work["clips"])
    out = auscult.features.log_mel(clips, RATE, convention="s15")
    return lambda: auscult.features.log_mel(clips, RATE, convention="s15", out=out)


def torchaudio_log_mel(work):
    from concurrent.futures import ThreadPoolExecutor

    import torch
    import torchaudio

    # One clip a thread: faster than one clip on all threads.
    torch.set_num_threads(1)
    clips = torch.from_numpy(clips_of_noise(work["clips"]))
    threads = ThreadPoolExecutor(CORES)

    def one(clip):
        return torchaudio.compliance.kaldi.fbank(
            clip[None] * 2**15, sample_frequency=RATE, frame_length=64, frame_shift=32, num_mel_bins=128, low_freq=0,
            high_freq=0, dither=0,
        )

    return lambda: torch.stack(list(threads.map(one, clips))).numpy()


_CLIPS = None


def _librosa_one(at: int) -> np.ndarray:
    import librosa

    spectrum = librosa.feature.melspectrogram(y=_CLIPS[at], sr=RATE, n_fft=1024, hop_length=512, n_mels=128, power=2.0)
    return librosa.power_to_db(spectrum).T.astype(np.float32)


def librosa_log_mel(work):
    global _CLIPS
    import librosa  # noqa: F401  before the processes start

    _CLIPS = clips_of_noise(work["clips"])
    _librosa_one(0)
    pool = multiprocessing.get_context("fork").Pool(CORES)
    return lambda: np.stack(pool.map(_librosa_one, range(len(_CLIPS)), chunksize=8))


def ours_detector(work):
    from auscult.sklearn import BandDetector

    train, test = vectors(work["axis"])

    def run():
        detector = BandDetector(neighbours=0, metric="euclidean").fit(train)
        return np.concatenate([detector.decision_scores_, -detector.score_samples(test)])

    return run


def ours_bands(work):
    from auscult.sklearn import BandDetector

    train, test = vectors(work["axis"])
    width = {128: 38, 6144: 768}[work["axis"]]

    def run():
        detector = BandDetector(band_width=width, neighbours=1).fit(train)
        return np.concatenate([detector.decision_scores_, -detector.score_samples(test)])

    return run


def sklearn_detector(work):
    from sklearn.neighbors import NearestNeighbors

    train, test = vectors(work["axis"])

    def run():
        found = NearestNeighbors(n_neighbors=1, n_jobs=-1).fit(train)
        return np.concatenate([found.kneighbors()[0][:, 0], found.kneighbors(test)[0][:, 0]])

    return run


def pyod_knn(work):
    from pyod.models.knn import KNN

    train, test = vectors(work["axis"])

    def run():
        found = KNN(n_neighbors=1, n_jobs=-1).fit(train)
        return np.concatenate([found.decision_scores_, found.decision_function(test)])

    return run


def pyod_lof(work):
    from pyod.models.lof import LOF

    train, test = vectors(work["axis"])

    def run():
        found = LOF(n_neighbors=20, n_jobs=-1).fit(train)
        return np.concatenate([found.decision_scores_, found.decision_function(test)])

    return run


def ours_machine(work):
    import auscult

    system = {"name": "paper", "front_end": "log-mel", "convention": "s15", "method": "adabeam"}

    def run():
        results = auscult.bench.run(
            "table-3", work["root"], dataset="dcase2023", systems=[system], only_own=True, samples=0
        )
        return np.array([results.json["rows"][0]["score"]])

    return run


def _script_one(path: str) -> np.ndarray:
    import librosa
    import soundfile

    samples, rate = soundfile.read(path, dtype="float32")
    spectrum = librosa.feature.melspectrogram(y=samples, sr=rate, n_fft=1024, hop_length=512, n_mels=128, power=2.0)
    levels = librosa.power_to_db(spectrum)
    return np.concatenate([levels.mean(axis=1), levels.max(axis=1)])


def script_machine(work):
    import librosa  # noqa: F401
    from scipy.stats import hmean
    from sklearn.metrics import roc_auc_score
    from sklearn.neighbors import NearestNeighbors

    pool = multiprocessing.get_context("fork").Pool(CORES)

    def run():
        files = sorted(Path(work["root"]).rglob("*.wav"))
        train = [str(file) for file in files if "/train/" in str(file)]
        test = [str(file) for file in files if "/test/" in str(file)]
        known = np.stack(pool.map(_script_one, train, chunksize=8))
        asked = np.stack(pool.map(_script_one, test, chunksize=8))
        found = NearestNeighbors(n_neighbors=1, metric="cosine", n_jobs=-1).fit(known)
        scores = found.kneighbors(asked)[0][:, 0]
        odd = np.array(["anomaly" in Path(file).name for file in test])
        source = np.array(["_source_" in Path(file).name for file in test])
        parts = [roc_auc_score(odd[keep], scores[keep]) for keep in (source | odd, ~source | odd)]
        return np.array([hmean([*parts, roc_auc_score(odd, scores, max_fpr=0.1)])])

    return run


CONTESTANTS = {
    "log-mel": {
        "auscult": ours_log_mel, "auscult out=": ours_log_mel_again, "torchaudio": torchaudio_log_mel,
        "librosa": librosa_log_mel,
    },
    "detector 128": {
        "auscult": ours_detector, "auscult bands": ours_bands, "scikit-learn": sklearn_detector, "pyod-knn": pyod_knn,
        "pyod-lof": pyod_lof,
    },
    "machine": {"auscult": ours_machine, "librosa and scikit-learn": script_machine},
}
CONTESTANTS["detector 6144"] = CONTESTANTS["detector 128"]


def contest(connection, prepare, work) -> None:
    """A contestant's process: prepares, then one turn whenever it is asked."""
    run = prepare(work)
    first = run()
    connection.send(first)
    while connection.recv():
        time.sleep(REST)
        # What is held at most is counted from here on.
        try:
            Path("/proc/self/clear_refs").write_text("5")
        except OSError:
            pass
        held = resident("VmRSS")
        run()
        seconds: list[float] = []
        while not seconds or sum(seconds) < WHILE:
            start = time.perf_counter()
            run()
            seconds.append(time.perf_counter() - start)
        connection.send((statistics.median(seconds), max(resident("VmHWM") - held, 0.0)))


def resident(what: str) -> float:
    """Megabytes that this process holds, or held at most."""
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith(what):
            return int(line.split()[1]) / 1024
    return 0.0


class Contestant:
    def __init__(self, name, prepare, work) -> None:
        self.name, self.seconds, self.megabytes = name, [], []
        self.connection, other = multiprocessing.Pipe()
        context = multiprocessing.get_context("spawn")
        self.process = context.Process(target=contest, args=(other, prepare, work))
        self.process.start()
        self.first = self.connection.recv()

    def turn(self) -> None:
        self.connection.send(True)
        seconds, megabytes = self.connection.recv()
        self.seconds.append(seconds)
        self.megabytes.append(megabytes)

    def end(self) -> None:
        self.connection.send(False)
        self.process.join(60)
        if self.process.is_alive():
            self.process.terminate()


def compare(piece: str, contestants: list[Contestant]) -> dict[str, float]:
    """How far the others' numbers are from ours; what must be equal is."""
    ours = contestants[0].first
    found = {}
    for other in contestants[1:]:
        if piece == "log-mel" and other.name == "torchaudio":
            found[other.name] = float(np.abs(other.first - ours).max())
            assert found[other.name] < 0.05, found
        elif piece.startswith("detector") and other.name in ("scikit-learn", "pyod-knn"):
            from scipy.stats import spearmanr

            found[other.name] = float(spearmanr(ours, other.first).statistic)
            assert found[other.name] > 0.9999, found
    return found


def overhead(repeats: int = 2000) -> dict[str, float]:
    """Microseconds a call costs beside its work: one short clip alone, and as one of many."""
    import auscult

    clip = clips_of_noise(1)[0, : RATE // 10].copy()
    many = np.tile(clip, (1000, 1))
    auscult.set_threads(1)
    auscult.features.log_mel(clip, RATE)
    auscult.features.log_mel(many, RATE)
    alone, together = [], []
    for _ in range(9):
        start = time.perf_counter()
        for _ in range(repeats):
            auscult.features.log_mel(clip, RATE)
        alone.append((time.perf_counter() - start) / repeats)
        start = time.perf_counter()
        auscult.features.log_mel(many, RATE)
        together.append((time.perf_counter() - start) / len(many))
    auscult.set_threads()
    alone_us, together_us = statistics.median(alone) * 1e6, statistics.median(together) * 1e6
    return {"alone_us": alone_us, "one_of_many_us": together_us, "overhead_us": alone_us - together_us}


def commit() -> str:
    found = subprocess.run(["git", "rev-parse", "--short=12", "HEAD"], capture_output=True, text=True)
    return found.stdout.strip() or "unknown"


def processor() -> str:
    lines = Path("/proc/cpuinfo").read_text().splitlines() if Path("/proc/cpuinfo").exists() else []
    names = [line.split(":", 1)[1].strip() for line in lines if line.startswith("model name")]
    return f"{CORES} x {names[0] if names else platform.processor()}"


def versions() -> dict[str, str]:
    from importlib.metadata import version

    names = ["auscult", "librosa", "numpy", "pyod", "scikit-learn", "scipy", "torch", "torchaudio"]
    return {name: version(name) for name in names} | {"python": platform.python_version()}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=9)
    parser.add_argument("--clips", type=int, default=1000)
    parser.add_argument("--machine-clips", type=int, default=1200)
    parser.add_argument("--out", type=Path, required=True)
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        import auscult

        test = given.machine_clips // 6 // 4
        train = given.machine_clips - 4 * test
        root = auscult.datasets.synthesize(
            f"{folder}/data", machines=["fan"], train=(train - train // 100, train // 100), test=(test, test)
        )
        pieces = {
            "log-mel": {"clips": given.clips},
            "detector 128": {"axis": 128},
            "detector 6144": {"axis": 6144},
            "machine": {"root": str(root)},
        }
        results = {
            "command": " ".join(["bench/python.py", *sys.argv[1:]]),
            "commit": commit(),
            "machine": processor(),
            "date": datetime.datetime.now(datetime.timezone.utc).isoformat(timespec="seconds"),
            "load_before": os.getloadavg(),
            "versions": versions(),
            "overhead": overhead(),
            "pieces": {},
        }
        for piece, work in pieces.items():
            contestants = [Contestant(name, prepare, work) for name, prepare in CONTESTANTS[piece].items()]
            agreement = compare(piece, contestants)
            for _ in range(given.rounds):
                for contestant in contestants:
                    contestant.turn()
            for contestant in contestants:
                contestant.end()
            ours = statistics.median(contestants[0].seconds)
            results["pieces"][piece] = {
                "work": {name: value for name, value in work.items() if name != "root"},
                "agreement": agreement,
                "contestants": {
                    one.name: {
                        "median_seconds": statistics.median(one.seconds),
                        "times_ours": statistics.median(one.seconds) / ours,
                        "wanted": WANTED[piece].get(one.name),
                        "megabytes": statistics.median(one.megabytes),
                        "seconds": one.seconds,
                    }
                    for one in contestants
                },
            }
            print(table(piece, results["pieces"][piece]), flush=True)
    results["load_after"] = os.getloadavg()
    given.out.parent.mkdir(parents=True, exist_ok=True)
    given.out.write_text(json.dumps(results, indent=1) + "\n")
    given.out.with_suffix(".md").write_text(page(results))
    print(f"overhead of a call: {results['overhead']['overhead_us']:.1f} us; written to {given.out}")


def table(piece: str, found: dict) -> str:
    lines = [f"| {piece} | median s | times auscult | wanted | MB |", "|---|---|---|---|---|"]
    for name, one in found["contestants"].items():
        wanted = "" if one["wanted"] is None else f"at least {one['wanted']}"
        lines.append(
            f"| {name} | {one['median_seconds']:.4f} | {one['times_ours']:.2f} | {wanted} | {one['megabytes']:.0f} |"
        )
    return "\n".join(lines) + "\n"


def page(results: dict) -> str:
    facts = [
        "# The Python package beside its peers\n",
        f"`{results['command']}`, commit {results['commit']}, {results['machine']}, {results['date']}, load before "
        f"{results['load_before'][0]:.1f} and after {results['load_after'][0]:.1f}. Medians of turns taken one after "
        "the other in one run; every time is in the JSON file beside this page. Memory is the most that a process held "
        "during its turns beyond what it held before, without that of processes it started.\n",
        ", ".join(f"{name} {version}" for name, version in results["versions"].items()) + ".\n",
        f"A call costs {results['overhead']['overhead_us']:.1f} us beside its work (wanted: below 20).\n",
    ]
    return "\n".join(facts + [table(piece, found) for piece, found in results["pieces"].items()])


if __name__ == "__main__":
    main()
