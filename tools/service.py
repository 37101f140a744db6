#!/usr/bin/env python3
"""Runs `auscult serve` as users do and looks at what it says. Loopback only; every process is stopped.

    tools/service.py PROGRAM [PART...]

Parts: guarded, plant, examples, killed, tls, slow, described. Without any, all of them.
"""
import http.client
import json
import os
import random
import re
import shutil
import signal
import socket
import ssl
import struct
import subprocess
import sys
import tempfile
import threading
import time
import urllib.error
import urllib.request
import wave
from pathlib import Path

PROGRAM = sys.argv[1]
PARTS = sys.argv[2:]
ROOT = Path(__file__).resolve().parent.parent
PASSWORD = "correct horse"
LEARN = 'learn = { visits = 2, clips = 6, visit = "button", start = "on-command" }\n'


def free_port():
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return free.getsockname()[1]


def check(truth, text):
    if not truth:
        raise SystemExit(f"service: {text}")


def run(*arguments, **options):
    return subprocess.run([PROGRAM, *map(str, arguments)], capture_output=True, text=True, timeout=60, **options)


class Service:
    """A service that runs until the end of a `with`."""

    def __init__(self, data, *arguments, scheme="http", port=None):
        self.port = port or free_port()
        self.url = f"{scheme}://127.0.0.1:{self.port}"
        self.log = open(Path(data).parent / "service.log", "ab")
        self.arguments = [PROGRAM, "serve", *map(str, arguments), "--data", str(data), "--listen", f"127.0.0.1:{self.port}"]
        self.token = None
        self.trust = None
        self.start()

    def start(self):
        self.process = subprocess.Popen(self.arguments, stdout=self.log, stderr=self.log)
        until = time.time() + 60
        while time.time() < until:
            check(self.process.poll() is None, f"{self.arguments} ended by itself; see {self.log.name}")
            try:
                if self.get("/healthz", raw=True) == b"ok\n":
                    return
            except OSError:
                time.sleep(0.05)
        raise SystemExit("service: it never answered")

    def kill(self):
        self.process.send_signal(signal.SIGKILL)
        self.process.wait()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        if self.process.poll() is None:
            self.process.terminate()
            try:
                self.process.wait(20)
            except subprocess.TimeoutExpired:
                self.process.kill()
                self.process.wait()
        self.log.close()

    def request(self, path, data=None, method=None, headers=None):
        headers = dict(headers or {})
        if self.token:
            headers["Authorization"] = f"Bearer {self.token}"
        if isinstance(data, dict):
            data, headers["Content-Type"] = json.dumps(data).encode(), "application/json"
        request = urllib.request.Request(self.url + path, data=data, method=method, headers=headers)
        return urllib.request.urlopen(request, timeout=60, context=self.trust)

    def get(self, path, raw=False):
        with self.request(path) as answer:
            body = answer.read()
        return body if raw else json.loads(body)

    def post(self, path, body):
        with self.request(path, body, "POST") as answer:
            return json.load(answer)

    def status(self, path, **options):
        try:
            with self.request(path, **options) as answer:
                return answer.status
        except urllib.error.HTTPError as error:
            return error.code


def wait(seconds, look, text):
    until = time.time() + seconds
    while time.time() < until:
        found = look()
        if found:
            return found
        time.sleep(0.3)
    raise SystemExit(f"service: {text} within {seconds} s")


def write_site(folder, more=""):
    site = Path(folder) / "site.toml"
    site.write_text(f'[[machine]]\nname = "pushed-1"\nclip = "1s"\nkeep = "all"\npreset = "fast"\n{more}')
    return site


def write_clip(path, seconds=2.0, rate=16_000, seed=1):
    with wave.open(str(path), "wb") as sound:
        sound.setparams((1, 2, rate, 0, "NONE", ""))
        state, frames = seed, bytearray()
        for _ in range(int(seconds * rate)):
            state = (1_103_515_245 * state + 12_345) % 2**31
            frames += struct.pack("<h", (state >> 16) % 4_000 - 2_000)
        sound.writeframes(bytes(frames))


