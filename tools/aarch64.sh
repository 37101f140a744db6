#!/usr/bin/env bash
# Runs the tests of the kernels on 64-bit ARM, emulated: the NEON forms must have the bits of their
# plain twins. Needs the Rust target aarch64-unknown-linux-gnu (rustup target add ...); installs a
# linker and the emulator from the system's packages if they are missing.
set -euo pipefail
cd "$(dirname "$0")/.."
source tools/packages.sh

missing=()
command -v aarch64-linux-gnu-gcc >/dev/null || missing+=(gcc-aarch64-linux-gnu libc6-dev-arm64-cross)
command -v qemu-aarch64 >/dev/null || missing+=(qemu-user)
install_packages "${missing[@]}"
export CARGO_TARGET_AARCH64_UNKNOWN_LINUX_GNU_LINKER=aarch64-linux-gnu-gcc
export CARGO_TARGET_AARCH64_UNKNOWN_LINUX_GNU_RUNNER="qemu-aarch64 -L /usr/aarch64-linux-gnu"
cargo test --locked --quiet -p auscult-kernels --lib --tests --target aarch64-unknown-linux-gnu
