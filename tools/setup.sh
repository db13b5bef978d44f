#!/usr/bin/env bash
# Installs what a bare Debian 12 lacks to build Birthmark, and with the argument `browser` what tests of the explorer's pages
# look at them with. Quiet where nothing is missing.
set -euo pipefail

packages=(
  librocksdb-dev libzstd-dev liblz4-dev libsnappy-dev libbz2-dev zlib1g-dev # RocksDB, and what it compresses with
  g++ libc6-dev make git ca-certificates
)
browser=(chromium fonts-dejavu-core)

if ! command -v go >/dev/null; then
  echo "setup: Go 1.26 is needed and there is no go on the PATH; see https://go.dev/doc/install" >&2
  exit 1
fi

# install has apt-get install those of the packages that are missing.
install() {
  local missing=() as_root=() apt package status log
  for package in "$@"; do
    status=$(dpkg-query -W -f '${db:Status-Status}' "$package" 2>/dev/null || true)
    [ "$status" = installed ] || missing+=("$package")
  done
  [ ${#missing[@]} -gt 0 ] || return 0
  if [ "$(id -u)" -ne 0 ]; then
    if ! command -v sudo >/dev/null; then
      echo "setup: not root and no sudo; as root, run: apt-get install ${missing[*]}" >&2
      return 1
    fi
    as_root=(sudo)
  fi
  apt=("${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get -y)
  echo "setup: installing ${missing[*]}"
  log=$(mktemp)
  if ! { "${apt[@]}" update && "${apt[@]}" install --no-install-recommends "${missing[@]}"; } </dev/null >"$log" 2>&1; then
    tail -n 20 "$log" >&2
    echo "setup: apt-get could not install ${missing[*]}; all it said is in $log" >&2
    return 1
  fi
  rm -f "$log"
}

if command -v dpkg-query >/dev/null && command -v apt-get >/dev/null; then
  install "${packages[@]}"
  if [ "${1-}" = browser ]; then
    install "${browser[@]}" || echo "setup: without ${browser[*]} the tests that need a browser are skipped" >&2
  fi
elif ! command -v c++ >/dev/null; then
  echo "setup: this is no Debian: install a C++ compiler and the headers and static libraries of RocksDB 7, zstd, lz4, snappy, bz2, zlib" >&2
  exit 1
fi

version=$(printf '#include <rocksdb/version.h>\nROCKSDB_MAJOR.ROCKSDB_MINOR\n' | c++ -x c++ -E -P - 2>/dev/null | tail -n 1 | tr -d ' ') || version=none
case $version in
  7.*) ;;
  none) echo "setup: the headers of RocksDB 7 were not found" >&2; exit 1 ;;
  *) echo "setup: RocksDB 7 is needed (Debian 12 has 7.8), the headers here are of $version" >&2; exit 1 ;;
esac
