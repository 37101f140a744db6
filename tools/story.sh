#!/usr/bin/env bash
# One machine's story, from the first recording to a new normal: the acceptance test of the program, and the first chapter of
# the book.
#
#   tools/story.sh              prints the chapter
#   tools/story.sh --write      writes it to docs/first-hour.md
#   tools/story.sh --check      fails unless docs/first-hour.md is what is printed
#
# STORY_PAGE names a file that the report is copied to. AUSCULT names the program, such as one from a package: AUSCULT=target/packages/root/usr/bin/auscult. The report is opened
# in Chromium where that is installed.
set -euo pipefail
cd "$(dirname "$0")/.."

target="${CARGO_TARGET_DIR:-$PWD/target}"
program="$(realpath "${AUSCULT:-$target/debug/auscult}")"
chapter="$PWD/docs/first-hour.md"
work="$(mktemp -d)"
trap 'rm -rf "$work"' EXIT

fail() {
    echo "story: $*" >&2
    exit 1
}

# run ARGUMENTS...: the command and what it prints, as a reader would see them. What it printed stays in $printed.
run() {
    local shown
    shown="$(printf '%q ' "$@")"
    printf '```console\n$ auscult %s\n' "${shown% }"
    # The code of a command that fails is part of the story, too.
    printed="$("$program" "$@" 2>&1)" && code=0 || code=$?
    printf '%s\n```\n\n' "$printed"
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

tell() {
    cat <<'TEXT'
# The first hour

This chapter is printed by `tools/story.sh`, which the tests run: every line below is what the program said.

## Record a few visits

A pump is recorded while it is well, on five days. A folder is a visit. (The pump here is synthetic, so that you can do the same.)

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

## A moved microphone

After maintenance the microphone hangs further away: less of the pump, more of the hall. Clip by clip that looks like a fault. All
clips differ, and the same way; so the program says that the recording or the machine has changed as a whole, and what to
look at before anybody opens the pump.

TEXT
    recordings moved 0.5 0 normal 2026-06-08 0
    recordings moved-later 0.5 0 normal 2026-06-09 0 8
    run score pump.auscult moved
    expect 'has changed as a whole'
    cat <<'TEXT'
Somebody who knows that the pump is well adds the visit to the memory. The price is said in
[when the normal moves](when-the-normal-moves.md): what is added is no longer found.

TEXT
    run model add pump.auscult moved --visit 2026-06-08
    run score pump.auscult moved-later
    if grep -q 'anomalous  ' <<<"$printed"; then fail "the new place is still called anomalous: $printed"; fi
}

cd "$work"
case "${1:-}" in
    --write) tell >"$work/chapter.md" && cp "$work/chapter.md" "$chapter" ;;
    --check)
        tell >"$work/chapter.md"
        diff -u "$chapter" "$work/chapter.md" || fail "docs/first-hour.md is not what the program says; tools/story.sh --write"
        echo "story: told, and as written"
        ;;
    *) tell ;;
esac
