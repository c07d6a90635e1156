#!/bin/sh
# Print the path of an installed Chromium or Chrome; exit 1 when there is none.
for name in "$CHROMIUM" chromium chromium-browser google-chrome google-chrome-stable chrome \
    "/Applications/Google Chrome.app/Contents/MacOS/Google Chrome" \
    "/Applications/Chromium.app/Contents/MacOS/Chromium"; do
    [ -n "$name" ] && path=$(command -v "$name" 2>/dev/null) && { echo "$path"; exit 0; }
done
exit 1