def learn_pushed(service, folder, name):
    """Has a machine learnt from two visits of pushed sound, and one clip judged; gives the id of an event."""
    def push(sequence):
        write_clip(folder / "clip.wav", 13.0, seed=sequence)
        sound = (folder / "clip.wav").read_bytes()
        headers = {"Content-Type": "audio/wav", "X-Auscult-Sequence": str(sequence)}
        before = service.get(f"/api/v1/machines/{name}")["clips"]
        check(service.status(f"/api/v1/sources/{name}/audio", data=sound, method="POST", headers=headers) == 202, "not taken")
        wait(60, lambda: service.get(f"/api/v1/machines/{name}")["clips"] >= before + 12, "the clips were not heard")

    for visit in (1, 2):
        push(visit)
        service.post(f"/api/v1/machines/{name}/learn", {"now": visit == 2})
    wait(60, lambda: service.get(f"/api/v1/machines/{name}")["model"], f"{name} has no model")
    push(3)
    return service.get("/api/v1/events")["items"][0]["id"]


def guarded(folder):
    """Beyond loopback only with users; users and tokens from the command line; a wrong command changes nothing."""
    data, site = folder / "data", write_site(folder)
    refused = run("serve", site, "--data", data, "--listen", "0.0.0.0:0")
    check(refused.returncode == 2 and "user add" in refused.stderr, f"it opened itself to the network: {refused}")
    check(run("serve", "user", "add", "anna", "--role", "king", "--data", data, input="x").returncode == 2, "king is not a role")
    check(run("serve", "user", "add", "anna", "--role", "admin", "--data", data, input="short\n").returncode == 2, "too short")
    added = run("serve", "user", "add", "anna", "--role", "admin", "--data", data, input=PASSWORD + "\n")
    check(added.returncode == 0, f"no user: {added}")
    users = json.loads(run("serve", "user", "list", "--json", "--data", data).stdout)["users"]
    check(users == [{"name": "anna", "role": "administrator"}], f"users: {users}")
    secret = run("serve", "token", "add", "edge-7", "--scope", "push", "--data", data).stdout.strip()
    check(secret.startswith("auscult_"), "no token")
    check(secret not in run("serve", "token", "list", "--data", data).stdout, "the list shows the secret")
    with Service(data, site) as service:
        check(service.status("/api/v1/machines") == 401, "no login was needed")
        reader = run("serve", "token", "add", "wall", "--scope", "read", "--data", data).stdout.strip()
        service.token = reader
        stream = service.request("/api/v1/stream")
        check(stream.readline() == b"retry: 2000\n", "no stream")
        check(run("serve", "token", "revoke", "wall", "--data", data).returncode == 0, "cannot revoke")
        until = time.time() + 40
        while stream.readline():
            check(time.time() < until, "a stream goes on after its token was revoked")
        service.token = secret
        check(service.status("/api/v1/machines") == 403, "a token that may push may read")
        check(run("serve", "token", "revoke", "edge-7", "--data", data).returncode == 0, "cannot revoke")
        check(service.status("/api/v1/machines") == 401, "a revoked token is still known")
        service.token = None
        wall = run("serve", "token", "add", "auditor", "--scope", "admin", "--data", data).stdout.strip()
        service.token = wall
        audit = service.get("/api/v1/audit", raw=True).decode()
        for done in ("user add anna --role administrator", "token add edge-7 --scope push", "token revoke edge-7"):
            check(done in audit and "command line" in audit, f"the audit log does not say: {done}")
        check(secret not in audit and wall not in audit and PASSWORD not in audit, "the audit log has secrets")
        service.token = None
        login = {"name": "anna", "password": PASSWORD}
        with service.request("/api/v1/session", login, "POST") as answer:
            check("HttpOnly" in answer.headers["Set-Cookie"], "scripts may read the cookie")
        # Commands of the monitor reach a service, too.
        shelved = run("watch", "shelve", "pushed-1", "--for", "1h", "--reason", "seals", "--data", data)
        check(shelved.returncode == 0, f"watch shelve: {shelved}")
        check("seals" in run("watch", "status", "--json", "--data", data).stdout, "watch status does not show it")
    log = (folder / "service.log").read_text()
    check(PASSWORD not in log and secret not in log, "the log has secrets")


