#!/usr/bin/env bash
# The monitor with the real parts it talks to: a broker (mosquitto) and a mail server. Everything is on loopback and stops by
# itself.
#
#   tools/services.sh [SECONDS]     with the broker away for so long, such as 3600
set -euo pipefail
cd "$(dirname "$0")/.."
program="${AUSCULT:-${CARGO_TARGET_DIR:-$PWD/target}/debug/auscult}"

if ! command -v mosquitto >/dev/null || ! command -v mosquitto_sub >/dev/null; then
    [ "$(id -u)" = 0 ] && sudo="" || sudo="sudo"
    # Of a new machine the lists may be old; a broker that starts by itself is not wanted.
    $sudo apt-get update -qq
    RUNLEVEL=1 DEBIAN_FRONTEND=noninteractive $sudo apt-get install -y -qq --no-install-recommends mosquitto mosquitto-clients \
        >/dev/null
fi
exec python3 tools/services.py "$(realpath "$program")" "$@"
