#!/usr/bin/env python3
"""How the service answers under load, beside machines that are being watched.

    bench/service.py [PROGRAM] [--seconds 60] [--watched 500] [--listed 1000] [--streams 200] [--rate 500] [--slow 60]
        > results/service/load.json

The first of the listed machines (--watched) hear sound over TCP in real time, 10 s clips of noise against one model; the rest
wait for sound that never comes. Meanwhile so many streams of server-sent events are open, and the list of all machines is asked for
so many times a second, compressed, never with If-None-Match. Requests are sent at their own times whether or not earlier ones were
answered, so that a slow answer does not hide the next. Clients that never finish their request, never read their answer or never
read their stream are there as well (--slow, a third each), and come again when they are sent away. The load comes from processes
beside the service on the same cores; the answer says how much processor time and memory the service took, and how many clips it
judged meanwhile. Ends with 1 if a request failed, a stream ended early, clips were missed, or the slowest hundredth of the answers
took longer than 100 ms. Nothing but Python is needed; with --seconds 3600 it shows whether memory stays flat.
"""
import argparse
import asyncio
import json
import multiprocessing
import os
import platform
import random
import resource
import select
import socket
import statistics
import struct
import subprocess
import sys
import tempfile
import time
import urllib.request
import wave
from pathlib import Path

RATE, FIRST_PORT, STEP_SECONDS = 16_000, 21_000, 0.5
TICK = os.sysconf("SC_CLK_TCK")
CONNECTIONS = 32
SLOWEST_MILLISECONDS = 100
CLIP_SECONDS = 10


def arguments():
    parser = argparse.ArgumentParser()
    parser.add_argument("program", nargs="?", default="target/dist/auscult")
    parser.add_argument("--seconds", type=float, default=60.0)
    parser.add_argument("--watched", type=int, default=500)
    parser.add_argument("--listed", type=int, default=1000)
    parser.add_argument("--streams", type=int, default=200)
    parser.add_argument("--rate", type=float, default=500.0)
    parser.add_argument("--slow", type=int, default=60)
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
             f"streams = {options.streams + options.slow + 10}"]  # fmt: skip
    for number in range(options.listed):
        lines += ["[[machine]]", f'name = "m-{number:04}"', 'model = "noise.auscult"', 'keep = "none"']
        if number < options.watched:
            lines += [f'tcp = "127.0.0.1:{FIRST_PORT + number}"', f"sample_rate = {RATE}"]
    (folder / "site.toml").write_text("\n".join(lines))


def send_sound(count, ready, latest):
    """Half a second of noise to every machine, every half second, until it is stopped; `latest` is how late it ever was."""
    streams = []
    for number in range(count):
        for _ in range(600):
            try:
                streams.append(socket.create_connection(("127.0.0.1", FIRST_PORT + number), timeout=60))
                break
            except OSError:
                time.sleep(0.05)
    if len(streams) < count:
        return
    pieces = [noise(STEP_SECONDS, seed) for seed in range(20)]
    ready.set()
    began, step = time.time(), 0
    while True:
        for number, stream in enumerate(streams):
            stream.sendall(pieces[(step + number) % len(pieces)])
        step += 1
        ahead = began + step * STEP_SECONDS - time.time()
        latest.value = max(latest.value, -ahead)
        time.sleep(max(0.0, ahead))


def hold(port, count):
    """Clients that never finish a request, never read their answers, or never read their stream, until this is stopped."""
    beginnings = [
        b"GET /api/v1/machines HTTP/1.1\r\nHost: 127",
        b"GET /api/v1/machines?limit=1000 HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n" * 50,
        b"GET /api/v1/stream HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n",
    ]
    held = [None] * count
    while True:
        for number in range(count):
            if held[number] is None:
                client = socket.socket()
                client.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4_096)
                try:
                    client.settimeout(5)
                    client.connect(("127.0.0.1", port))
                    client.sendall(beginnings[number % 3])
                    client.setblocking(False)
                except OSError:
                    continue
                held[number] = client
            else:
                # Whoever was sent away comes again; nothing is read before.
                poll = select.poll()
                poll.register(held[number], select.POLLHUP | select.POLLERR | select.POLLRDHUP)
                if poll.poll(0):
                    held[number].close()
                    held[number] = None
        time.sleep(0.5)


async def memory(process, samples):
    """The memory of the service, every other second."""
    while True:
        samples.append(usage(process)[1])
        await asyncio.sleep(2)


async def look_on(port, seconds, counts):
    """One stream of server-sent events."""
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    writer.write(b"GET /api/v1/stream HTTP/1.1\r\nHost: 127.0.0.1\r\nAccept: text/event-stream\r\n\r\n")
    until = time.monotonic() + seconds
    head = await reader.readuntil(b"\r\n\r\n")
    if not head.startswith(b"HTTP/1.1 200"):
        sys.exit(f"a stream was refused: {head[:200]}")
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