def plant(folder):
    """The demonstration from an empty folder to an alarm that can be heard, seen and read."""
    with Service(folder / "data", "--demo") as service:
        check(service.get("/api/v1/session")["demo"] is True, "it is not the demonstration")

        def alarm():
            return service.get("/api/v1/machines/pump-1")["state"] == "alarm"

        wait(180, alarm, "pump-1 raised no alarm")
        machine = service.get("/api/v1/machines/pump-1")
        check(machine["lines"]["clip"] and machine["lines"]["alarm"] and machine["promise"]["text"], f"no promise: {machine}")
        events = service.get("/api/v1/events?machine=pump-1&kind=state")["items"]
        event = next(it for it in events if it["to"] == "alarm")
        detail = service.get(f"/api/v1/events/{event['id']}")
        clip = next(it for it in reversed(detail["around"]) if it["has_sound"] and it["verdict"] == "anomalous")
        place = f"/api/v1/machines/pump-1/clips/{clip['step']}"
        for part in ("clip", "nearest", "all"):
            sound = service.get(f"{place}/sound?part={part}", raw=True)
            check(sound.startswith(b"RIFF") and len(sound) > 30_000, f"no sound of {part}")
        picture = service.get(f"{place}/spectrogram")
        check(picture["nearest"] and picture["difference"] and picture["bands"], f"no comparison: {list(picture)}")
        page = service.get(detail["page"], raw=True)
        check(b"<main" in page and str(folder).encode() not in page, "the report is missing, or shows paths")
        acknowledged = service.post("/api/v1/machines/pump-1/acknowledge", {})
        check(service.get("/api/v1/machines/pump-1")["acknowledged"], f"not acknowledged: {acknowledged}")
        check(run("watch", "status", "--json", "--data", folder / "data").returncode == 0, "watch status")
        trend = service.get("/api/v1/machines/pump-1/trend?width=3600")
        check(trend["points"] and trend["events"], "no trend")


def examples(folder):
    """The examples of docs/service.md, as they stand there."""
    text = (ROOT / "docs" / "service.md").read_text()
    blocks = re.findall(r"^```(bash|python)\n(.*?)^```", text, re.DOTALL | re.MULTILINE)
    check(len(blocks) >= 7, f"{len(blocks)} examples")
    site = write_site(folder, f'[[machine]]\nname = "fan-1"\nclip = "1s"\nkeep = "all"\npreset = "fast"\n{LEARN}')
    with Service(folder / "data", site) as service:
        learn_pushed(service, folder, "fan-1")
        write_clip(folder / "clip.wav")
        scopes = [word for scope in ("read", "operate", "push", "score") for word in ("--scope", scope)]
        token = run("serve", "token", "add", "examples", *scopes, "--data", folder / "data").stdout.strip()
        surroundings = {**os.environ, "AUSCULT": service.url, "TOKEN": token}
        for language, code in blocks:
            command = ["bash", "-euc", code] if language == "bash" else [sys.executable, "-c", code]
            done = subprocess.run(command, cwd=folder, env=surroundings, capture_output=True, text=True, timeout=60)
            check(done.returncode == 0, f"this example fails:\n{code}\n{done.stdout[-500:]}\n{done.stderr[-2000:]}")
        check((folder / "clips.parquet").read_bytes()[:4] == b"PAR1", "no Parquet")
        check((folder / "clips.csv").read_text().startswith("machine,path,"), "no CSV")
        typed = run("watch", "export", "--csv", "--machine", "fan-1", "--data", folder / "data").stdout
        check(typed.splitlines()[0] == (folder / "clips.csv").read_text().splitlines()[0], "other columns than watch export")
        scored = surroundings | {"PATH": os.environ["PATH"]}
        body = subprocess.run(
            ["curl", "-sf", "-H", f"Authorization: Bearer {token}", "-H", "Content-Type: audio/wav", "--data-binary",
             "@clip.wav", f"{service.url}/api/v1/machines/fan-1/score"], cwd=folder, env=scored, capture_output=True, check=True)  # fmt: skip
        model = sorted((folder / "data/models/fan-1").iterdir())[-1]
        typed = run("score", model, folder / "clip.wav", "--json").stdout
        program = json.loads(typed.replace(f"{folder}/data/", ""))
        service_says, program_says = json.loads(body.stdout)["clips"], program["clips"]
        for clip in service_says + program_says:
            for place in ("path", "time", "time_origin"):
                clip.pop(place)
        check(service_says == program_says, f"the service scores otherwise:\n{service_says}\n{program_says}")


