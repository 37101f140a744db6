#!/usr/bin/env bash
# Throws out inputs of fuzz/corpus that reach no code the seeds do not reach:
#   tools/fuzz_prune.sh [most bytes an added input may have, 1500 if not given]
#
# Files that git knows and seeds with a name stay; finds of the fuzzer (named by their hash) stay
# only if they add coverage. Needs the same as tools/fuzz.sh.
set -euo pipefail
cd "$(dirname "$0")/.."

most_bytes="${1:-1500}"
export CARGO_TARGET_DIR="${FUZZ_TARGET_DIR:-$PWD/fuzz/target}"
work="$(mktemp -d)"
trap 'rm -rf "$work"' EXIT

for corpus in fuzz/corpus/*/; do
    target="$(basename "$corpus")"
    mkdir -p "$work/$target"
    # Finds have 40 hexadecimal digits as their name.
    find "$corpus" -type f -regextype posix-extended -regex '.*/[0-9a-f]{40}' \
        -exec mv -t "$work/$target" {} +
    find "$work/$target" -type f -size "+${most_bytes}c" -delete
    before="$(find "$work/$target" -type f | wc -l)"
    if ! cargo +nightly fuzz run "$target" "$PWD/$corpus" "$work/$target" -- \
        -merge=1 -rss_limit_mb=2048 -timeout=20 >"$work/$target.log" 2>&1; then
        cat "$work/$target.log"
        exit 1
    fi
    after="$(find "$corpus" -type f | wc -l)"
    printf '%s: %s finds looked at, %s inputs in the corpus, %s kB\n' \
        "$target" "$before" "$after" "$(du -sk --apparent-size "$corpus" | cut -f1)"
done