async def ask(port, queue, times, sizes, failures):
    """One connection that asks again and again."""
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    head = b"GET /api/v1/machines?limit=1000 HTTP/1.1\r\nHost: 127.0.0.1\r\nAccept-Encoding: gzip\r\n\r\n"
    while (due := await queue.get()) is not None:
        writer.write(head)
        answer = (await reader.readuntil(b"\r\n\r\n")).lower()
        length = int(answer.split(b"content-length: ")[1].split(b"\r\n")[0])
        sizes.add(len(await reader.readexactly(length)))
        times.append(time.perf_counter() - due)
        if not answer.startswith(b"http/1.1 200") or b"gzip" not in answer:
            failures.append(answer[:60].decode())
    writer.close()


async def load(port, service, options):
    samples = []
    remembering = asyncio.create_task(memory(service, samples))
    counts = {"ended": 0, "bytes": 0, "statuses": 0}
    looking = [asyncio.create_task(look_on(port, options.seconds + 2, counts)) for _ in range(options.streams)]
    await asyncio.sleep(2)
    queue, times, sizes, failures = asyncio.Queue(), [], set(), []
    asking = [asyncio.create_task(ask(port, queue, times, sizes, failures)) for _ in range(CONNECTIONS)]
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
    remembering.cancel()
    times.sort()
    at = lambda share: round(1000 * times[min(len(times) - 1, int(share * len(times)))], 2)  # noqa: E731
    return {
        "requests": len(times), "requests_per_second": round(len(times) / options.seconds, 1), "failures": len(failures),
        "first_failures": failures[:5], "answer_bytes": [min(sizes), max(sizes)],
        "milliseconds": {"mean": round(1000 * statistics.fmean(times), 2), "p50": at(0.5), "p95": at(0.95), "p99": at(0.99),
                         "worst": at(1.0)},
        "streams": options.streams, "streams_ended_early": counts["ended"], "stream_bytes": counts["bytes"],
        "statuses": counts["statuses"],
        "service_megabytes": {"first": round(samples[0]), "quarters": [round(samples[len(samples) * part // 4]) for part in (1, 2, 3)],
                              "last": round(samples[-1]), "most": round(max(samples))},
    }  # fmt: skip


def clips(port):
    """How many clips were judged so far, and by how many machines."""
    with urllib.request.urlopen(f"http://127.0.0.1:{port}/api/v1/machines?limit=1000", timeout=60) as answer:
        machines = json.load(answer)["items"]
    return sum(machine["clips"] for machine in machines), len(machines)


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
        beside = []
        try:
            until = time.time() + 300
            while b"serving" not in (folder / "log").read_bytes():
                if service.poll() is not None or time.time() > until:
                    sys.exit((folder / "log").read_text()[-3000:])
                time.sleep(0.2)
            ready, latest = multiprocessing.Event(), multiprocessing.Value("d", 0.0)
            beside = [multiprocessing.Process(target=send_sound, args=(options.watched, ready, latest), daemon=True),
                      multiprocessing.Process(target=hold, args=(port, options.slow), daemon=True)]  # fmt: skip
            beside[0].start()
            if not ready.wait(180):
                sys.exit("the watched machines took no sound")
            beside[1].start()
            # Until every machine has had its first clip.
            time.sleep(CLIP_SECONDS + 1)
            (before, _), (clips_before, listed) = usage(service), clips(port)
            began = time.time()
            result = asyncio.run(load(port, service, options))
            (after, _), (clips_after, _) = usage(service), clips(port)
            seconds = time.time() - began
            if not beside[0].is_alive():
                sys.exit("sound could not be sent any more: the service did not take it")
            wanted = options.watched * seconds / CLIP_SECONDS
            result |= {
                "command": " ".join(["bench/service.py", *sys.argv[1:]]),
                "commit": subprocess.run(["git", "rev-parse", "--short", "HEAD"], capture_output=True, text=True).stdout.strip(),
                "watched": options.watched, "listed": listed, "slow_clients": options.slow, "seconds": round(seconds, 1),
                "clips": clips_after - clips_before, "clips_wanted": round(wanted), "sound_late_seconds": round(latest.value, 2),
                "service_cores": round((after - before) / seconds, 2), "cores": os.cpu_count(), "machine": platform.machine(),
                "program": subprocess.run([program, "--version"], capture_output=True, text=True).stdout.splitlines()[0],
            }  # fmt: skip
            print(json.dumps(result, indent=1))
            # A clip a machine may be on its way.
            missed = wanted - result["clips"] - options.watched
            slowest = result["milliseconds"]["p99"]
            if result["failures"] or result["streams_ended_early"] or missed > 0 or slowest >= SLOWEST_MILLISECONDS:
                sys.exit(f"not good enough: p99 {slowest} ms, {result['failures']} failures, "
                         f"{result['streams_ended_early']} streams ended, {max(0, round(missed))} clips missed")  # fmt: skip
        finally:
            for process in beside:
                if process.is_alive():
                    process.terminate()
                    process.join()
            service.terminate()
            try:
                service.wait(30)
            except subprocess.TimeoutExpired:
                service.kill()
                service.wait()


if __name__ == "__main__":
    main()
