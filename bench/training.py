#!/usr/bin/env python3
"""Seconds of a training step beside PyTorch's, step by step in turns.

Both do one update of AdamW on clips of 10 s: forward, ArcFace, backward, update. Ours also computes
log-mel and masks. PyTorch runs the networks of tools/golden/training_steps.py at full size, with its
own fused attention where the encoder has no relative positions. Both programs are kept waiting and
take one step each in turns, so that whatever else the machine does hits both; the first step of each
warms up and does not count. On a busy machine seconds say little: the seconds of processor time that a
step took (Linux) are given beside them, and with one thread, which waits for nobody, they compare best.

Run: cargo build --profile dist -p auscult-finetune --example step_time
     python bench/training.py --out results/training/steps.json [--rounds 10] [--threads 1 2]
     python bench/training.py --table results/training/steps.json     the table of docs/training.md
"""
import argparse
import json
import os
import platform
import statistics
import subprocess
import sys
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
# Encoder, clips of a step, rank of LoRA (0: all weights), share of --rounds.
CASES = (("ced-tiny", 4, 0, 1.0), ("ced-tiny", 4, 8, 1.0), ("ced-small", 4, 0, 0.5), ("beats", 4, 0, 0.3))


def program():
    """The example, built with the profile dist unless STEP_TIME names another."""
    target = Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target"))
    return Path(os.environ.get("STEP_TIME", target / "dist/examples/step_time"))


class Stepper:
    """A program that takes a step for every line it gets and answers with its seconds and loss."""

    def __init__(self, command, threads):
        env = {**os.environ, "RAYON_NUM_THREADS": str(threads), "OMP_NUM_THREADS": str(threads)}
        self.process = subprocess.Popen(
            [str(part) for part in command], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=env
        )
        self.answer()

    def answer(self):
        line = self.process.stdout.readline()
        if not line:
            raise SystemExit(f"{self.process.args[0]} gave up with code {self.process.wait()}")
        return float(line.split()[0])

    def processor_seconds(self):
        """Of all its threads so far; nothing where the system does not say."""
        files = Path(f"/proc/{self.process.pid}/task").glob("*/schedstat")
        return sum(int(file.read_text().split()[0]) for file in files) / 1e9

    def step(self):
        """Seconds, and seconds of processor time."""
        before = self.processor_seconds()
        self.process.stdin.write("\n")
        self.process.stdin.flush()
        return self.answer(), self.processor_seconds() - before

    def stop(self):
        self.process.kill()
        self.process.wait()


def torch_child(encoder, batch, rank, threads):
    """What the other process does."""
    import torch
    import torch.nn.functional as F

    sys.path.insert(0, str(ROOT / "tools/golden"))
    import training_steps as golden

    torch.set_num_threads(threads)
    torch.manual_seed(0)
    if encoder == "beats":
        model = golden.Beats()
        model.width, model.heads, model.depth, model.hidden, model.patch = 768, 12, 12, 3072, 512
        model.kernel, model.groups, model.buckets, model.most, model.columns = 128, 16, 320, 800, 62
    else:
        model = golden.Ced()
        model.width, model.heads, model.hidden = {"ced-tiny": (192, 3, 768), "ced-small": (384, 6, 1536)}[encoder]
        model.depth, model.columns = 12, 62
    shapes = model.shapes()
    if encoder != "beats":
        shapes["encoder.time_pos_embed"] = [1, model.width, 1, 63]
    trained = {}

    def made(name, shape, is_trained):
        inputs = 1
        for size in shape[1:]:
            inputs *= size
        ones = len(shape) == 1 and name.endswith("weight")
        values = torch.ones(shape) if ones else torch.randn(shape) / inputs**0.5
        if is_trained:
            trained[name] = values.requires_grad_()
        return values

    weights = {name: made(name, shape, rank == 0 and name not in model.fixed) for name, shape in shapes.items()}
    weights |= {name: made(name, shape, True) for name, shape in golden.head_shapes(model.width, 2).items()}
    for block in range(model.depth if rank else 0):
        for target in ("query", "value"):
            made(f"lora.{block}.{target}.down", [rank, model.width], True)
            made(f"lora.{block}.{target}.up", [model.width, rank], True)
    optimiser = torch.optim.AdamW(trained.values(), lr=1e-4, weight_decay=0.01)
    labels = torch.arange(batch) % 2
    patches = torch.randn(batch, model.rows * model.columns, 256)
    while True:
        started = time.perf_counter()
        p = dict(weights)
        for block in range(model.depth if rank else 0):
            for target in ("query", "value"):
                name, row = model.targets(block, target)
                added = trained[f"lora.{block}.{target}.up"] @ trained[f"lora.{block}.{target}.down"]
                p[name] = p[name] + F.pad(added, (0, 0, row, p[name].shape[0] - row - model.width))
        loss = golden.arcface(p, golden.pool(p, model.forward(p, patches)), labels)
        optimiser.zero_grad()
        loss.backward()
        optimiser.step()
        print(time.perf_counter() - started, loss.item(), flush=True)
        if not sys.stdin.readline():
            return


