#!/usr/bin/env bash
# Installs the packages that Birthmark needs to build on Debian 12 and 13 and Ubuntu 24.04, and with the argument `tests`
# the browser and the shells of `make test`, with `interop` the programs of `make test-interop`, with `amd64` and `arm64`
# the compilers of these architectures, with `image` (as root) the program that builds images, with `qemu` the emulator of
# other architectures. Prints nothing if none is missing.
set -euo pipefail

packages=(
  librocksdb-dev libzstd-dev liblz4-dev libsnappy-dev libbz2-dev zlib1g-dev # RocksDB and its compression libraries
  g++ libc6-dev make git ca-certificates
)
tests=(fonts-dejavu-core zsh fish)
if apt-cache show chromium-headless-shell >/dev/null 2>&1; then
  tests+=(chromium-headless-shell) # Debian only; less CPU time than chromium
else
  tests+=(chromium)
fi
interop=() # programs that come from elsewhere are used as they are
command -v electrum >/dev/null || interop+=(electrum)
command -v node >/dev/null || interop+=(nodejs libnode-dev) # with the headers for native parts
command -v npm >/dev/null || interop+=(npm)
command -v python3 >/dev/null || interop+=(python3) # of node-gyp

# From 1.21 on, Go downloads the version that go.mod names, unless GOTOOLCHAIN forbids it.
needed=$(sed -n 's/^go 1\.\([0-9]*\).*/\1/p' "$(dirname "$0")/../go.mod")
if ! command -v go >/dev/null; then
  echo "setup: Go 1.$needed is needed, and go is not in PATH; see https://go.dev/doc/install" >&2
  exit 1
fi
found=$(cd / && GOTOOLCHAIN=local go env GOVERSION) # go1.26.8
minor=${found#go1.}
minor=${minor%%[!0-9]*}
least=21
[ "$(cd / && GOTOOLCHAIN=${GOTOOLCHAIN-} go env GOTOOLCHAIN)" != local ] || least=$needed
if [ "${minor:-0}" -lt "$least" ]; then
  echo "setup: Go 1.$needed is needed, and $(command -v go) is ${found:-of unknown version};" \
    "see https://go.dev/doc/install, and put the new one first in PATH" >&2
  exit 1
fi

# logged runs a command with its output in a file.
logged() {
  "$(dirname "$0")/elapsed.sh" setup sh -c 'log=$1; shift; exec "$@" </dev/null >>"$log" 2>&1' sh "$@"
}

# install installs the missing ones of the given packages with apt-get.
installed=false
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
    sudo true # asks for the password before elapsed.sh shows its line
  fi
  apt=("${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get -y)
  echo "setup: installing ${missing[*]}"
  log=$(mktemp)
  if ! { logged "$log" "${apt[@]}" update && logged "$log" "${apt[@]}" install --no-install-recommends "${missing[@]}"; }; then
    tail -n 20 "$log" >&2
    echo "setup: apt-get could not install ${missing[*]}; its output is in $log" >&2
    return 1
  fi
  rm -f "$log"
  installed=true
}

if command -v dpkg-query >/dev/null && command -v apt-get >/dev/null; then
  install "${packages[@]}"
  for argument in "$@"; do
    case $argument-$(uname -m) in
      amd64-aarch64) install g++-x86-64-linux-gnu ;;
      arm64-x86_64) install g++-aarch64-linux-gnu ;;
      image-*) [ "$(id -u)" -ne 0 ] || install buildah ;;
      qemu-*) install qemu-user-static ;;
    esac
  done
  if [ "${1-}" = tests ]; then
    install "${tests[@]}" || echo "setup: without ${tests[*]} the tests that need a browser or a shell are skipped" >&2
  elif [ "${1-}" = interop ]; then
    install "${interop[@]}"
  fi
elif ! command -v c++ >/dev/null; then
  echo "setup: not a Debian system: install a C++ compiler and the headers and static libraries of RocksDB 7, 8 or 9, zstd, lz4, snappy, bz2, zlib" >&2
  exit 1
fi

if [ "${1-}" = interop ]; then
  for program in electrum node npm python3; do
    command -v "$program" >/dev/null || { echo "setup: make test-interop needs $program: install it, and put it in PATH" >&2; exit 1; }
  done
fi

version=$(printf '#include <rocksdb/version.h>\nROCKSDB_MAJOR.ROCKSDB_MINOR\n' | c++ -x c++ -E -P - 2>/dev/null | tail -n 1 | tr -d ' ') || version=none
case $version in
  7.* | 8.* | 9.*) ;;
  none) echo "setup: the headers of RocksDB (7, 8 or 9) were not found" >&2; exit 1 ;;
  *)
    echo "setup: RocksDB 7, 8 or 9 is needed (Debian 12 has 7.8, Debian 13 has 9.10, Ubuntu 24.04 has 8.9)," \
      "these headers are of version $version: see docs/install.md" >&2
    exit 1
    ;;
esac

# Once, after the installation.
if $installed && [ $# -eq 0 ] && grep -qs __assert_fail /usr/lib/*-linux-gnu/librocksdb.a; then
  echo "setup: RocksDB of the system has assertions. \`make rocksdb\` builds one without them, which takes 6 minutes of CPU" \
    "time once, and \`make build\` then uses it"
fi
