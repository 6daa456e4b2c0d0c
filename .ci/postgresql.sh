#!/usr/bin/env bash
# PostgreSQL for the tests of the store, from Debian's package. The tests start a server of their own from it, in
# a temporary folder and as the user that the package makes: PostgreSQL refuses to be run by root.
set -euo pipefail

for initdb in /usr/lib/postgresql/*/bin/initdb; do
  [ -x "$initdb" ] && exit 0
done
apt-get update -qq
apt-get install -qq -y postgresql >/dev/null