def killed(folder):
    """kill -9 right after an answer, and while sound is pushed: what was answered is there after the restart."""
    data, site = folder / "data", write_site(folder)
    with Service(data, site) as service:
        for number in range(5):
            service.post("/api/v1/machines/pushed-1/shelve", {"minutes": 60, "reason": f"reason {number}"})
            service.kill()
            service.start()
            shelved = service.get("/api/v1/machines/pushed-1")["shelved"]
            check(shelved and shelved["reason"] == f"reason {number}", f"forgotten: {shelved}")
            events = service.get("/api/v1/events?kind=command")["items"]
            check(len(events) == number + 1, f"{len(events)} events after {number + 1} commands")
        check(not list((data / "incoming").glob("*")), "uploads were left")
        killed_while_pushing(service, folder)


def killed_while_pushing(service, folder):
    """Pieces of one clip each, sent again where there was no answer: none is lost, and at most those that had no answer come twice."""
    chance, kills, answered = random.Random(7), 10, 0
    for _ in range(kills):
        process = service.process
        killer = threading.Timer(chance.uniform(0.02, 2.0), process.kill)
        killer.start()
        while process.poll() is None:
            write_clip(folder / "piece.wav", 1.0, seed=answered + 1)
            headers = {"Content-Type": "audio/wav", "X-Auscult-Sequence": str(answered)}
            try:
                with service.request("/api/v1/sources/pushed-1/audio", (folder / "piece.wav").read_bytes(), "POST", headers) as answer:
                    check(answer.status == 202, "not taken")
                    answered = json.load(answer)["next"]
            except (OSError, http.client.HTTPException, ValueError):
                break
        killer.join()
        service.kill()
        service.start()
        clips = service.get("/api/v1/machines/pushed-1")["clips"]
        check(answered <= clips <= answered + kills, f"{clips} clips of {answered} pieces that were answered")
    check(answered >= kills // 2, f"only {answered} pieces were answered")


def certificate(folder, name):
    subprocess.run(
        ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", "2", "-subj",
         f"/CN={name}", "-addext", "subjectAltName=IP:127.0.0.1", "-keyout", folder / "key.new", "-out", folder / "cert.new"],
        check=True, capture_output=True)  # fmt: skip
    (folder / "key.new").rename(folder / "server.key")
    (folder / "cert.new").rename(folder / "server.pem")


def tls(folder):
    """TLS from files, which are read again when they change."""
    certificate(folder, "first")
    site = write_site(folder, '[server]\ntls_certificate = "server.pem"\ntls_key = "server.key"\n')
    unsafe = ssl._create_unverified_context()

    def common_name(port):
        text = ssl.get_server_certificate(("127.0.0.1", port))
        shown = subprocess.run(["openssl", "x509", "-noout", "-subject"], input=text, capture_output=True, text=True, check=True)
        return shown.stdout.rsplit("=", 1)[1].strip()

    Service.trust = unsafe
    port = free_port()
    data = folder / "data"
    check(run("serve", "user", "add", "anna", "--role", "admin", "--data", data, input=PASSWORD + "\n").returncode == 0, "no user")

    class Safe(Service):
        def start(self):
            self.trust = unsafe
            super().start()

    with Safe(data, site, scheme="https", port=port) as service:
        check(common_name(port) == "first", "another certificate")
        with service.request("/api/v1/session", {"name": "anna", "password": PASSWORD}, "POST") as answer:
            check("Secure" in answer.headers["Set-Cookie"], "the cookie may travel in the clear")
            check("max-age" in answer.headers["Strict-Transport-Security"], "no HSTS")
        certificate(folder, "second")
        wait(20, lambda: common_name(port) == "second", "the new certificate was not read")
        (folder / "server.pem").write_text("nonsense")
        time.sleep(6)
        check(common_name(port) == "second", "a broken certificate took the old one away")


