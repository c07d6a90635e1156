#!/bin/sh
# Install Debian's Chromium where apt can be used; say what to do where it cannot.
fail() {
    echo "$1" >&2
    echo "Install Chromium or Chrome (Debian, Ubuntu: sudo apt install chromium), or name one: CHROMIUM=/path/to/chrome make test" >&2
    exit 1
}
[ -z "${CHROMIUM:-}" ] || fail "The browser tests cannot use what CHROMIUM names."
missing="The browser tests need Chromium or Chrome, and none was found."
command -v apt-get >/dev/null 2>&1 || fail "$missing"
if [ "$(id -u)" = 0 ]; then
    as_root=""
elif command -v sudo >/dev/null 2>&1 && sudo -n true 2>/dev/null; then
    as_root="sudo"
else
    fail "$missing"
fi
echo "Installing Chromium ..."
export DEBIAN_FRONTEND=noninteractive
if ! said=$({ $as_root apt-get update -qq && $as_root apt-get install -y -qq chromium; } 2>&1 </dev/null); then
    echo "$said" | tail -n 5 >&2
    fail "apt could not install Chromium."
fi
