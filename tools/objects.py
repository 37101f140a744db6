#!/usr/bin/env python3
"""An archive whose recordings are in an object store: tools/objects.sh [PROGRAM]

A server that speaks S3's protocol (moto) holds recordings on the loopback address; PROGRAM, built with the feature object-store, scores
them where they are. The rows must be those of the same recordings on the disk, and what is not there an error in its row.
"""

import json
import os
import socket
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import boto3
import pyarrow.parquet


def free_port() -> int:
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        return found.getsockname()[1]


def main() -> int:
    program = str(Path(sys.argv[1] if len(sys.argv) > 1 else "target/debug/auscult").resolve())
    keys = {"AWS_ACCESS_KEY_ID": "test", "AWS_SECRET_ACCESS_KEY": "test", "AWS_REGION": "us-east-1"}
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)

        def run(*arguments: object, code: int = 0, **extra: str) -> str:
            command = [program, *map(str, arguments)]
            ran = subprocess.run(command, cwd=folder, capture_output=True, text=True, env={**os.environ, **keys, **extra})
            assert ran.returncode == code, (command, ran.returncode, ran.stderr)
            return ran.stdout

        run("synth", "--out", "sounds", "--layout", "visits", "--machine", "fan", "--seconds", "2")
        normal = sorted(folder.glob("sounds/fan/normal/**/*.wav"))
        run("fit", "sounds/fan/normal", "-o", "fan.auscult", "--preset", "paper")
        port = free_port()
        server = subprocess.Popen(
            [Path(sys.executable).parent / "moto_server", "-H", "127.0.0.1", "-p", str(port)],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        try:
            endpoint = f"http://127.0.0.1:{port}"
            options = {"endpoint_url": endpoint, "region_name": "us-east-1"}
            client = boto3.client("s3", aws_access_key_id="test", aws_secret_access_key="test", **options)
            for _ in range(100):
                try:
                    client.create_bucket(Bucket="archive")
                    break
                except Exception:  # It is not listening yet.
                    time.sleep(0.2)
            for path in normal:
                client.upload_file(str(path), "archive", f"day 1/{path.name}")
            rows = [(f"s3://archive/day 1/{path.name}", str(path)) for path in normal]
            (folder / "remote.csv").write_text("path\n" + "".join(f"{uri}\n" for uri, _ in rows) + "s3://archive/gone.wav\n")
            (folder / "local.csv").write_text("path\n" + "".join(f"{path}\n" for _, path in rows))
            store = {"AWS_ENDPOINT": endpoint, "AWS_ALLOW_HTTP": "true"}
            found = json.loads(run("archive", "score", "fan.auscult", "remote.csv", "--out", "remote", "--json", code=2, **store))
            run("archive", "score", "fan.auscult", "local.csv", "--out", "local")
        finally:
            server.terminate()
            server.wait()
        table = {side: pyarrow.parquet.read_table(folder / side / "shard=00000.parquet").to_pylist() for side in ("remote", "local")}
        columns = ("start_seconds", "seconds", "score", "p_value", "verdict", "differs_most")
        pairs = list(zip(table["remote"], table["local"]))
        assert len(pairs) == len(normal) == found["rows"] - 1 and found["errors"] == 1, found
        assert all(one[column] == other[column] for one, other in pairs for column in columns)
        missing = table["remote"][-1]
        assert missing["score"] is None and "gone.wav" in missing["error"], missing
        print(f"objects: {len(pairs)} recordings in an object store have the rows of those on the disk; one is not there, and says so")
    return 0


if __name__ == "__main__":
    sys.exit(main())
