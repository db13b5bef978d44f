#!/usr/bin/env bash
# `release-run.sh ARCH...` runs the programs of the tarballs in dist/, those of another architecture under qemu. Each indexes
# the blocks of the demo, and checks the databases of all, which must have the same rows. A log of another database among
# the ones of a database is an error with status 3: RocksDB with assertions aborts the process.
set -euo pipefail
cd "$(dirname "$0")/.."
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
fail() {
  echo "release-run: $*" >&2
  exit 1
}

for arch in "$@"; do
  dir=$work/$arch program=$work/$arch/birthmark
  mkdir -p "$dir/release"
  tar --extract --gzip --file dist/birthmark_*_linux_"$arch".tar.gz --directory "$dir/release" --strip-components=1
  case $arch-$(uname -m) in
    amd64-x86_64 | arm64-aarch64) ln -s release/birthmark "$program" ;;
    arm64-*) emulator="qemu-aarch64-static -L /usr/aarch64-linux-gnu" ;;
    amd64-*) emulator="qemu-x86_64-static -L /usr/x86_64-linux-gnu" ;;
  esac
  if [ ! -e "$program" ]; then
    printf '#!/bin/sh\nexec %s "%s" "$@"\n' "$emulator" "$dir/release/birthmark" >"$program"
    chmod 755 "$program"
  fi
  "$program" version --verbose >"$dir/version"
  sed "s/^/  $arch: /" "$dir/version"
  PROGRAM=$program DATA=$dir docs/demo.sh >"$dir/log" 2>&1 || { tail -n 20 "$dir/log" >&2; fail "the demo failed with the program for $arch"; }
  "$program" dump --digest --db "$dir/bitcoin" >"$dir/rows"
  cmp "$work/$1/rows" "$dir/rows" || fail "the rows of $1 and $arch differ"

  cp -r "$dir/bitcoin" "$dir/damaged"
  logs=("$dir"/damaged/*.log)
  [ -s "${logs[0]}" ] || fail "the database has no log"
  cp "${logs[0]}" "$dir/damaged/900000.log"
  status=0
  "$program" status --db "$dir/damaged" >"$dir/out" 2>&1 || status=$?
  if [ $status != 3 ] || ! grep -q 'the database is damaged: the log 900000.log' "$dir/out"; then
    cat "$dir/out" >&2
    fail "a log of another database: status $status with the program for $arch, expected 3 and a message"
  fi
  rm -r "$dir/damaged"
done
for arch in "$@"; do
  for other in "$@"; do
    "$work/$arch/birthmark" check --db "$work/$other/bitcoin" >"$work/out" 2>&1 || { cat "$work/out" >&2; fail "the check of $arch failed for $other"; }
  done
done
echo "release-run: $* index, query and check the demo's blocks with the same rows, and report a wrong log with status 3"
