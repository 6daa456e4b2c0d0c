#!/usr/bin/env bash
# What the tests of reports in a browser need besides playwright, which pip installs (`.[browser]`): Debian's
# Chromium, and axe-core, the checker of accessibility, from the registry of npm into .ci/browser.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")"

wanted=()
command -v chromium >/dev/null || wanted+=(chromium)
command -v npm >/dev/null || wanted+=(npm)
if [ "${#wanted[@]}" -gt 0 ]; then
  apt-get update -qq
  apt-get install -qq -y --no-install-recommends "${wanted[@]}" >/dev/null
fi

[ -e browser/axe.min.js ] && exit 0
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
(cd "$work" && npm pack --silent axe-core@4.10.3 >/dev/null && tar -xzf axe-core-*.tgz package/axe.min.js)
mkdir -p browser
cp "$work/package/axe.min.js" browser/
