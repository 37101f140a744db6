#!/usr/bin/env bash
# One machine's story, from the first recording to a new normal: the acceptance test of the program, and the first chapter of
# the book.
#
#   tools/story.sh              prints the chapter
#   tools/story.sh --write      writes it to docs/first-hour.md
#   tools/story.sh --check      fails unless docs/first-hour.md is what is printed
#   tools/story.sh --keep DIR   leaves everything the story is about in a new folder, to do the same there
#
# Needs Python 3, for somebody who receives messages. STORY_PAGE names a file that the report is copied to. AUSCULT names the program, such as one from a package: AUSCULT=target/packages/root/usr/bin/auscult. The report is opened
# in Chromium where that is installed.
set -euo pipefail
caller="$PWD"
cd "$(dirname "$0")/.."

target="${CARGO_TARGET_DIR:-$PWD/target}"
program="$(realpath "${AUSCULT:-$target/debug/auscult}")"
chapter="$PWD/docs/first-hour.md"
work="$(mktemp -d)"
background=()
kept=""
tidy() {
    for process in "${background[@]}"; do kill "$process" 2>/dev/null || true; done
    [ -n "$kept" ] || rm -rf "$work"
}
trap tidy EXIT

fail() {
    echo "story: $*" >&2
    exit 1
}

# run ARGUMENTS...: the command and what it prints, as a reader would see them. What it printed stays in $printed.
run() {
    local word shown=""
    for word in "$@"; do
        case "$word" in *" "*) shown+=" \"$word\"" ;; *) shown+=" $word" ;; esac
    done
    printf '```console\n$ auscult%s\n' "$shown"
    # The code of a command that fails is part of the story, too.
    printed="$("$program" "$@" 2>&1)" && code=0 || code=$?
    printf '%s\n```\n\n' "$(without_times <<<"$printed")"
}
# Times of the day on which the story is told; the pump's own are in June.
without_times() {
    sed -E -e 's/2026-06-0([0-9])T09/@\1@/g' -e 's/20[0-9]{2}-[0-9]{2}-[0-9]{2}T[0-9:.]+Z +/<now>  /g' -e 's/^time +event/time   event/' \
        -e 's/@([0-9])@/2026-06-0\1T09/g'
}
# wait_for WHAT COMMAND...: until the command succeeds, a minute at most.
wait_for() {
    local what="$1" tries=0
    shift
    until "$@" >/dev/null 2>&1; do
        tries=$((tries + 1))
        [ "$tries" -lt 300 ] || fail "$what: waited for a minute; $(cat watch.log)"
        sleep 0.2
    done
}
expect() { grep -qE -- "$1" <<<"$printed" || fail "expected '$1' in: $printed"; }

# recordings FOLDER SEVERITY SNR KIND DAY FIRST [SKIP]: eight clips of the same pump, with a date and a time in their names.
recordings() {
    local folder="$1" severity="$2" snr="$3" kind="$4" day="$5" first="$6" skip="${7:-0}" number=0 file
    rm -rf made
    "$program" synth --out made --layout visits --machine pump --fault leak --train 5 0 --test $((8 + skip)) 0 --visits 5 \
        --severity "$severity" --snr-db "$snr" >/dev/null
    mkdir -p "$folder"
    for file in $(find made/pump/check -name "${kind}_*.wav" | sort | tail -n +$((1 + skip)) | head -n 8); do
        cp "$file" "$folder/pump_${day}_09-$(printf '%02d' $((first + number)))-00.wav"
        number=$((number + 1))
    done
}

# Somebody who is told: any web address will do, and this one writes down what it gets.
receive() {
    cat >receiver.py <<'PYTHON'
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path


class Receiver(BaseHTTPRequestHandler):
    def do_POST(self):
        text = self.rfile.read(int(self.headers["content-length"])).decode()
        with open("messages.txt", "a") as messages:
            messages.write(f"{self.headers['title']}\n{text}")
        self.send_response(204)
        self.end_headers()

    def log_message(self, *_):
        pass


server = HTTPServer(("127.0.0.1", 0), Receiver)
Path("port").write_text(str(server.server_port))
server.serve_forever()
PYTHON
    python3 receiver.py &
    background+=($!)
    wait_for "the receiver" test -s port
}
has_heard() { "$program" watch status --data "${2:-data}" --json | grep -q "\"clips\": $1,"; }

