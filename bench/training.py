#!/usr/bin/env python3
"""Seconds of a training step beside PyTorch's, in turns, medians and their ratio.

Both do one update of AdamW on clips of 10 s: forward, ArcFace, backward, update, all weights. Ours also
computes log-mel and masks. PyTorch runs the networks of tools/golden/training_steps.py at full size.

Run: cargo build --release -p auscult-training --features finetune --example step_time
     python bench/training.py [--rounds 3] [--out results/...json]
"""
import argparse
import importlib.util
import json
import os
import platform
import statistics
import subprocess
import sys
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]


def program():
    """The example, built in release mode unless STEP_TIME names another."""
    target = Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target"))
    return Path(os.environ.get("STEP_TIME", target / "release/examples/step_time"))


def ours(encoder, batch, steps, threads):
    env = {**os.environ, "RAYON_NUM_THREADS": str(threads)}
    run = subprocess.run([program(), encoder, str(batch), str(steps)], capture_output=True, text=True, env=env, check=True)
    return [float(line.split()[0]) for line in run.stdout.splitlines()]


def torch_steps(encoder, batch, steps, threads):
    code = f"import sys; sys.argv=['x']; sys.path.insert(0, {str(ROOT / 'bench')!r}); import training; training.child({encoder!r}, {batch}, {steps}, {threads})"
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    return json.loads(run.stdout)


def child(encoder, batch, steps, threads):
    import torch

    spec = importlib.util.spec_from_file_location("golden", ROOT / "tools/golden/training_steps.py")
    golden = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(golden)
    torch.set_num_threads(threads)
    torch.manual_seed(0)
    if encoder == "beats":
        model = golden.Beats()
        model.width, model.heads, model.depth, model.hidden, model.patch = 768, 12, 12, 3072, 512
        model.kernel, model.groups, model.buckets, model.most, model.columns = 128, 16, 320, 800, 62
    else:
        model = golden.Ced()
        model.width, model.heads, model.depth, model.hidden, model.columns = 192, 3, 12, 768, 62
    shapes = {**model.shapes(), **golden.head_shapes(model.width, 2)}
    if encoder == "ced":
        shapes["encoder.time_pos_embed"] = [1, model.width, 1, 63]
    p = {}
    for name, shape in shapes.items():
        inputs = 1
        for size in shape[1:]:
            inputs *= size
        ones = len(shape) == 1 and name.endswith("weight")
        values = torch.ones(shape) if ones else torch.randn(shape) / inputs**0.5
        p[name] = values.requires_grad_(name not in model.fixed)
    optimiser = torch.optim.AdamW([t for t in p.values() if t.requires_grad], lr=1e-4)
    labels = torch.arange(batch) % 2
    patches = torch.randn(batch, model.rows * model.columns, 256)
    seconds = []
    for step in range(steps + 1):
        started = time.perf_counter()
        loss = golden.arcface(p, golden.pool(p, model.forward(p, patches)), labels)
        optimiser.zero_grad()
        loss.backward()
        optimiser.step()
        if step > 0:
            seconds.append(time.perf_counter() - started)
    print(json.dumps(seconds))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--steps", type=int, default=2)
    parser.add_argument("--only", choices=["ced", "beats"])
    parser.add_argument("--out", type=Path)
    arguments = parser.parse_args()
    results = []
    for encoder, batch in (("ced", 8), ("beats", 4)):
        if arguments.only not in (None, encoder):
            continue
        found = {"ours": [], "torch": []}
        for _ in range(arguments.rounds):
            found["torch"] += torch_steps(encoder, batch, arguments.steps, arguments.threads)
            found["ours"] += ours(encoder, batch, arguments.steps, arguments.threads)
        medians = {name: statistics.median(values) for name, values in found.items()}
        ratio = medians["ours"] / medians["torch"]
        print(f"{encoder} batch {batch}: ours {medians['ours']:.2f} s, PyTorch {medians['torch']:.2f} s, ratio {ratio:.2f}")
        results.append(dict(encoder=encoder, batch=batch, seconds=found, medians=medians, ratio=ratio))
    commit = subprocess.run(["git", "rev-parse", "HEAD"], capture_output=True, text=True, cwd=ROOT).stdout.strip()
    facts = dict(
        command="python bench/training.py " + " ".join(sys.argv[1:]), program=str(program().name), profile=program().parts[-3], commit=commit, machine=platform.platform(),
        cores=os.cpu_count(), threads=arguments.threads, load=os.getloadavg(), results=results,
    )
    if arguments.out:
        arguments.out.parent.mkdir(parents=True, exist_ok=True)
        arguments.out.write_text(json.dumps(facts, indent=1) + "\n")


if __name__ == "__main__":
    main()
