#!/usr/bin/env bash
# Makes a Debian package of the program (see package_binary.sh) and tries it in an empty root: nothing is there but what the
# package brings. It depends on nothing.
set -euo pipefail
cd "$(dirname "$0")/.."
source tools/packages.sh

target="${CARGO_TARGET_DIR:-$PWD/target}"
version="$(sed -n 's/^version = "\(.*\)"$/\1/p' Cargo.toml | head -n 1)"
files="$target/packages/auscult-$version-x86_64-linux"
[ -x "$files/auscult" ] || tools/package_binary.sh
command -v dpkg-deb >/dev/null || install_packages dpkg

tree="$target/packages/deb"
rm -rf "$tree"
install -D -m 755 "$files/auscult" "$tree/usr/bin/auscult"
for page in "$files"/man/*.1; do
    install -D -m 644 "$page" "$tree/usr/share/man/man1/$(basename "$page")"
done
gzip -9 -n "$tree"/usr/share/man/man1/*.1
install -D -m 644 "$files/completions/auscult.bash" "$tree/usr/share/bash-completion/completions/auscult"
install -D -m 644 "$files/completions/_auscult" "$tree/usr/share/zsh/vendor-completions/_auscult"
install -D -m 644 "$files/completions/auscult.fish" "$tree/usr/share/fish/vendor_completions.d/auscult.fish"
for unit in tools/systemd/*.service tools/systemd/*.timer; do
    install -D -m 644 "$unit" "$tree/usr/lib/systemd/system/$(basename "$unit")"
done
install -D -m 644 tools/systemd/machine.conf "$tree/usr/share/doc/auscult/examples/machine.conf"
install -D -m 644 CHANGELOG.md "$tree/usr/share/doc/auscult/changelog"
gzip -9 -n "$tree/usr/share/doc/auscult/changelog"
{
    printf 'License: MIT or Apache-2.0; the weights of CED-tiny are Apache-2.0\n\n'
    cat LICENSE-MIT
    printf '\n\n'
    cat LICENSE-APACHE
} >"$tree/usr/share/doc/auscult/copyright"
mkdir -p "$tree/DEBIAN"
cat >"$tree/DEBIAN/control" <<CONTROL
Package: auscult
Version: $version
Architecture: amd64
Maintainer: The auscult authors <auscult@localhost>
Section: sound
Priority: optional
Installed-Size: $(du -sk "$tree/usr" | cut -f 1)
Description: tells how far a machine sounds from its healthy self
 auscult remembers how a healthy machine sounds and says, clip by clip, how
 far a new sound is from that, in which frequency band, and whether it
 matters. It needs no training, no GPU and no recordings of faults.
CONTROL
package="$target/packages/auscult_${version}_amd64.deb"
dpkg-deb --build --root-owner-group -Zxz "$tree" "$package" >/dev/null

# An empty root: the package manager's own books, and nothing else.
root="$target/packages/root"
rm -rf "$root"
mkdir -p "$root/var/lib/dpkg/info" "$root/var/lib/dpkg/updates" "$root/tmp"
touch "$root/var/lib/dpkg/status"
as_root=()
[ "$(id -u)" -eq 0 ] || as_root=(sudo)
"${as_root[@]}" dpkg --root="$root" --force-not-root --force-script-chrootless --log=/dev/null --install "$package" >/dev/null
inside() { "${as_root[@]}" chroot "$root" /usr/bin/auscult "$@"; }
inside --version
# The program says of itself that the packages have this.
inside --version | grep -q '^training: *yes$' || { echo "package: the program cannot train" >&2; exit 1; }
began="$(date +%s%N)"
for _ in 1 2 3 4 5 6 7 8 9 10; do inside --version >/dev/null; done
printf 'package: starts in %d ms\n' "$((($(date +%s%N) - began) / 10000000))"
inside synth --out /tmp/sounds --layout visits --machine pump --train 6 0 --test 2 0 --visits 3 --seconds 2 >/dev/null
inside fit /tmp/sounds/pump/normal -o /tmp/pump.auscult --clip-seconds 2 >/dev/null 2>&1
inside report /tmp/pump.auscult /tmp/sounds/pump/check -o /tmp/page.html >/dev/null 2>&1
grep -q '<main data-state="' "$root/tmp/page.html"
for file in usr/share/man/man1/auscult-fit.1.gz usr/share/bash-completion/completions/auscult \
    usr/lib/systemd/system/auscult-report@.timer usr/lib/systemd/system/auscult-watch.service; do
    [ -s "$root/$file" ] || { echo "package: $file is not in the package" >&2; exit 1; }
done
# What the unit runs, as it is written there.
command="$(sed -n 's|^ExecStart=/usr/bin/auscult ||p' "$root/usr/lib/systemd/system/auscult-report@.service")"
command="$(sed -e 's|${MODEL}|/tmp/pump.auscult|; s|$SOUND|/tmp/sounds/pump/check|; s|%S/auscult|/tmp|; s|%i|pump-7|g' <<<"$command")"
read -r -a words <<<"$command"
inside "${words[@]}" >/dev/null 2>&1
grep -q '<title>pump-7' "$root/tmp/pump-7.html" || { echo "package: the unit's command writes no page" >&2; exit 1; }
# The units with the system's own around them, which an empty root lacks; only the program is there.
if command -v systemd-analyze >/dev/null; then
    units="$target/packages/units"
    rm -rf "$units"
    mkdir -p "$units"
    cp "$root"/usr/lib/systemd/system/auscult-* "$units"
    sed -i "s|/usr/bin/auscult|$root/usr/bin/auscult|" "$units"/*.service
    mv "$units/auscult-report@.timer" "$units/auscult-report@pump-7.timer"
    systemd-analyze verify --man=no "$units/auscult-report@pump-7.timer" "$units/auscult-watch.service"
fi
printf 'package: %s, %s, works in an empty root\n' "$(basename "$package")" "$(du -h "$package" | cut -f 1)"
