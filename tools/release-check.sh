#!/usr/bin/env bash
# `release-check.sh [ARCH...]` builds the release of the current commit in this tree and, without a cache of compiled
# packages and with RocksDB in another folder, in a copy, and fails if their checksums differ. Then it runs the programs.
set -euo pipefail
cd "$(dirname "$0")/.."
[ -z "$(git status --porcelain)" ] || { echo "release-check: commit or stash the changes first" >&2; exit 1; }
tools/release.sh "$@"
copy=$(mktemp -d)
trap 'chmod -R u+w "$copy"; rm -rf "$copy"' EXIT
git clone --quiet --no-hardlinks . "$copy/birthmark"
mkdir -p "$copy/home/birthmark"
cp -r "${XDG_CACHE_HOME:-$HOME/.cache}"/birthmark/rocksdb-* "$copy/home/birthmark/"
XDG_CACHE_HOME=$copy/home GOCACHE=$copy/cache "$copy/birthmark/tools/release.sh" "$@"
diff dist/SHA256SUMS "$copy/birthmark/dist/SHA256SUMS"
echo "release-check: both builds are equal"
[ $# -gt 0 ] || set -- "$(go env GOARCH)"
tools/release-run.sh "$@"
