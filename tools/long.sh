#!/usr/bin/env bash
# Runs one of the long things that tools/test.sh leaves out: tools/long.sh NAME [ARGUMENT...]
# Without a name it lists them.
set -euo pipefail
cd "$(dirname "$0")/.."

# name, what it does, command
all=(
    "kills|a monitor killed again and again while recordings arrive: [PROGRAM] [TIMES]|tools/kills.py"
    "faults|a full disk and ten thousand recordings at once: [PROGRAM] [RECORDINGS]|tools/faults.py"
    "sources|microphone and RTSP with real parts|tools/sources.sh"
    "services|a broker that is away for a while: [SECONDS], 3600 for an hour|tools/services.sh"
    "months|alarms and drift of simulated machine-months: [MONTHS]|cargo run --locked --release -p auscult-studies --bin months --"
    "soak|six machines from sound for a simulated month: [DAYS]|cargo run --locked --release -p auscult-studies --bin soak --"
    "monitor|machines that two cores can watch: [PROGRAM] [SECONDS]|bench/monitor.py"
    "service|the service with schemathesis, TLS, slow clients, kill -9: [PART...]|tools/service.sh"
    "load|streams and requests beside watched machines: [PROGRAM] [--seconds N]|bench/service.py"
    "objects|an archive whose recordings are in an object store (never run yet): [PROGRAM]|tools/objects.sh"
    "ray|an archive on a Ray cluster of this machine, a worker killed (never passed yet): [CLIPS]|tools/ray.sh"
    "fuzz|every fuzz target for a while: [SECONDS] [TARGET...]|tools/fuzz.sh"
    "speed|times beside those of other programs, into BENCHMARKS.md: [ROUNDS]|bench/run.sh"
    "instructions|instructions of the hot stages: [--write]|bench/instructions.py"
    "accuracy|every protocol, into docs/accuracy.md: [FOLDER_OF_MIMII_PUMP]|tools/measure_accuracy.sh"
    "tuning|what tuning is worth: [FOLDER_WITH_MANIFEST]|tools/measure_tuning.sh"
    "storage|what smaller storage does to scores: PROGRAM FOLDER...|tools/measure_storage.py"
    "metrics|metrics against scikit-learn: [PROGRAM]|tools/check_metrics.py"
    "pump|built-in front ends on MIMII pump: FOLDER|tools/pump_auc.sh"
    "pump-encoders|encoders on MIMII pump: FOLDER|tools/pump_encoders.sh"
    "pump-training|fine-tuning on MIMII pump: FOLDER|tools/pump_training.sh"
    "false-alarms|promised against realised rates: [REPETITIONS] [CHART]|cargo run --locked --release -p auscult-studies --bin false_alarms --"
)

for entry in "${all[@]}"; do
    IFS='|' read -r name what command <<<"$entry"
    if [ "$#" -eq 0 ]; then
        printf '%-14s %s\n' "$name" "$what"
    elif [ "$1" = "$name" ]; then
        shift
        # shellcheck disable=SC2086 # The command may have arguments of its own.
        exec $command "$@"
    fi
done
[ "$#" -eq 0 ] || {
    printf '%s: no such thing; tools/long.sh lists them\n' "$1" >&2
    exit 2
}
