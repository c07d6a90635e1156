#!/bin/sh
# Print the path of an installed Chromium or Chrome; exit 1 when there is none.
# CHROMIUM names another; when it is set, only that one counts.
if [ -n "${CHROMIUM:-}" ]; then
    command -v "$CHROMIUM" && exit 0
    echo "CHROMIUM is '$CHROMIUM', and no such program was found." >&2
    exit 1
fi
for name in chromium chromium-browser google-chrome google-chrome-stable chrome \
    "/Applications/Google Chrome.app/Contents/MacOS/Google Chrome" \
    "/Applications/Chromium.app/Contents/MacOS/Chromium"; do
    command -v "$name" 2>/dev/null && exit 0
done
exit 1