def slow(folder):
    """Clients that send slowly, or never read, hold nobody up."""
    data, site = folder / "data", write_site(folder, "[server]\nconnections = 200\n")
    with Service(data, site) as service:
        held = []
        for number in range(80):
            client = socket.create_connection(("127.0.0.1", service.port))
            if number % 2:
                client.sendall(b"GET /api/v1/machines HTTP/1.1\r\nHost: 127")
            else:
                client.sendall(b"GET /api/v1/stream HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n")
            held.append(client)
        worst = 0.0
        for _ in range(200):
            began = time.perf_counter()
            check(service.status("/api/v1/machines") == 200, "not answered")
            worst = max(worst, time.perf_counter() - began)
        check(worst < 1.0, f"somebody waited for {worst:.2f} s")
        oversized = http.client.HTTPConnection("127.0.0.1", service.port, timeout=20)
        oversized.request("GET", "/api/v1/machines", headers={"X-Large": "x" * 200_000})
        try:
            check(oversized.getresponse().status in (400, 431), "a huge head was taken")
        except OSError:
            pass
        for client in held:
            client.close()


def described(folder):
    """schemathesis, against the description: no 5xx, and answers are as described."""
    tool = os.environ.get("SCHEMATHESIS") or shutil.which("schemathesis")
    check(tool, "schemathesis is not there; run tools/service.sh")
    site = write_site(folder, LEARN + "[server]\nrequests_per_second = 100000\n")
    with Service(folder / "data", site) as service:
        event = learn_pushed(service, folder, "pushed-1")
        # What is there, and then names that nobody has.
        known = f'[parameters]\n"path.machine" = "pushed-1"\n"path.step" = 3\n"path.event" = "{event}"\n'
        for name, configuration in [("known", known), ("unknown", "")]:
            (folder / f"{name}.toml").write_text(configuration)
            # Streams never end, users would lock the tool out, and it cannot write sound, which the tests of the interface do.
            left_out = "/(stream|live|score|audio)$|/users|/session"
            done = subprocess.run(
                [tool, "--config-file", f"{name}.toml", "run", f"{service.url}/api/v1/openapi.json", "--url", service.url,
                 "--max-examples", "15", "--phases", "examples,coverage,fuzzing", "--exclude-path-regex", left_out, "--seed", "7",
                 "--request-timeout", "30", "--checks",
                 "not_a_server_error,status_code_conformance,content_type_conformance,response_schema_conformance",
                 "--suppress-health-check", "all", "--generation-database", "none"],
                capture_output=True, text=True, timeout=900, cwd=folder)  # fmt: skip
            check(done.returncode == 0, f"schemathesis, {name} names:\n{done.stdout[-6000:]}\n{done.stderr[-2000:]}")
        check(service.get("/api/v1/events?kind=command")["items"], "it has changed nothing: no request was a good one")
        check(service.status("/readyz") == 200, "it is not well afterwards")
    log = (folder / "service.log").read_text()
    check("panicked" not in log and "has failed" not in log, "something failed inside; see the log")


def main():
    parts = [guarded, plant, examples, killed, tls, slow, described]
    for part in [it for it in parts if not PARTS or it.__name__ in PARTS]:
        began = time.time()
        with tempfile.TemporaryDirectory(prefix="auscult-service-") as folder:
            part(Path(folder))
        print(f"service: {part.__name__}: {part.__doc__} ({time.time() - began:.0f} s)", flush=True)


main()
