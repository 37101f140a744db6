#!/usr/bin/env python3
"""How the service answers under load, beside machines that are being watched.

    bench/service.py [PROGRAM] [--seconds 60] [--watched 500] [--listed 1000] [--streams 200] [--rate 500] > results/service/load.json

Half of the listed machines (at most --watched) hear sound over TCP in real time, 10 s clips of noise against one model; the rest
wait for sound that never comes. Meanwhile so many streams of server-sent events are open, and the list of all machines is asked for
so many times a second, compressed, never with If-None-Match. Requests are sent at their own times whether or not earlier ones were
answered, so that a slow answer does not hide the next. The load comes from a process beside the service on the same cores; the
answer says how much processor time and memory each took.
"""
import argparse
import asyncio
import json
import multiprocessing
import os
import platform
import random
import resource
import socket
import statistics
import struct
import subprocess
import sys
import tempfile
import time
import wave
from pathlib import Path

RATE, FIRST_PORT, STEP_SECONDS = 16_000, 21_000, 0.5
TICK = os.sysconf("SC_CLK_TCK")
CONNECTIONS = 32


def arguments():
    parser = argparse.ArgumentParser()
    parser.add_argument("program", nargs="?", default="target/dist/auscult")
    parser.add_argument("--seconds", type=float, default=60.0)
    parser.add_argument("--watched", type=int, default=500)
    parser.add_argument("--listed", type=int, default=1000)
    parser.add_argument("--streams", type=int, default=200)
    parser.add_argument("--rate", type=float, default=500.0)
    return parser.parse_args()


def free_port():
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return free.getsockname()[1]


def usage(process):
    fields = Path(f"/proc/{process.pid}/stat").read_text().rsplit(")", 1)[1].split()
    status = Path(f"/proc/{process.pid}/status").read_text()
    resident = next(int(line.split()[1]) for line in status.splitlines() if line.startswith("VmRSS"))
    return (int(fields[11]) + int(fields[12])) / TICK, resident / 1024


def noise(seconds, seed):
    chance = random.Random(seed)
    return struct.pack(f"<{int(seconds * RATE)}h", *(int(chance.gauss(0, 1500)) for _ in range(int(seconds * RATE))))


def prepare(program, folder, options):
    """A model of noise, and a configuration in which all machines share it."""
    for number in range(12):
        visit = folder / "normal" / f"visit-{number % 3}"
        visit.mkdir(parents=True, exist_ok=True)
        with wave.open(str(visit / f"{number}.wav"), "wb") as sound:
            sound.setparams((1, 2, RATE, 0, "NONE", ""))
            sound.writeframes(noise(10, number))
    subprocess.run([program, "fit", "normal", "--preset", "fast", "-o", "noise.auscult"], cwd=folder, check=True,
                   capture_output=True, timeout=600)  # fmt: skip
    lines = ['site = "load"', "[server]", f"requests_per_second = {int(4 * options.rate) + 1000}",
             f"streams = {options.streams + 10}"]  # fmt: skip
    for number in range(options.listed):
        lines += ["[[machine]]", f'name = "m-{number:04}"', 'model = "noise.auscult"', 'keep = "none"']
        if number < options.watched:
            lines += [f'tcp = "127.0.0.1:{FIRST_PORT + number}"', f"sample_rate = {RATE}"]
    (folder / "site.toml").write_text("\n".join(lines))


def send_sound(count, seconds, ready):
    """Half a second of noise to every machine, every half second."""
    streams = []
    for number in range(count):
        for _ in range(200):
            try:
                streams.append(socket.create_connection(("127.0.0.1", FIRST_PORT + number), timeout=20))
                break
            except OSError:
                time.sleep(0.05)
    ready.set()
    pieces = [noise(STEP_SECONDS, seed) for seed in range(20)]
    began, step = time.time(), 0
    while time.time() - began < seconds:
        for number, stream in enumerate(streams):
            stream.sendall(pieces[(step + number) % len(pieces)])
        step += 1
        time.sleep(max(0.0, began + step * STEP_SECONDS - time.time()))


