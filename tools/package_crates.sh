#!/usr/bin/env bash
# Packs every published crate as it would be uploaded, and builds each from its package alone, with the others beside it as a
# registry would give them.
set -euo pipefail
cd "$(dirname "$0")/.."

unpublished=(auscult-bench auscult-outside auscult-python auscult-studies)
excluded=()
for name in "${unpublished[@]}"; do excluded+=(--exclude "$name"); done
packages="${CARGO_TARGET_DIR:-$PWD/target}/package"
# What an earlier run left is not what this one packs.
rm -f "$packages"/auscult*.crate
cargo package --locked --workspace "${excluded[@]}" --allow-dirty "$@"
# What users are promised in each: licence, README, and what the program includes.
for package in "$packages"/auscult*.crate; do
    listed="$(tar -tzf "$package")"
    for file in README.md LICENSE-APACHE; do
        grep -q "/$file$" <<<"$listed" || { echo "package: $(basename "$package") lacks $file" >&2; exit 1; }
    done
    size="$(stat -c %s "$package")"
    # The registry takes 10 MB.
    [ "$size" -lt 10000000 ] || { echo "package: $(basename "$package") has $size bytes" >&2; exit 1; }
    printf 'package: %s, %d bytes\n' "$(basename "$package")" "$size"
done
