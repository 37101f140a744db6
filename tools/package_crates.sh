#!/usr/bin/env bash
# Packs every published crate as it would be uploaded, and builds all of them from their packages alone, as a registry would
# give them: one build for all, because one for each takes an hour.
set -euo pipefail
cd "$(dirname "$0")/.."

unpublished=(auscult-bench auscult-outside auscult-python auscult-studies)
excluded=()
for name in "${unpublished[@]}"; do excluded+=(--exclude "$name"); done
target="${CARGO_TARGET_DIR:-$PWD/target}"
packages="$target/package"
# What an earlier run left is not what this one packs.
rm -f "$packages"/auscult*.crate
cargo package --locked --workspace "${excluded[@]}" --allow-dirty --no-verify

# Nothing of the source tree: only what is in the packages, and each other from there.
unpacked="$packages/unpacked"
rm -rf "$unpacked" && mkdir -p "$unpacked"
printf '[workspace]\nresolver = "3"\nmembers = ["auscult*"]\n\n[patch.crates-io]\n' >"$unpacked/Cargo.toml"
cp Cargo.lock "$unpacked/Cargo.lock"
for package in "$packages"/auscult*.crate; do
    listed="$(tar -tzf "$package")"
    # What users are promised in each.
    for file in README.md LICENSE-APACHE; do
        grep -q "/$file$" <<<"$listed" || { echo "package: $(basename "$package") lacks $file" >&2; exit 1; }
    done
    size="$(stat -c %s "$package")"
    # The registry takes 10 MB.
    [ "$size" -lt 10000000 ] || { echo "package: $(basename "$package") has $size bytes" >&2; exit 1; }
    printf 'package: %s, %d bytes\n' "$(basename "$package")" "$size"
    tar -xzf "$package" -C "$unpacked"
    folder="$(basename "$package" .crate)"
    printf '%s = { path = "%s" }\n' "${folder%-*}" "$folder" >>"$unpacked/Cargo.toml"
done
CARGO_TARGET_DIR="$packages/build" cargo build --manifest-path "$unpacked/Cargo.toml" --workspace "$@"
"$packages/build/debug/auscult" --version
