#!/usr/bin/env bash
# Copies this folder to PREFIX/lib (PREFIX is the first argument, ~/.local by default) and links PREFIX/bin/flotilla to it.
set -euo pipefail
from=$(dirname "$(readlink -f "${BASH_SOURCE[0]}")") prefix=${1:-$HOME/.local}
mkdir -p "$prefix/lib" "$prefix/bin"
to=$(cd "$prefix" && pwd)/lib/$(basename "$from")
[[ ! -e $to ]] || { echo "install.sh: $to is there already: remove it first" >&2 && exit 2; }
cp -a "$from" "$to"
ln -sfn "$to/flotilla" "$prefix/bin/flotilla"
echo "installed: $prefix/bin/flotilla; to remove it, delete that link and $to"
