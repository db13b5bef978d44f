#!/usr/bin/env bash
# Builds RocksDB: the source of Debian 12, compiled without assertions, as a static library with zstd
# and LZ4 (see Makefile). Prints its folder, which is in the user's cache and has include/, lib/ and doc/.
#
#   tools/rocksdb/build.sh [ARCH]             amd64 or arm64; the architecture of this machine by default
#   tools/rocksdb/build.sh --cached [ARCH]    only prints the folder, and nothing if it has not been built
#   tools/rocksdb/build.sh --compiler [ARCH]  prints the prefix of the names of the compiler and its tools
#
# For the other architecture it needs Debian's cross compiler; zstd and LZ4 are the packages of that architecture, which
# apt gets and checks without changes to the system. ROCKSDB_MIRROR is the URL of a Debian mirror with the source, by
# default that of apt. JOBS is the number of compilers at a time.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)

# Debian's source package 7.8.3-2. Its patches concern tests, tools, the shared library and other architectures.
version=7.8.3
source=rocksdb_$version.orig.tar.gz
digest=b85408a374770897332bf15e51620a5f35720dd416a4749e3899057f9cfaf84d

case $(uname -m) in
  x86_64) host=amd64 ;;
  aarch64) host=arm64 ;;
  *) host=$(uname -m) ;;
esac
cached=false
case ${1-} in
  --cached) cached=true; shift ;;
  --compiler) compiler=true; shift ;;
esac
arch=${1:-$host}
case $arch in
  amd64) triplet=x86_64-linux-gnu ;;
  arm64) triplet=aarch64-linux-gnu ;;
  *) echo "rocksdb: $arch is not supported: expected amd64 or arm64" >&2; exit 2 ;;
esac
cross=
[ "$arch" = "$host" ] || cross=$triplet-
if [ -n "${compiler-}" ]; then
  echo "$cross"
  exit
fi
cxx=${cross}g++
if ! command -v "$cxx" >/dev/null; then
  ! $cached || exit 0
  echo "rocksdb: $cxx is needed: run tools/setup.sh${cross:+ $arch}" >&2
  exit 1
fi

key=$(cat <(grep -v '^#' "$here/Makefile") <("$cxx" --version | head -n 1) | sha256sum | head -c 12)
cache=${XDG_CACHE_HOME:-${HOME:?}/.cache}/birthmark
folder=$cache/rocksdb-$version-$arch-$key
if [ -e "$folder" ] || $cached; then
  [ ! -e "$folder" ] || echo "$folder"
  exit
fi

mkdir -p "$cache"
exec 9>"$cache/rocksdb.lock"
if ! flock --nonblock 9; then
  echo "rocksdb: waiting for another build" >&2
  flock 9
fi
if [ -e "$folder" ]; then
  echo "$folder"
  exit
fi
work=$(mktemp -d "$cache/rocksdb.XXXXXX")
trap 'rm -rf "$work"' EXIT

# quietly NAME COMMAND...: runs a command, and prints the end of its output if it fails.
quietly() {
  local name=$1
  shift
  if ! "$here/../elapsed.sh" "$name" "$@" >"$work/log" 2>&1; then
    tail -n 20 "$work/log" >&2
    echo "rocksdb: $name failed" >&2
    return 1
  fi
}

# download URL FILE
download() {
  if command -v curl >/dev/null; then
    curl --fail --silent --show-error --location --output "$2" "$1"
  elif command -v wget >/dev/null; then
    wget --quiet --output-document="$2" "$1"
  elif [ -x /usr/lib/apt/apt-helper ]; then # on every Debian
    /usr/lib/apt/apt-helper -o APT::Sandbox::User=root download-file "$1" "$2"
  else
    echo "curl or wget is needed"
    return 1
  fi
}

get_source() {
  local mirror mirrors=${ROCKSDB_MIRROR-}
  if [ -z "$mirrors" ]; then
    mirrors=$({ apt-get indextargets --format '$(REPO_URI)' 'Origin: Debian' 2>/dev/null || true; } | sort -u)
  fi
  touch "$work/downloads"
  for mirror in $mirrors; do
    if download "${mirror%/}/pool/main/r/rocksdb/$source" "$work/$source" >>"$work/downloads" 2>&1 &&
      sha256sum --check --status <<<"$digest  $work/$source"; then
      return
    fi
    echo "no $source with SHA-256 $digest at $mirror" >>"$work/downloads"
  done
  cat "$work/downloads" >&2
  echo "rocksdb: $source was not found: set ROCKSDB_MIRROR to the URL of a Debian mirror, which ends with /debian" >&2
  return 1
}

# get_libraries gets zstd and LZ4 of the other architecture, as packages of the system that apt is configured for.
get_libraries() {
  local apt=$work/apt package options
  if ! command -v apt-get >/dev/null; then
    echo "rocksdb: not a Debian system: zstd and LZ4 for $arch are not known" >&2
    return 1
  fi
  mkdir -p "$apt"/{lists,archives}/partial "$work/libraries"
  touch "$apt/status"
  options=(
    -o APT::Architecture="$arch" -o APT::Architectures="$arch" -o Dir::State="$apt" -o Dir::State::lists="$apt/lists"
    -o Dir::State::status="$apt/status" -o Dir::Cache="$apt" -o APT::Sandbox::User=root -o Acquire::Languages=none
  )
  quietly "get the packages of $arch" apt-get "${options[@]}" update
  (
    cd "$apt/archives"
    quietly "get zstd and LZ4 for $arch" apt-get "${options[@]}" download libzstd-dev liblz4-dev
    for package in *.deb; do
      dpkg-deb --extract "$package" "$work/libraries"
      dpkg-deb --show --showformat '${Package} ${Version} ${Architecture}\n' "$package"
    done >"$work/libraries/packages"
  )
}

echo "rocksdb: compiling RocksDB $version for $arch: 6 minutes of CPU time, 0.3 GB of disk, of which 30 MB remain" >&2
get_source
mkdir "$work/source" "$work/new" "$work/new/lib" "$work/new/doc"
tar --extract --gzip --file "$work/$source" --directory "$work/source" --strip-components=1
includes=
if [ -n "$cross" ]; then
  get_libraries
  includes="-isystem $work/libraries/usr/include"
  cp "$work/libraries/usr/lib/$triplet"/lib{zstd,lz4}.a "$work/new/lib/"
  cp "$work/libraries/packages" "$work/new/doc/"
  for name in libzstd liblz4; do cp "$work/libraries/usr/share/doc/$name-dev/copyright" "$work/new/doc/$name"; done
fi
quietly "compile RocksDB for $arch" env -u MAKEFLAGS make -C "$work/source" -f "$here/Makefile" -j "${JOBS:-$(nproc)}" \
  ARCH="$arch" CXX="$cxx" AR="${cross}ar" INCLUDES="$includes"
cp -r "$work/source/include" "$work/new/"
cp "$work/source/librocksdb.a" "$work/new/lib/"
cp "$("$cxx" -print-file-name=libstdc++.a)" "$work/new/lib/" # the linker takes it instead of the shared library
cat "$work/source"/LICENSE.{Apache,leveldb} >"$work/new/doc/rocksdb"
mv "$work/new" "$folder"
echo "$folder"
