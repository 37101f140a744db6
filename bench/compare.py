"""Runs auscult and its peers in turns, in one go, and writes down every time.

Called by run.sh. For each piece of work: one turn of ours, one of each peer, again and again,
so that a busy machine is busy for all of them. What the peers compute is compared with ours
before anything is timed.
"""

import argparse
import json
import os
import platform
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import faiss
import librosa
import numpy as np
import scipy.signal
import sklearn
import soundfile
import torch
import torchaudio
from sklearn.metrics.pairwise import cosine_distances
from threadpoolctl import threadpool_limits

from processes import peak_memory, timed_process

RATE = 16000
kaldi = torchaudio.compliance.kaldi


def synthetic_clip(seed):
    """Tones over noise that wander a little from clip to clip."""
    random = np.random.default_rng(seed)
    t = np.arange(10 * RATE) / RATE
    speed = 1 + 0.01 * random.standard_normal()
    tones = sum(0.1 / k * np.sin(2 * np.pi * 29.5 * k * speed * t) for k in range(1, 12))
    noise = np.convolve(random.standard_normal(len(t)), [0.5, 0.3, 0.2], mode="same")
    return (0.3 * tones + 0.05 * noise).astype(np.float32)


def bands_of(axis):
    width = {128: 38, 6144: 768}.get(axis, axis * 2 // 5)
    starts = list(range(0, axis - width + 1, width))
    if starts[-1] + width != axis:
        starts.append(axis - width)
    return [(start, start + width) for start in starts]


def unit(rows):
    return rows / np.linalg.norm(rows, axis=1, keepdims=True)


def local_scales(bank):
    """Distances among unit rows, nearest other, scale, and second nearest."""
    distances = (1 - bank @ bank.T) / 2
    np.fill_diagonal(distances, np.inf)
    two = np.argpartition(distances, 1, axis=1)[:, :2]
    values = np.take_along_axis(distances, two, axis=1)
    order = np.argsort(values, axis=1)
    two = np.take_along_axis(two, order, axis=1)
    values = np.maximum(np.take_along_axis(values, order, axis=1), 1e-12)
    return distances, two[:, 0], values[:, 0], values[:, 1]


def numpy_fit(bank):
    """Local scales and left-out scores of every band, in f64: what a fit computes."""
    scores = []
    for start, end in bands_of(bank.shape[1]):
        distances, nearest, scale, second = local_scales(unit(bank[:, start:end].astype(np.float64)))
        ratios = distances / scale[None, :]
        # Without reference i, those that had it as their nearest have their second.
        rows = np.arange(len(bank))
        ratios[nearest, rows] = distances[nearest, rows] / second
        scores.append(ratios.min(axis=1))
    return np.mean(scores, axis=0)


class NumpyBeam:
    """BEAM with local scales in f64, prepared as far as it can be."""

    def __init__(self, bank):
        self.bands = []
        for start, end in bands_of(bank.shape[1]):
            rows = unit(bank[:, start:end].astype(np.float64))
            self.bands.append((start, end, rows, local_scales(rows)[2]))

    def score(self, query):
        total = 0.0
        for start, end, rows, scale in self.bands:
            part = query[start:end].astype(np.float64)
            distances = (1 - rows @ (part / np.linalg.norm(part))) / 2
            total += np.min(distances / scale)
        return total / len(self.bands)


def kaldi_log_mel(clip):
    return kaldi.fbank(
        clip * 32768, frame_length=64, frame_shift=32, num_mel_bins=128, low_freq=0, high_freq=8000,
        sample_frequency=RATE, dither=0.0,
    )


def kaldi_mfcc(clip):
    return kaldi.mfcc(
        clip, frame_length=64, frame_shift=32, num_mel_bins=128, num_ceps=90, low_freq=0,
        high_freq=8000, sample_frequency=RATE, dither=0.0, cepstral_lifter=22,
    )


def pooled(frames):
    return torch.cat([frames.mean(0), frames.max(0).values])


def librosa_log_mel(clip):
    mel = librosa.feature.melspectrogram(
        y=clip, sr=RATE, n_fft=1024, hop_length=512, n_mels=128, pad_mode="constant"
    )
    level = 10 * np.log10(mel + np.finfo(np.float64).eps)
    return np.concatenate([level.mean(axis=1), level.max(axis=1)])


def librosa_lpc(clip):
    coefficients = librosa.lpc(clip.astype(np.float64), order=60)
    return np.abs(scipy.signal.freqz(1, coefficients, worN=8000)[1])


class LibrosaVerdict:
    """File to AdaBEAM verdict with librosa and scikit-learn."""

    def __init__(self, bank):
        self.beam = NumpyBeam(bank)
        self.bank = bank
        self.threshold = np.quantile(numpy_fit(bank), 0.99)

    def run(self, path):
        clip, _ = librosa.load(path, sr=RATE)
        vectors = librosa_log_mel(clip)
        views = []
        for view in (vectors[:128], vectors[128:]):
            bands = [
                np.min(cosine_distances(view[None, start:end], self.bank[:, start:end]) / 2 / scale)
                for start, end, _, scale in self.beam.bands
            ]
            views.append(np.mean(bands))
        return np.mean(views) > self.threshold


class Worker:
    """Our side: a process that does named work and answers with nanoseconds."""

    def __init__(self, program, folder, threads):
        self.program, self.folder = program, folder
        environment = dict(os.environ, RAYON_NUM_THREADS=str(threads))
        self.process = subprocess.Popen(
            [program, "serve", folder], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
            env=environment,
        )

    def time(self, name):
        self.process.stdin.write(name + "\n")
        self.process.stdin.flush()
        return int(self.process.stdout.readline()) / 1e9

    def numbers(self, name):
        run = subprocess.run(
            [self.program, "numbers", self.folder, name], capture_output=True, text=True, check=True
        )
        return np.array([float(line) for line in run.stdout.split()])

    def close(self):
        self.process.stdin.close()
        self.process.wait()


def machine():
    info = {"system": platform.platform(), "python": platform.python_version()}
    for line in Path("/proc/cpuinfo").read_text().splitlines():
        if line.startswith("model name"):
            info["processor"] = line.split(":", 1)[1].strip()
            break
    info["threads"] = os.cpu_count()
    info["memory_gb"] = round(os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30, 1)
    info["load_before"] = os.getloadavg()
    info["rustc"] = subprocess.run(["rustc", "--version"], capture_output=True, text=True).stdout.strip()
    info["commit"] = subprocess.run(
        ["git", "describe", "--always", "--dirty"], capture_output=True, text=True
    ).stdout.strip()
    info["versions"] = {
        module.__name__: module.__version__
        for module in (faiss, librosa, np, scipy, sklearn, soundfile, torch, torchaudio)
    }
    return info


def summary(times):
    return {"median": statistics.median(times), "minimum": min(times), "times": times}


def prepare(folder):
    """The inputs of all work, the same for everybody."""
    clip = synthetic_clip(0)
    soundfile.write(folder / "clip.wav", clip, RATE, subtype="PCM_16")
    soundfile.write(folder / "clip.flac", clip, RATE, subtype="PCM_16")
    clip, _ = soundfile.read(folder / "clip.wav", dtype="float32")
    random = np.random.default_rng(1)
    banks = {}
    for axis, count in ((128, 500), (8000, 500), (6144, 500)):
        shape = 10 + np.sin(np.arange(axis) / 9)
        modes = random.standard_normal((6, axis))
        rows = shape + 0.1 * random.standard_normal((count + 1, 6)) @ modes
        rows = (rows + 0.1 * random.standard_normal((count + 1, axis))).astype(np.float32)
        np.save(folder / f"references_{axis}.npy", rows[:count].astype(np.float64))
        np.save(folder / f"queries_{axis}.npy", rows[count:].astype(np.float64))
        banks[axis] = rows
    means = kaldi_log_mel(torch.from_numpy(clip)[None]).mean(0).numpy()
    verdict = (means + 0.05 * random.standard_normal((1000, 128))).astype(np.float32)
    np.save(folder / "verdict_128.npy", verdict.astype(np.float64))
    return clip, banks, verdict


def cases(folder, clip, banks, verdict):
    """(name, our work, peers, largest relative difference allowed, wanted ratio)."""
    tensor = torch.from_numpy(clip)[None]
    slaney = torchaudio.transforms.MelSpectrogram(
        RATE, n_fft=1024, hop_length=512, n_mels=128, norm="slaney", mel_scale="slaney",
        pad_mode="constant",
    )

    def torch_dcase():
        level = 10 * torch.log10(slaney(tensor)[0].T + np.finfo(np.float64).eps)
        return pooled(level)

    wav, flac = str(folder / "clip.wav"), str(folder / "clip.flac")
    yield (
        "log-mel 64/32 ms (Kaldi), mean and max", "log-mel",
        {"torchaudio": lambda: pooled(kaldi_log_mel(tensor)).numpy()}, 1e-4, 8,
    )
    yield (
        "log-mel in dB (librosa's form), mean and max", "log-mel-dcase",
        {"torchaudio": lambda: torch_dcase().numpy(), "librosa": lambda: librosa_log_mel(clip)},
        1e-4, 8,
    )
    yield (
        "MFCC-90 (Kaldi), mean and max", "mfcc",
        {"torchaudio": lambda: pooled(kaldi_mfcc(tensor)).numpy()}, 1e-3, 5,
    )
    yield (
        "LPC-60 by Burg, spectrum at 8000 points", "lpc",
        {"librosa + scipy": lambda: librosa_lpc(clip)}, 1e-5, 25,
    )
    yield (
        "read a 16-bit WAV", "wav",
        {"soundfile": lambda: soundfile.read(wav, dtype="float32")[0]}, 0, 2,
    )
    yield (
        "decode a FLAC", "flac",
        {"soundfile": lambda: soundfile.read(flac, dtype="float32")[0]}, 0, 1,
    )
    for axis, rows in banks.items():
        bank, query = rows[:-1], rows[-1]
        beam = NumpyBeam(bank)
        index = faiss.IndexFlatIP(axis)
        index.add(unit(bank))
        one = unit(query[None])
        yield (
            f"score against 500 references, F = {axis}", f"score:{axis}",
            {
                "numpy BEAM": lambda beam=beam, query=query: np.array([beam.score(query)]),
                "faiss global 1-NN (less)": lambda index=index, one=one: index.search(one, 1),
            },
            1e-6, 1,
        )
        yield (
            f"fit 500 references with local scales, F = {axis}", f"fit:{axis}",
            {"numpy": lambda bank=bank: numpy_fit(bank)}, 1e-6, 3,
        )
    judge = LibrosaVerdict(verdict)
    yield (
        "file to AdaBEAM verdict, log-mel, R = 1000", "verdict",
        {"librosa + scikit-learn (other log-mel)": lambda: judge.run(wav)}, None, 10,
    )


def compare_numbers(name, ours, theirs, allowed):
    """The largest difference, as a share of the largest number."""
    theirs = np.asarray(theirs, dtype=np.float64).ravel()
    if allowed is None or "less" in name:
        return None
    if theirs.size > ours.size:
        theirs = theirs[: ours.size]
    difference = float(np.max(np.abs(ours - theirs)) / np.max(np.abs(theirs)))
    if difference > allowed:
        sys.exit(f"{name}: the numbers differ by {difference:.2e}, allowed are {allowed:.0e}")
    return difference


def warm_up(threads, call):
    """Everybody works a little before it counts: caches are somebody else's, a core that rested wakes
    up slowly, and idle threads of BLAS spin for a tenth of a second and take a core from the next."""
    start, enough = time.perf_counter(), 0.15 if threads > 1 else 0.02
    while time.perf_counter() - start < enough:
        call()


def run_cases(program, folder, rounds, threads, inputs):
    worker = Worker(program, folder, threads)
    torch.set_num_threads(threads)
    faiss.omp_set_num_threads(threads)
    # Clips are spread over threads; one query or one fit is not.
    alone = ("score", "fit", "verdict")
    results = []
    with threadpool_limits(limits=threads):
        for name, work, peers, allowed, wanted in cases(Path(folder), *inputs):
            ours_name, clips = work, 1
            if threads > 1 and not work.startswith(alone):
                ours_name, clips = f"many-{work}", 8
            ours = worker.numbers(work)
            differences = {
                peer: compare_numbers(f"{name}: {peer}", ours, call(), allowed)
                for peer, call in peers.items()
            }
            times = {"auscult": [], **{peer: [] for peer in peers}}
            worker.time(ours_name)
            slow = work.startswith(("fit:6", "fit:8", "lpc"))
            for _ in range(max(5, rounds // 5) if slow else rounds):
                warm_up(threads, lambda: worker.time(ours_name))
                times["auscult"].append(worker.time(ours_name) / clips)
                for peer, call in peers.items():
                    warm_up(threads, call)
                    start = time.perf_counter()
                    for _ in range(clips):
                        call()
                    times[peer].append((time.perf_counter() - start) / clips)
            result = {"work": name, "wanted": wanted, "differences": differences}
            result["times"] = {who: summary(values) for who, values in times.items()}
            results.append(result)
            report(threads, result)
    worker.close()
    return results


def report(threads, result):
    times = result["times"]
    line = ", ".join(f"{who} {1e3 * t['minimum']:.3f}/{1e3 * t['median']:.3f}" for who, t in times.items())
    print(f"{threads} thread(s): {result['work']}: min/median ms: {line}", flush=True)


def run_programs(worker, program, folder, clips, rounds):
    """Whole programs: fitting many files, scoring one, and doing nothing."""
    tree = Path(folder) / "clips"
    tree.mkdir(exist_ok=True)
    sounds = [synthetic_clip(100 + seed) for seed in range(min(clips, 64))]
    for index in range(clips):
        # Copies are dropped by their sound: every file gets its own level.
        clip = sounds[index % len(sounds)] * (0.5 + 0.4 * index / clips)
        soundfile.write(tree / f"{index:05}.wav", clip, RATE, subtype="PCM_16")
    model = str(Path(folder) / "bench.auscult")
    ours, theirs, start_up, one, ours_cli = [], [], [], [], []
    pipeline = [sys.executable, str(Path(__file__).with_name("pipeline.py")), str(tree)]
    fit, score = [worker, "fit", str(tree), model], [worker, "score", model, str(tree / "00000.wav")]
    fit_cli, version = [program, "fit", "--preset", "paper", str(tree), "-o", model + ".cli"], [program, "--version"]
    for _ in range(rounds):
        ours.append(timed_process(fit))
        if program:
            ours_cli.append(timed_process(fit_cli))
        theirs.append(timed_process(pipeline))
    for _ in range(30):
        one.append(timed_process(score))
        if program:
            start_up.append(timed_process(version))
    pack = lambda times, command: {**summary(times), "peak_mb": peak_memory(command)}
    results = {
        "clips": clips,
        "fit": {"auscult": pack(ours, fit), "librosa + scikit-learn": pack(theirs, pipeline)},
        "score_one": pack(one, score),
    }
    if program:
        results["fit"]["auscult fit"] = pack(ours_cli, fit_cli)
        results["start_up"] = pack(start_up, version)
    return results


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--worker", required=True)
    parser.add_argument("--program", help="the auscult program, for whole-program times")
    parser.add_argument("--rounds", type=int, default=40)
    parser.add_argument("--clips", type=int, default=1000)
    parser.add_argument("--program-rounds", type=int, default=3)
    parser.add_argument("--out", required=True)
    options = parser.parse_args()
    facts = {"command": " ".join(sys.argv), "started": time.strftime("%FT%TZ", time.gmtime()), **machine()}
    out = Path(options.out)
    out.parent.mkdir(parents=True, exist_ok=True)
    results = {"machine": facts}

    def keep(**more):
        """Writes what there is: a long run that is stopped has not been for nothing."""
        results.update(more)
        facts["load_after"] = os.getloadavg()
        out.write_text(json.dumps(results, indent=1) + "\n")

    with tempfile.TemporaryDirectory() as folder:
        inputs = prepare(Path(folder))
        keep(one_thread=run_cases(options.worker, folder, options.rounds, 1, inputs))
        programs = (options.worker, options.program, folder, options.clips, options.program_rounds)
        keep(programs=run_programs(*programs))
        if (count := os.cpu_count()) > 1:
            keep(all_threads=run_cases(options.worker, folder, options.rounds, count, inputs))


if __name__ == "__main__":
    main()
