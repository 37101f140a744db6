#!/usr/bin/env bash
# Makes the compressed sound files in testdata/audio that auscult-audio's tests read.
#
# Needs ffmpeg (with libmp3lame, libvorbis and libopus), flac and python3:
#   apt-get install ffmpeg flac python3
# The files were made with ffmpeg 5.1.9 and flac 1.4.2 (Debian 12). Lossy encoders
# differ between versions, so the tests compare level and length, not bytes.
set -euo pipefail

out="$(cd "$(dirname "$0")/../.." && pwd)/testdata/audio"
work="$(mktemp -d)"
trap 'rm -rf "$work"' EXIT
mkdir -p "$out"

# A saw tooth in whole numbers, so that a test can compute the same samples:
# sample i of channel c is ((3 * i + 500 * c) mod 2001 - 1000) * scale.
python3 - "$work" <<'PY'
import struct, sys, wave

def saw(path, rate, channels, width, frames, scale):
    with wave.open(path, "wb") as file:
        file.setparams((channels, width, rate, 0, "NONE", ""))
        for i in range(frames):
            for c in range(channels):
                value = ((3 * i + 500 * c) % 2001 - 1000) * scale
                file.writeframes(struct.pack("<i", value)[:width])

work = sys.argv[1]
saw(f"{work}/saw16.wav", 16000, 1, 2, 8000, 16)
saw(f"{work}/saw24.wav", 48000, 2, 3, 4800, 4096)
saw(f"{work}/long.wav", 16000, 1, 2, 200000, 16)
PY
flac --silent --force --best --no-padding -o "$out/saw16.flac" "$work/saw16.wav"
flac --silent --force --best --no-padding -o "$out/saw24.flac" "$work/saw24.wav"
# Long enough for its packets to be looked for.
flac --silent --force --best --no-padding -o "$out/long.flac" "$work/long.wav"

# Half a second of a 1 kHz tone with an amplitude of 1/8 (the default of ffmpeg's sine).
tone() { # rate, file, encoder options
    local rate="$1" file="$2"
    shift 2
    ffmpeg -v error -y -f lavfi -i "sine=frequency=1000:sample_rate=$rate:duration=0.5" \
        -map_metadata -1 -fflags +bitexact -flags:a +bitexact "$@" "$out/$file"
}
tone 44100 tone.mp3 -c:a libmp3lame -b:a 64k
tone 44100 tone.ogg -c:a libvorbis -q:a 3
tone 44100 tone.aac -c:a aac -b:a 64k
tone 44100 tone.m4a -c:a aac -b:a 64k
tone 44100 tone_faststart.m4a -c:a aac -b:a 64k -movflags +faststart
tone 48000 tone.opus -c:a libopus -b:a 48k
tone 16000 tone_adpcm.wav -c:a adpcm_ima_wav

ls -l "$out"