async def look_on(port, seconds, counts):
    """One stream of server-sent events."""
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    writer.write(b"GET /api/v1/stream HTTP/1.1\r\nHost: 127.0.0.1\r\nAccept: text/event-stream\r\n\r\n")
    until = time.monotonic() + seconds
    try:
        while (left := until - time.monotonic()) > 0:
            piece = await asyncio.wait_for(reader.read(65_536), left)
            if not piece:
                counts["ended"] += 1
                return
            counts["bytes"] += len(piece)
            counts["statuses"] += piece.count(b"event: status")
    except asyncio.TimeoutError:
        pass
    finally:
        writer.close()


async def ask(port, queue, times, failures):
    """One connection that asks again and again."""
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    head = b"GET /api/v1/machines?limit=1000 HTTP/1.1\r\nHost: 127.0.0.1\r\nAccept-Encoding: gzip\r\n\r\n"
    while (due := await queue.get()) is not None:
        writer.write(head)
        answer = (await reader.readuntil(b"\r\n\r\n")).lower()
        length = int(answer.split(b"content-length: ")[1].split(b"\r\n")[0])
        await reader.readexactly(length)
        times.append(time.perf_counter() - due)
        if not answer.startswith(b"http/1.1 200") or b"gzip" not in answer:
            failures.append(answer[:60].decode())
    writer.close()


async def load(port, options):
    counts = {"ended": 0, "bytes": 0, "statuses": 0}
    looking = [asyncio.create_task(look_on(port, options.seconds + 2, counts)) for _ in range(options.streams)]
    await asyncio.sleep(2)
    queue, times, failures = asyncio.Queue(), [], []
    asking = [asyncio.create_task(ask(port, queue, times, failures)) for _ in range(CONNECTIONS)]
    began, sent = time.perf_counter(), 0
    while (passed := time.perf_counter() - began) < options.seconds:
        while sent < passed * options.rate:
            queue.put_nowait(began + sent / options.rate)
            sent += 1
        await asyncio.sleep(0.001)
    for _ in asking:
        queue.put_nowait(None)
    await asyncio.gather(*asking)
    await asyncio.gather(*looking)
    times.sort()
    at = lambda share: round(1000 * times[min(len(times) - 1, int(share * len(times)))], 2)  # noqa: E731
    return {
        "requests": len(times), "requests_per_second": round(len(times) / options.seconds, 1), "failures": failures[:5],
        "milliseconds": {"mean": round(1000 * statistics.fmean(times), 2), "p50": at(0.5), "p95": at(0.95), "p99": at(0.99),
                         "worst": at(1.0)},
        "streams": options.streams, "streams_ended_early": counts["ended"], "stream_bytes": counts["bytes"],
        "statuses": counts["statuses"],
    }  # fmt: skip


def main():
    options = arguments()
    program = str(Path(options.program).resolve())
    limit = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (min(16_384, limit[1]), limit[1]))
    with tempfile.TemporaryDirectory(prefix="auscult-load-") as folder:
        folder = Path(folder)
        prepare(program, folder, options)
        port = free_port()
        with open(folder / "log", "wb") as log:
            service = subprocess.Popen(
                [program, "serve", "site.toml", "--data", "data", "--listen", f"127.0.0.1:{port}"], cwd=folder, stdout=log,
                stderr=log)  # fmt: skip
        sender = None
        try:
            until = time.time() + 300
            while b"serving" not in (folder / "log").read_bytes():
                if service.poll() is not None or time.time() > until:
                    sys.exit((folder / "log").read_text()[-3000:])
                time.sleep(0.2)
            ready = multiprocessing.Event()
            sender = multiprocessing.Process(target=send_sound, args=(options.watched, options.seconds + 30, ready), daemon=True)
            sender.start()
            ready.wait(120)
            time.sleep(11)
            before, _ = usage(service)
            began = time.time()
            result = asyncio.run(load(port, options))
            after, resident = usage(service)
            result |= {
                "watched": options.watched, "listed": options.listed, "seconds": options.seconds,
                "service_cores": round((after - before) / (time.time() - began), 2), "service_megabytes": round(resident),
                "cores": os.cpu_count(), "machine": platform.machine(),
                "program": subprocess.run([program, "--version"], capture_output=True, text=True).stdout.splitlines()[0],
            }  # fmt: skip
            print(json.dumps(result, indent=1))
        finally:
            if sender:
                sender.terminate()
                sender.join()
            service.terminate()
            try:
                service.wait(30)
            except subprocess.TimeoutExpired:
                service.kill()


if __name__ == "__main__":
    main()
