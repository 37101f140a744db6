#!/usr/bin/env python3
"""`auscult watch` with a real broker and a mail server on loopback: states, events, commands, a broker that goes away and comes
back, a mail with its page. Every wait has an end, and everything that is started is stopped.

    tools/services.py PROGRAM [SECONDS]     with the broker away for so long
"""
import json
import os
import shutil
import socket
import subprocess
import sys
import tempfile
import threading
import time
from email import message_from_bytes
from pathlib import Path

PROGRAM = sys.argv[1]
MOSQUITTO = shutil.which("mosquitto") or "/usr/sbin/mosquitto"
AWAY = float(sys.argv[2]) if len(sys.argv) > 2 else 0.0
LONGEST = 60.0


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def wait_for(what, is_so):
    began = time.monotonic()
    while time.monotonic() - began < LONGEST:
        found = is_so()
        if found:
            return found
        time.sleep(0.05)
    raise SystemExit(f"services: {what} does not come")


class Broker:
    """mosquitto, and everything it was told."""

    def __init__(self, folder):
        self.folder, self.port, self.process = folder, free_port(), None

    def start(self):
        settings = self.folder / "mosquitto.conf"
        settings.write_text(f"listener {self.port} 127.0.0.1\nallow_anonymous true\npersistence false\n")
        self.process = subprocess.Popen([MOSQUITTO, "-c", settings], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        wait_for("the broker", self.answers)

    def answers(self):
        with socket.socket() as probe:
            return probe.connect_ex(("127.0.0.1", self.port)) == 0

    def stop(self):
        if self.process:
            self.process.terminate()
            self.process.wait(10)
            self.process = None

    def publish(self, topic, text):
        subprocess.run(["mosquitto_pub", "-h", "127.0.0.1", "-p", str(self.port), "-t", topic, "-m", text], check=True, timeout=20)

    def retained(self, topic):
        heard = subprocess.run(["mosquitto_sub", "-h", "127.0.0.1", "-p", str(self.port), "-t", topic, "-C", "1", "-W", "2"],
                               capture_output=True, text=True, timeout=20)
        return heard.stdout.strip()


class Subscriber:
    """What a subscriber heard, topic by topic."""

    def __init__(self, broker):
        self.heard = []
        self.process = subprocess.Popen(
            ["mosquitto_sub", "-h", "127.0.0.1", "-p", str(broker.port), "-q", "1", "-v", "-t", "#"],
            stdout=subprocess.PIPE, text=True)
        threading.Thread(target=self.listen, daemon=True).start()

    def listen(self):
        for line in self.process.stdout:
            self.heard.append(line.rstrip("\n").partition(" ")[::2])

    def events(self):
        return [json.loads(body) for topic, body in self.heard if topic == "auscult/works/fan/event"]

    def stop(self):
        self.process.terminate()
        self.process.wait(10)


class Mailbox:
    """A mail server that takes everything; the first connection is refused."""

    def __init__(self):
        self.mails, self.refused = [], 0
        self.server = socket.create_server(("127.0.0.1", 0))
        self.port = self.server.getsockname()[1]
        threading.Thread(target=self.serve, daemon=True).start()

    def serve(self):
        while True:
            connection, _ = self.server.accept()
            with connection, connection.makefile("rwb") as stream:
                if not self.refused:
                    self.refused = 1
                    continue
                self.talk(stream)

    def talk(self, stream):
        def say(text):
            stream.write(text.encode() + b"\r\n")
            stream.flush()
        say("220 here")
        for line in stream:
            word = line.split()[0].upper() if line.split() else b""
            if word in (b"EHLO", b"HELO"):
                say("250 here")
            elif word == b"DATA":
                say("354 go on")
                body = b""
                for part in stream:
                    if part == b".\r\n":
                        break
                    body += part[1:] if part.startswith(b"..") else part
                self.mails.append(message_from_bytes(body))
                say("250 taken")
            elif word == b"QUIT":
                say("221 bye")
                return
            else:
                say("250 fine")


def run(*arguments, folder, code=0):
    ran = subprocess.run([PROGRAM, *arguments], cwd=folder, capture_output=True, text=True, timeout=300)
    if ran.returncode != code:
        raise SystemExit(f"services: {arguments} ended with {ran.returncode}: {ran.stderr}")
    return ran.stdout


def check(condition, what):
    if not condition:
        raise SystemExit(f"services: not so: {what}")


def complete(heard, lines):
    """How many events there were while the broker was away, once all of them were heard, each once and in order; until then nothing."""
    happened = [json.loads(line)["id"] for line in lines.splitlines()]
    numbers = [int(event["id"].rsplit("-", 1)[1]) for event in heard]
    check(numbers == sorted(set(numbers)), "each once and in order")
    wanted = [identity for identity in happened if int(identity.rsplit("-", 1)[1]) >= (numbers or [1])[0]]
    return len(wanted) if {event["id"] for event in heard} >= set(wanted) else 0


def main(version):
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        made = ["--layout", "visits", "--machine", "fan", "--fault", "imbalance", "--train", "24", "0", "--test", "12", "0", "--visits", "4",
                "--seconds", "2", "--severity", "1", "--snr-db", "20"]
        run("synth", "--out", "made", *made, folder=folder)
        run("fit", "made/fan/normal", "-o", "fan.auscult", "--preset", "fast", folder=folder)
        normal = sorted((folder / "made/fan/check").rglob("normal_*.wav"))
        faulty = sorted((folder / "made/fan/check").rglob("imbalance_*.wav"))
        check(len(normal) >= 10 and len(faulty) >= 10, "there are clips to play")
        broker, mailbox = Broker(folder), Mailbox()
        (folder / "in").mkdir()
        (folder / "site.toml").write_text(f"""
site = "works"
public_url = "https://auscult.example"
[[machine]]
name = "fan"
model = "fan.auscult"
folder = "in"
[machine.running]
topic = "plant/fan"
[machine.alarm]
raise = 3
window = 5
[mqtt]
broker = "127.0.0.1:{broker.port}"
version = {version}
commands = true
[[email]]
server = "127.0.0.1:{mailbox.port}"
tls = "none"
from = "auscult@example.org"
to = ["ada@example.org"]
tells = ["alarm"]
""")
        count = 0

        def play(files):
            nonlocal count
            for file in files:
                count += 1
                # Written elsewhere and moved: whole from the first moment on.
                shutil.copy(file, folder / "moving.wav")
                os.replace(folder / "moving.wav", folder / f"in/{count:03}.wav")
                time.sleep(0.02)

        def machine():
            status = json.loads(run("watch", "status", "--data", "data", "--json", folder=folder))
            return status["machines"][0] if status["machines"] else {"state": None}

        def is_state(state):
            return lambda: machine()["state"] == state

        log = open(folder / "log", "w")
        broker.start()
        subscriber = Subscriber(broker)
        watching = subprocess.Popen([PROGRAM, "watch", "site.toml", "--data", "data"], cwd=folder, stderr=log)
        try:
            wait_for("the monitor online", lambda: broker.retained("auscult/works/status") == "online")
            discovered = broker.retained("homeassistant/sensor/auscult_works_fan/state/config")
            check(json.loads(discovered)["state_topic"] == "auscult/works/fan/state", "Home Assistant finds the machine")
            play(normal[:3])
            wait_for("normal", lambda: '"state":"normal"' in broker.retained("auscult/works/fan/state"))
            play(faulty[:4])
            wait_for("an alarm", lambda: any(event["to"] == "alarm" for event in subscriber.events()))
            event = next(event for event in subscriber.events() if event["to"] == "alarm")
            check(event["link"] == f"https://auscult.example/events/{event['id']}", "messages link to their page")
            print(f"services: state, discovery and event through a broker, version {version}")

            mail = wait_for("a mail", lambda: mailbox.mails and mailbox.mails[0])
            pages = [part for part in mail.walk() if part.get_content_type() == "text/html"]
            check("fan: alarm" in mail["subject"] and len(pages) == 1, "a mail with its page")
            page = pages[0].get_payload(decode=True).decode()
            check("data-state=" in page and "audio/flac" in page, "the page has its sound")
            check(mailbox.refused == 1 and len(mailbox.mails) == 1, "tried again after a failure, and told once")
            print("services: a mail with the page of the alarm, after a server that was away")

            broker.publish("auscult/works/fan/set", json.dumps({"command": "acknowledge", "who": "ada"}))
            wait_for("the acknowledgement", lambda: machine()["acknowledged"])
            broker.publish("auscult/works/fan/set", json.dumps({"command": "shelve", "for": "4h", "reason": "new seals"}))
            wait_for("the shelf", lambda: (machine()["shelved"] or {}).get("reason") == "new seals")
            broker.publish("auscult/works/fan/set", json.dumps({"command": "unshelve", "who": "ada"}))
            wait_for("the end of the shelf", lambda: machine()["shelved"] is None)
            broker.publish("auscult/works/fan/set", "nonsense")
            broker.publish("plant/fan", "banana")
            wait_for("the remark on a state that is not known", lambda: "banana" in (folder / "log").read_text())
            broker.publish("plant/fan", "off")
            time.sleep(0.5)
            play(normal[3:5])
            wait_for("not running", is_state("not-running"))
            broker.publish("plant/fan", "on")
            time.sleep(0.5)
            play(normal[5:11])
            wait_for("normal again", is_state("normal"))
            print("services: commands and an operating state from the broker")

            # The broker goes away: nobody else notices, and nothing is lost.
            before, mails = len(subscriber.events()), len(mailbox.mails)
            subscriber.stop()
            broker.stop()
            began = time.monotonic()
            play(faulty[4:9])
            wait_for("an alarm without a broker", is_state("alarm"))
            wait_for("another mail", lambda: len(mailbox.mails) > mails)
            while time.monotonic() - began < AWAY:
                # Life goes on meanwhile: one clip every ten seconds.
                play([normal[count % len(normal)]] if count % 12 else faulty[:5])
                time.sleep(10)
            if AWAY:
                play(faulty[:8])
                wait_for("an alarm at the end of the pause", is_state("alarm"))
            broker.start()
            subscriber = Subscriber(broker)
            wait_for("the alarm after the pause", lambda: any(event["to"] == "alarm" for event in subscriber.events()))
            late = subscriber.events()
            check(len({event["id"] for event in late}) == len(late), "no event twice")
            wait_for("the state after the pause", lambda: '"state":"alarm"' in broker.retained("auscult/works/fan/state"))
            check(before > 0, "there were events before")
            if AWAY:
                # Everything that happened meanwhile arrives, each once, in its order.
                told = wait_for("all events", lambda: complete(subscriber.events(), run("watch", "events", "--data", "data", "--jsonl", folder=folder)))
                print(f"services: {told} events of {AWAY} s without a broker arrived, each once")
            print("services: a broker that was away loses no event")

            watching.terminate()
            check(watching.wait(10) == 0, "a clean end")
            check(broker.retained("auscult/works/status") == "offline", "offline after the end")
            check("the same as in the history" in run("watch", "replay", "--data", "data", folder=folder), "replay equals live")
            # A monitor that is killed: the broker says it for it.
            watching = subprocess.Popen([PROGRAM, "watch", "site.toml", "--data", "data"], cwd=folder, stderr=log)
            wait_for("the monitor online again", lambda: broker.retained("auscult/works/status") == "online")
            watching.kill()
            watching.wait()
            wait_for("the last will", lambda: broker.retained("auscult/works/status") == "offline")
            print("services: a clean end, and a last will")
        except SystemExit:
            print((folder / "log").read_text(), file=sys.stderr)
            raise
        finally:
            watching.kill()
            subscriber.stop()
            broker.stop()


for version in (3,) if AWAY else (3, 5):
    main(version)
print("services: all of it works")