def measure(encoder, batch, rank, threads, rounds):
    lora = [rank] if rank else []
    ours = Stepper([program(), encoder, batch, *lora], threads)
    theirs = Stepper([sys.executable, __file__, "--child", encoder, batch, rank, threads], threads)
    seconds, processor = {"ours": [], "torch": []}, {"ours": [], "torch": []}
    try:
        for at in range(rounds):
            turns = [("ours", ours), ("torch", theirs)]
            for name, stepper in turns if at % 2 == 0 else reversed(turns):
                for figures, figure in zip((seconds, processor), stepper.step()):
                    figures[name].append(figure)
    finally:
        ours.stop()
        theirs.stop()

    def summary(figures):
        found = {}
        for what, of in (("minimum", min), ("median", statistics.median)):
            found[what] = {name: of(values) for name, values in figures.items()}
            found[what]["ratio"] = found[what]["ours"] / max(found[what]["torch"], 1e-9)
        return dict(steps=figures, **found)

    return dict(
        encoder=encoder, batch=batch, lora=rank, threads=threads, load=os.getloadavg(),
        seconds=summary(seconds), processor_seconds=summary(processor),
    )


def table(facts):
    lines = [
        "| encoder, clips a step | trained | threads | processor seconds, least: auscult, PyTorch, ratio | median | "
        "seconds, least | median | load |",
        "|---|---|---|---|---|---|---|---|",
    ]

    def cell(figures):
        return f"{figures['ours']:.2f}, {figures['torch']:.2f}, **{figures['ratio']:.2f}**"

    for row in facts["results"]:
        trained = f"LoRA {row['lora']}" if row["lora"] else "all"
        of_processor, of_clock = row["processor_seconds"], row["seconds"]
        cells = [cell(figures[what]) for figures in (of_processor, of_clock) for what in ("minimum", "median")]
        lines.append(
            f"| {row['encoder']}, {row['batch']} | {trained} | {row['threads']} | {' | '.join(cells)} | {row['load'][0]:.1f} |"
        )
    return "\n".join(lines)


def processor():
    names = [line.split(":")[1].strip() for line in Path("/proc/cpuinfo").read_text().splitlines() if line.startswith("model name")]
    return names[0] if names else platform.processor()


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--rounds", type=int, default=10)
    parser.add_argument("--threads", type=int, nargs="+", default=[2])
    parser.add_argument("--only", help="encoder")
    parser.add_argument("--out", type=Path)
    parser.add_argument("--table", type=Path, help="print the table of a kept run")
    parser.add_argument("--child", nargs=4, help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.child:
        encoder, *numbers = arguments.child
        return torch_child(encoder, *map(int, numbers))
    if arguments.table:
        return print(table(json.loads(arguments.table.read_text())))
    commit = subprocess.run(["git", "rev-parse", "HEAD"], capture_output=True, text=True, cwd=ROOT).stdout.strip()
    import torch

    facts = dict(
        command="python bench/training.py " + " ".join(sys.argv[1:]), commit=commit, machine=platform.platform(),
        processor=processor(), cores=os.cpu_count(), torch=torch.__version__, results=[],
    )
    for encoder, batch, rank, share in CASES:
        for threads in arguments.threads if arguments.only in (None, encoder) else []:
            rounds = max(round(arguments.rounds * share), 3)
            facts["results"].append(measure(encoder, batch, rank, threads, rounds))
            if arguments.out:
                arguments.out.parent.mkdir(parents=True, exist_ok=True)
                arguments.out.write_text(json.dumps(facts, indent=1) + "\n")
            print(table(facts).splitlines()[-1], flush=True)


if __name__ == "__main__":
    main()