# The leak's third day, heard by the monitor.
watch_it() {
    recordings today 1.0 6 leak 2026-06-04 0
    receive
    cat >site.toml <<SITE
[[machine]]
name = "pump-7"
model = "pump.auscult"
folder = "today"
[machine.alarm]
raise = 3
window = 5
[[webhook]]
url = "http://127.0.0.1:$(cat port)/"
template = "ntfy"
SITE
    cat <<TEXT
## Watch it day and night

The monitor does the same by itself. It is told of a folder that recordings arrive in, and of somebody to tell:

\`\`\`console
\$ cat site.toml
$(sed 's|127.0.0.1:[0-9]*|127.0.0.1:8085|' site.toml)
\$ auscult watch site.toml --data data &
\`\`\`

Here the recordings of that Thursday lie in \`today\`. (The time at which this was told is shown as \`<now>\`.)

TEXT
    "$program" watch site.toml --data data >watch.log 2>&1 &
    background+=($!)
    wait_for "eight clips" has_heard 8
    wait_for "the message" test -s messages.txt
    run watch events --data data
    expect ' alarm '
    cat <<TEXT
Three of five clips raised the alarm, as the configuration says, and whoever listens at that address was told, once. (Without these three lines the
monitor [plans a rule](watch.md#rules-and-budgets) that raises one false alarm a month at most, or says what is missing for it; with a clip a minute it would have waited
for an hour of anomalous clips, and Thursday has only eight.)

\`\`\`text
$(cat messages.txt)
\`\`\`

[Phones, chat, mail and MQTT](watch.md#who-is-told) are told the same way. The page on the machine's last days is one command:

TEXT
    grep -q 'pump-7: alarm' messages.txt || fail "the message says $(cat messages.txt)"
    run watch report pump-7 --week --data data -o pump-7.html
    grep -q '<main data-state="alarm"' pump-7.html || fail "the page of the week says $(grep -o '<main[^>]*>' pump-7.html)"
    cat <<'TEXT'
Suppose that it was no leak, but a valve that somebody opens every Thursday. Who knows that says so, by the number of the clip in the
table of events. A clip that is called normal waits until somebody accepts it, and before that the program says what it would change.

TEXT
    # The last clip that raised it: its sound was kept.
    local clip
    clip="$("$program" watch events --data data --jsonl |
        python3 -c 'import json,sys; print([event["clips"][-1] for event in map(json.loads, sys.stdin) if event["to"] == "alarm"][0])')"
    run watch feedback pump-7 "$clip" normal --note "the valve was open" --data data
    expect 'waits to be accepted'
    run watch accept pump-7 --data data
    expect 'nothing was changed'
    run watch accept pump-7 --yes --data data
    expect '41 references instead of 40'
    cat <<'TEXT'
Score and threshold are measured against the memory, so both have another scale with every version. `auscult watch rollback pump-7` takes
it back: a leak that sounds like that valve would no longer be found. `pump.auscult` itself is as it was; the monitor keeps its own
versions (`auscult watch models pump-7`).

TEXT
    "$program" watch stop --data data >/dev/null
}

# A monitor of its own hears the moved microphone.
watch_the_moved_microphone() {
    printf '[[machine]]\nname = "pump-7"\nmodel = "pump.auscult"\nfolder = "moved"\n' >moved.toml
    cat <<'TEXT'
The monitor, which judges clips as they come and [cannot always tell](watch.md#limits) a moved microphone from a fault, tells of an alert, once. It raises no
alarm: the rule that it plans here takes far more anomalous clips than these eight.

```console
$ auscult watch moved.toml --data moved-data &
```

TEXT
    "$program" watch moved.toml --data moved-data >watch.log 2>&1 &
    background+=($!)
    wait_for "eight clips of the moved microphone" has_heard 8 moved-data
    run watch events --data moved-data
    if grep -q ' alarm ' <<<"$printed"; then fail "a moved microphone raises an alarm: $printed"; fi
    "$program" watch stop --data moved-data >/dev/null
}

tell() {
    cat <<'TEXT'
# The first hour

This chapter is printed by `tools/story.sh`, which the tests run: every line below is what the program said, but for the time of day.

## Record a few visits

A pump is recorded while it is well, on five days. A folder is a visit. The pump here is synthetic, so you can do the same: the first
command makes the recordings to learn from. Those of later days are made by `tools/story.sh --keep target/story`, which leaves them all
in that folder. Without the sources of the project, make those of the Thursday on which the monitor hears a leak:

    auscult synth --out made --layout visits --machine pump --fault leak --train 5 0 --test 8 0 --visits 5 --severity 1 --snr-db 6
    mkdir today && cp made/pump/check/leak_*.wav today

TEXT
    run synth --out sounds --layout visits --machine pump --fault leak --train 40 0 --test 4 0 --visits 5
    expect '48 clips in sounds'
    cat <<'TEXT'
## Learn how it sounds

TEXT
    run fit sounds/pump/normal -o pump.auscult
    expect 'references +40 from 40 files'
    cat <<'TEXT'
## A quiet day

Eight clips of another day, with nothing wrong.

TEXT
    recordings quiet 0.5 6 normal 2026-06-01 0
    run score pump.auscult quiet
    expect 'normal'
    if grep -q 'anomalous  ' <<<"$printed"; then fail "a quiet day is called anomalous: $printed"; fi
    cat <<'TEXT'
## A leak that grows

On Tuesday a seal begins to hiss, and the hiss grows over the week.

TEXT
    recordings week 0.5 6 normal 2026-06-02 0
    recordings week 0.3 6 leak 2026-06-02 20
    recordings week 0.6 6 leak 2026-06-03 0
    recordings week 1.0 6 leak 2026-06-04 0
    run report pump.auscult week -o week.html --title "Pump 7"
    if [ -n "${STORY_PAGE:-}" ]; then cp week.html "$STORY_PAGE"; fi
    local state differs
    state="$(sed -n 's/.*<main data-state="\([a-z]*\)".*/\1/p' week.html)"
    differs="$(sed -n 's/.*data-answer="differs"[^>]*>//p' week.html | sed 's/<[^>]*>//g')"
    [ "$state" = alarm ] || fail "a growing leak is $state"
    if command -v chromium >/dev/null; then
        chromium --headless --no-sandbox --disable-gpu --dump-dom "file://$PWD/week.html" 2>/dev/null |
            grep -q '<main data-state="alarm"' || fail "the page says something else in a browser"
    fi
    # A leak of this pump hisses above 3 kHz.
    grep -qE '\+[0-9.]+ dB at [0-9.]+.[4-8]\.[0-9]+ kHz' <<<"$differs" || fail "the leak is said to be: $differs"
    cat <<TEXT
The page opens in any browser, and its first screen answers: is the pump well, since when, what differs, how sure is that, and
what to do. A script reads the same:

\`\`\`console
\$ grep -o '<main data-state="[a-z]*"' week.html
<main data-state="$state"
\`\`\`

What differs, it says: $differs

TEXT
    watch_it
    cat <<'TEXT'
## A moved microphone

After maintenance the microphone hangs further away: less of the pump, more of the hall. Clip by clip that looks like a fault. All
clips differ, and the same way; so the program says that the recording or the machine has changed as a whole, and what to
look at before anybody opens the pump.

TEXT
    recordings moved 0.5 0 normal 2026-06-08 0
    recordings moved-later 0.5 0 normal 2026-06-09 0 8
    run score pump.auscult moved
    expect 'has changed as a whole'
    run report pump.auscult moved -o moved.html --title "Pump 7"
    local main
    main="$(grep -oE '<main [^>]*>' moved.html)"
    grep -q 'data-changed="true"' <<<"$main" || fail "the page of the moved microphone says $main"
    [ "$(grep -o 'class="alarm-span"' moved.html | wc -l)" -le 1 ] || fail "a moved microphone raises a storm of alarms"
    cat <<TEXT
\`\`\`console
\$ grep -oE '<main [^>]*>' moved.html
$main
\`\`\`

TEXT
    watch_the_moved_microphone
    cat <<'TEXT'
Somebody who knows that the pump is well adds the visit to the memory. The price is said in
[when the normal moves](when-the-normal-moves.md): what is added is no longer found.

TEXT
    run model add pump.auscult moved --visit 2026-06-08
    run score pump.auscult moved-later
    if grep -q 'anomalous  ' <<<"$printed"; then fail "the new place is still called anomalous: $printed"; fi
}

if [ "${1:-}" = --keep ]; then
    kept="${2:?--keep needs the name of a new folder}"
    cd "$caller"
    mkdir "$kept"
    rmdir "$work"
    work="$(realpath "$kept")"
fi
cd "$work"
case "${1:-}" in
    --keep)
        tell >/dev/null
        rm -rf made data port receiver.py messages.txt watch.log pump-7.html week.html
        # As it was before the story began to change it.
        rm pump.auscult
        sed -i 's|127.0.0.1:[0-9]*|127.0.0.1:8085|' site.toml
        echo "story: the recordings and site.toml are in $kept; begin with: auscult fit sounds/pump/normal -o pump.auscult"
        ;;
    --write) tell >"$work/chapter.md" && cp "$work/chapter.md" "$chapter" ;;
    --check)
        tell >"$work/chapter.md"
        diff -u "$chapter" "$work/chapter.md" || fail "docs/first-hour.md is not what the program says; tools/story.sh --write"
        echo "story: told, and as written"
        ;;
    *) tell ;;
esac
