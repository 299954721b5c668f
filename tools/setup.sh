#!/bin/sh
# Makes a virtual environment from lock files: tools/setup.sh PYTHON VENV STAMP LOCK...
# The stamp's name holds a digest of the locks, so the work is done once per lock.
set -eu

python=$1 venv=$2 stamp=$3
shift 3

say() { printf '%s\n' "$*" >&2; }

if ! "$python" -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null; then
    say "Engross needs Python 3.11 or newer, and '$python' is not. Name another one: make PYTHON=/path/to/python3.11"
    exit 1
fi

# Debian leaves pip's bootstrap out of its python3 package.
if ! "$python" -c 'import ensurepip, venv' 2>/dev/null; then
    package=$("$python" -c 'import sys; print("python%d.%d-venv" % sys.version_info[:2])')
    if [ "$(id -u)" -eq 0 ] && command -v apt-get >/dev/null; then
        say "Installing $package, which this machine's Python lacks"
        apt-get update -qq && DEBIAN_FRONTEND=noninteractive apt-get install -y -qq "$package" >/dev/null
    else
        say "This Python cannot make virtual environments. Install $package first: sudo apt-get install $package"
        exit 1
    fi
fi

[ -x "$venv/bin/python" ] && "$venv/bin/python" -m pip --version >/dev/null 2>&1 || {
    say "Making $venv"
    "$python" -m venv --clear "$venv"
}

say "Installing what the lock names (once per lock)"
for lock in "$@"; do
    "$venv/bin/python" -m pip install --quiet --disable-pip-version-check --require-hashes --requirement "$lock"
done
"$venv/bin/python" -m pip install --quiet --disable-pip-version-check --no-deps --no-build-isolation --editable .

rm -f "$venv"/.installed-*
touch "$stamp"
