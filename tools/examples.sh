#!/usr/bin/env bash
# Runs the examples of the library on a synthetic pump and looks at what they print.
set -euo pipefail
cd "$(dirname "$0")/.."

target="${CARGO_TARGET_DIR:-$PWD/target}"
work="$target/examples-run"
rm -rf "$work"
# The whole workspace, as the tests: a single package would be built anew with other features.
cargo build --locked --quiet --workspace --examples --bins
"$target/debug/auscult" synth --out "$work/sounds" --layout visits --machine pump \
    --train 24 0 --test 4 0 --visits 6 >/dev/null
normal="$work/sounds/pump/normal" check="$work/sounds/pump/check" model="$work/pump.auscult"

# expect NAME TEXT ARGUMENTS...: the example must print the text.
expect() {
    local name="$1" text="$2" printed
    shift 2
    printed="$("$target/debug/examples/$name" "$@" 2>&1)"
    if ! grep -qF -- "$text" <<<"$printed"; then
        printf 'examples: %s did not print "%s":\n%s\n' "$name" "$text" "$printed" >&2
        exit 1
    fi
}
expect learn_a_folder "24 references from 6 visits" "$normal" "$check" "$model"
expect open_model "24 references" "$model" "$(find "$check" -name '*.wav' | sort | head -n 1)"
# 25 s of noise at 48 kHz: two clips of 10 s and a rest.
head -c 2400000 /dev/urandom | expect live_stream "5.0 s left over" "$model"
expect progress_and_cancel "stopped; nothing was written" "$normal" 3
expect progress_and_cancel "learnt 24 references" "$normal"
expect custom_front_end "normal" "$normal" "$work/octaves.auscult"
echo "examples: all five print what they should"
