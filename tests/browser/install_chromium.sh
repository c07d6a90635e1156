#!/bin/sh
# Install Debian's Chromium where apt can be used; say what to do where it cannot.
say() {
    echo "The browser tests need Chromium or Chrome, and none was found." >&2
    echo "Install one (Debian, Ubuntu: apt install chromium), or name it: CHROMIUM=/path/to/chrome make test" >&2
    exit 1
}
command -v apt-get >/dev/null 2>&1 || say
if [ "$(id -u)" = 0 ]; then as_root=""; elif sudo -n true 2>/dev/null; then as_root="sudo"; else say; fi
echo "Installing Chromium ..."
export DEBIAN_FRONTEND=noninteractive
{ $as_root apt-get update -qq && $as_root apt-get install -y -qq chromium; } >/dev/null 2>&1 || say
