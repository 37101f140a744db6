#!/usr/bin/env bash
# The sources of `auscult watch` that are not built in by default, with real parts: a camera's sound over RTSP (GStreamer's server)
# and a microphone (ALSA, a device that plays a file). Everything is on loopback and stops by itself.
set -euo pipefail
cd "$(dirname "$0")/.."

packages=(libasound2-dev libasound2-plugins gir1.2-gst-rtsp-server-1.0 gstreamer1.0-plugins-base gstreamer1.0-plugins-good
    gstreamer1.0-libav python3-gi)
if ! dpkg -s "${packages[@]}" >/dev/null 2>&1; then
    [ "$(id -u)" = 0 ] && sudo="" || sudo="sudo"
    # Of a new machine the lists may be old.
    $sudo apt-get update -qq
    DEBIAN_FRONTEND=noninteractive $sudo apt-get install -y -qq --no-install-recommends "${packages[@]}" >/dev/null
fi
cargo build --locked -p auscult-cli --features microphone,rtsp
# Debian's own Python, which GStreamer's bindings are for.
exec /usr/bin/python3 tools/sources.py "${CARGO_TARGET_DIR:-$PWD/target}/debug/auscult"
