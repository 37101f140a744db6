#!/usr/bin/env bash
# Builds the program for x86_64 Linux as one file that needs nothing, and packs it with its manual pages and completions.
# It can fine-tune encoders (--features training); what it cannot is named by its --version.
#
# It is linked statically with glibc (crt-static), so it runs on any x86_64 Linux from kernel 3.2 on, whatever its C
# library, and in an empty root. What is written: target/packages/auscult-VERSION-x86_64-linux.tar.gz and the folder of
# the same name, which the other packages are made of.
set -euo pipefail
cd "$(dirname "$0")/.."
source tools/packages.sh

target="${CARGO_TARGET_DIR:-$PWD/target}"
triple=x86_64-unknown-linux-gnu
version="$(sed -n 's/^version = "\(.*\)"$/\1/p' Cargo.toml | head -n 1)"
name="auscult-$version-x86_64-linux"
folder="$target/packages/$name"

command -v cc >/dev/null || install_packages gcc libc6-dev
# Only the program is static, not the compiler's own plug-ins: they have no target.
RUSTFLAGS="-C target-feature=+crt-static" \
    cargo build --locked --profile dist --target "$triple" --target-dir "$target/static" -p auscult-cli \
    --features training
program="$target/static/$triple/dist/auscult"
if readelf -l "$program" | grep -q INTERP; then
    echo "package: $program is not static" >&2
    exit 1
fi

rm -rf "$folder"
mkdir -p "$folder/man" "$folder/completions"
cp "$program" LICENSE-MIT LICENSE-APACHE CHANGELOG.md README.md "$folder"
"$program" man "$folder/man"
"$program" completions bash >"$folder/completions/auscult.bash"
"$program" completions zsh >"$folder/completions/_auscult"
"$program" completions fish >"$folder/completions/auscult.fish"
tar -C "$target/packages" --sort=name --owner=0 --group=0 -czf "$target/packages/$name.tar.gz" "$name"
printf 'package: %s, %s; the program is %s\n' "$name.tar.gz" \
    "$(du -h "$target/packages/$name.tar.gz" | cut -f 1)" "$(du -h "$program" | cut -f 1)"
