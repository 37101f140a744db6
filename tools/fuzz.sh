#!/usr/bin/env bash
# Runs every fuzz target for a while: tools/fuzz.sh [seconds a target, 60 if not given] [target...]
#
# Needs a nightly toolchain (rustup toolchain install nightly); cargo-fuzz is installed if missing.
# New inputs stay in fuzz/corpus (git status shows them), crashes in fuzz/artifacts.
# tools/fuzz_prune.sh keeps only the inputs that reach new code.
set -euo pipefail
cd "$(dirname "$0")/.."

seconds="${1:-60}"
shift || true
targets=("$@")
if [ "${#targets[@]}" -eq 0 ]; then
    targets=(audio_reader audio_file manifest model_file model_header checkpoint_file checkpoint_pickle upload)
fi

# The workspace's target folder holds builds without sanitizers.
export CARGO_TARGET_DIR="${FUZZ_TARGET_DIR:-$PWD/fuzz/target}"
# A file is written for every input: in memory where there is such a folder.
if [ -d /dev/shm ] && [ -w /dev/shm ]; then
    TMPDIR="$(mktemp -d /dev/shm/auscult-fuzz.XXXXXX)"
    export TMPDIR
    trap 'rm -rf "$TMPDIR"' EXIT
fi

if ! command -v cargo-fuzz >/dev/null; then
    cargo install cargo-fuzz --locked
fi

cargo +nightly fuzz build
failed=()
for target in "${targets[@]}"; do
    printf '\n== %s, %s s\n' "$target" "$seconds"
    # -timeout: one input may not take longer than this many seconds.
    if ! cargo +nightly fuzz run "$target" -- \
        -max_total_time="$seconds" -rss_limit_mb=2048 -timeout=20 -max_len=8192 \
        -print_final_stats=1 -verbosity=1; then
        failed+=("$target")
    fi
done

if [ "${#failed[@]}" -gt 0 ]; then
    printf '\nFAILED: %s; the inputs are in fuzz/artifacts\n' "${failed[*]}"
    exit 1
fi
printf '\nall %d targets ran %s s without a finding\n' "${#targets[@]}" "$seconds"
