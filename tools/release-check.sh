#!/usr/bin/env bash
# Builds the release of the current commit in this tree and, without a cache of compiled packages, in a copy, and fails
# if their checksums differ.
set -euo pipefail
cd "$(dirname "$0")/.."
[ -z "$(git status --porcelain)" ] || { echo "release-check: commit or stash the changes first" >&2; exit 1; }
tools/release.sh
copy=$(mktemp -d)
trap 'chmod -R u+w "$copy"; rm -rf "$copy"' EXIT
git clone --quiet --no-hardlinks . "$copy/birthmark"
GOCACHE=$copy/cache "$copy/birthmark/tools/release.sh"
diff dist/SHA256SUMS "$copy/birthmark/dist/SHA256SUMS"
echo "release-check: both builds are equal"
