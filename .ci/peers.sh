#!/usr/bin/env bash
# Install the model checkers that tests/export runs on our exports, besides Storm, which pip installs (`.[peers]`):
# NuSMV 2.5.4, built into .ci/peers from the sources that pynusmv brings. That takes a minute, once. Debian's
# compilers are newer than the sources: these need the C of their time, and `union wait` is gone from the headers.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")"

wanted=()
for package in gcc make flex bison; do
  command -v "$package" >/dev/null || wanted+=("$package")
done
[ -e /usr/include/expat.h ] || wanted+=(libexpat1-dev)
if [ "${#wanted[@]}" -gt 0 ]; then
  apt-get update -qq
  apt-get install -qq -y "${wanted[@]}" >/dev/null
fi

[ -x peers/NuSMV ] && exit 0
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
"${PYTHON:-python3}" -m pip download -q --no-deps --no-binary :all: -d "$work" pynusmv==1.0rc8
tar -xzf "$work"/pynusmv-1.0rc8.tar.gz -C "$work"
tar -xzf "$work"/pynusmv-1.0rc8/dependencies/NuSMV/NuSMV-2.5.4.tar.gz -C "$work"
cd "$work/NuSMV-2.5.4"
flags="-O2 -w -std=gnu89 -fcommon"
log="$work/log"
sed -i 's/union wait status/int status/' cudd-2.4.1.1/util/pipefork.c
{
  make -C cudd-2.4.1.1 -f Makefile_64bit CC=gcc ICFLAGS="$flags" &&
    (cd nusmv && ./configure --disable-minisat CFLAGS="$flags") &&
    make -j2 -C nusmv
} >"$log" 2>&1 || {
  tail -n 30 "$log" >&2
  exit 1
}
cd - >/dev/null
mkdir -p peers
cp "$work/NuSMV-2.5.4/nusmv/NuSMV" peers/NuSMV
