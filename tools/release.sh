#!/usr/bin/env bash
# `release.sh [ARCH...]` builds a release in dist/: per architecture (amd64 or arm64; that of this machine by default) a
# tarball, a Debian package, a container image if buildah is installed and bills of materials (CycloneDX), and the
# checksums of all, which are signed if MINISIGN_KEY is the path of a secret key of minisign. `release.sh binary FILE
# [ARCH]` builds only the binary, `release.sh licenses [ARCH]` prints the licenses of all that it contains, and
# `release.sh test ARCH ARGUMENT...` runs `go test` with the settings of a release. Two builds of one commit on the same
# system are equal: the paths of the tree and the time do not matter.
set -euo pipefail
cd "$(dirname "$0")/.."

version=$(sed -n 's/^const release = "\(.*\)"$/\1/p' internal/cli/version.go)
[ -n "$version" ] || { echo "release: no version in internal/cli/version.go" >&2; exit 1; }
commit=
if git rev-parse HEAD >/dev/null 2>&1; then
  commit=$(git rev-parse HEAD)$([ -z "$(git status --porcelain)" ] || echo +)
  SOURCE_DATE_EPOCH=${SOURCE_DATE_EPOCH:-$(git log -1 --format=%ct)}
fi
export SOURCE_DATE_EPOCH=${SOURCE_DATE_EPOCH:-0} LC_ALL=C TZ=UTC

host=$(GOARCH='' go env GOARCH)

# with ARCH COMMAND...: runs a command with the settings of a release for cgo and Go: the RocksDB of tools/rocksdb/build.sh.
# The other libraries of the linker's flags contain nothing that is used: they are those of packages in the cache.
with() (
  rocksdb=$(tools/rocksdb/build.sh "$1")
  compiler=$(tools/rocksdb/build.sh --compiler "$1")
  libraries='-lz -lbz2 -lsnappy ' flags="-g -O2 $(tools/rocksdb/flags.sh "$rocksdb")"
  if [ -n "$compiler" ]; then
    export CC=${compiler}gcc CXX=${compiler}g++
    libraries='' flags="-g -O2 -I$rocksdb/include"
  fi
  export CGO_CFLAGS=$flags CGO_CXXFLAGS="$flags -DNDEBUG" \
    CGO_LDFLAGS="-Wl,-Bstatic -lrocksdb $libraries-llz4 -lzstd -Wl,-Bdynamic -lstdc++ -lm -ldl -lpthread" \
    CGO_ENABLED=1 GOOS=linux GOARCH=$1 GOAMD64=v1 GOARM64=v8.0 GOFLAGS="-tags=grocksdb_no_link -trimpath" \
    LINKER="-L$rocksdb/lib -Wl,--gc-sections -static-libgcc"
  "${@:2}"
)

# build FILE ARCH: links everything but the C library statically.
build() {
  with "$2" link "$1"
}

link() {
  go build -buildvcs=false -o "$1" -ldflags="-s -w -buildid= -X birthmark/internal/cli.commit=$commit
      -extldflags '$LINKER'" ./cmd/birthmark
}

# libraries ARCH: prints a line per C or C++ library in the binary: name, version, license (SPDX), package URL and the
# file with the text of the license, separated by tabs.
libraries() {
  local rocksdb compiler package version
  rocksdb=$(tools/rocksdb/build.sh "$1")
  compiler=$(tools/rocksdb/build.sh --compiler "$1")
  version=$(sed -n 's/^version=//p' tools/rocksdb/build.sh)-2
  printf '%s\t' rocksdb "$version" Apache-2.0 "pkg:deb/debian/rocksdb@$version?arch=source"
  echo "$rocksdb/doc/rocksdb"
  library "$1" zstd BSD-3-Clause libzstd-dev "$rocksdb/doc"
  library "$1" lz4 BSD-2-Clause liblz4-dev "$rocksdb/doc"
  package=$(dpkg-query -S "$(realpath "$("${compiler}g++" -print-file-name=libstdc++.a)")" | sed 's/:.*//')
  library "$1" libstdc++ 'GPL-3.0-or-later WITH GCC-exception-3.1' "$package" /
}

# library ARCH NAME LICENSE PACKAGE DOC: prints the line of a library of a package of Debian, which is installed, or was
# added to the folder of RocksDB.
library() {
  local version file=$5/${4%-dev}
  if [ -e "$file" ]; then
    version=$(awk -v name="$4" '$1 == name {print $2}' "$5/packages")
  else
    version=$(dpkg-query -W -f '${Version}' "$4") file=/usr/share/doc/$4/copyright
  fi
  printf '%s\t' "$2" "$version" "$3" "pkg:deb/debian/$4@$version?arch=$1"
  echo "$file"
}

# licenses ARCH: prints the licenses of this program and of all that the binary contains: Go, the modules and the folders
# of their packages, and the libraries.
licenses() {
  local module root dir file files name version license url
  {
    printf 'birthmark\t%s\t%s\n' "$PWD" "$PWD"
    printf '%s\t%s\t%s\n' "$(go env GOVERSION)" "$(go env GOROOT)" "$(go env GOROOT)"
    CGO_ENABLED=1 GOOS=linux GOARCH=$1 GOFLAGS=-tags=grocksdb_no_link go list -deps -f \
      '{{with .Module}}{{if not .Main}}{{.Path}} {{.Version}}{{"\t"}}{{.Dir}}{{"\t"}}{{$.Dir}}{{end}}{{end}}' ./cmd/birthmark
  } | sed '/^$/d' | while IFS=$'\t' read -r module root dir; do
    files=
    while :; do
      for file in $(find -L "$dir" -maxdepth 1 -type f -iregex '.*/\(licen[cs]e\|copying\|notice\|patents\)[^/]*' ! -name '*.go'); do
        files=1
        printf '%s, %s\t%s\n' "$module" "${file#"$root"/}" "$file"
      done
      [ "$dir" != "$root" ] || break
      dir=${dir%/*}
    done
    [ -n "$files" ] || { echo "release: no license in $root" >&2; exit 1; }
  done | sort -u | while IFS=$'\t' read -r name file; do
    printf '\n==== %s ====\n\n' "$name"
    cat "$file"
  done
  libraries "$1" | while IFS=$'\t' read -r name version license url file; do
    printf '\n==== %s %s, %s, %s ====\n\n' "$name" "$version" "$license" "$url"
    cat "$file"
  done
}

# tests ARGUMENT...: go test with the settings of a release.
tests() {
  go test -vet=off -ldflags="-s -w -extldflags '$LINKER'" "$@"
}

case ${1-} in
  binary) build "${2:?release: expected binary FILE}" "${3:-$host}"; exit ;;
  licenses) licenses "${2:-$host}"; exit ;;
  test) with "${2:?release: expected test ARCH}" tests "${@:3}"; exit ;;
esac
[ $# -gt 0 ] || set -- "$host"
for arch in "$@"; do
  case $arch in
    amd64 | arm64) ;;
    *) echo "release: $arch is not supported: expected amd64 or arm64" >&2; exit 2 ;;
  esac
done

rm -rf dist
# The files that are equal for all architectures, some of which the program writes.
common=dist/common
mkdir -p $common/doc $common/completion $common/man
build $common/birthmark "$host"
cp LICENSE README.md CHANGELOG.md $common/doc/
sed 's|/usr/local/bin/birthmark|/usr/bin/birthmark|' docs/birthmark.service >$common/birthmark.service
$common/birthmark init - --chain bitcoin --network signet --db /var/lib/birthmark/bitcoin-signet >$common/birthmark.yaml
$common/birthmark man $common/man >/dev/null
gzip -n9 $common/man/*.1
$common/birthmark completion bash >$common/completion/birthmark.bash
$common/birthmark completion zsh >$common/completion/_birthmark
$common/birthmark completion fish >$common/completion/birthmark.fish

for tool in github.com/goreleaser/nfpm/v2/cmd/nfpm github.com/CycloneDX/cyclonedx-gomod/cmd/cyclonedx-gomod ./sbom; do
  CGO_ENABLED=0 GOFLAGS='' GOARCH='' go -C tools/packages build -buildvcs=false -trimpath -o "$PWD/dist/tools/" $tool
done

# package ARCH
package() {
  local arch=$1 name=birthmark_${version}_linux_$1 stage=dist/stage library libraries GLIBC
  cp -r $common $stage
  [ "$arch" = "$host" ] || build $stage/birthmark "$arch"
  chmod 755 $stage/birthmark
  for library in $(readelf --dynamic --wide $stage/birthmark | sed -n 's/.*(NEEDED).*\[\(.*\)\]/\1/p'); do
    case $library in
      libc.so* | libm.so* | libdl.so* | libpthread.so* | libresolv.so* | ld-linux*) ;;
      *) echo "release: the binary needs $library: expected only the C library" >&2; exit 1 ;;
    esac
  done
  # The newest version of a symbol of the C library that the binary needs.
  GLIBC=$(readelf --version-info --wide $stage/birthmark | grep -o 'GLIBC_[0-9.]*' | sort -uV | tail -n 1)
  GLIBC=${GLIBC#GLIBC_}

  licenses "$arch" >$stage/doc/licenses.txt
  find $stage -type f ! -name birthmark -exec chmod 644 {} +
  find $stage -exec touch --no-dereference --date=@"$SOURCE_DATE_EPOCH" {} +

  tar --create --directory=$stage --transform="s|^\./|$name/|" --sort=name --owner=0 --group=0 --numeric-owner \
    --mtime=@"$SOURCE_DATE_EPOCH" --format=gnu ./birthmark ./birthmark.service ./birthmark.yaml ./completion ./doc ./man |
    gzip -n9 >"dist/$name.tar.gz"

  # The bill of materials: the Go modules that the binary names, and the libraries.
  mapfile -t libraries < <(libraries "$arch" | cut -f1-4 | tr '\t' ' ')
  dist/tools/cyclonedx-gomod bin -json -noserial -notimestamp -std -licenses -assert-licenses -version "$version" $stage/birthmark \
    2>dist/sbom.log | dist/tools/sbom "${libraries[@]}" >"dist/$name.cdx.json" || { cat dist/sbom.log >&2; exit 1; }
  rm dist/sbom.log

  if command -v buildah >/dev/null && [ "$(id -u)" = 0 ]; then
    tools/image.sh $stage/birthmark "$arch" $stage/doc/licenses.txt "dist/birthmark_${version}_image_$arch.tar.gz" >dist/packages
    mapfile -t libraries <dist/packages
    rm dist/packages
    dist/tools/sbom "${libraries[@]}" <"dist/$name.cdx.json" >"dist/birthmark_${version}_image_$arch.cdx.json"
  else
    echo "release: no image: buildah and root are needed" >&2
  fi

  # nfpm reads paths relative to its working directory.
  mkdir dist/build
  cp -r packaging dist/build/
  mv $stage dist/build/stage
  printf 'birthmark (%s) stable; urgency=medium\n\n  * The changes are in CHANGELOG.md.gz.\n\n -- %s  %s\n' "$version" \
    "$(sed -n 's/^maintainer: //p' packaging/nfpm.yaml)" "$(date --rfc-email --date=@"$SOURCE_DATE_EPOCH")" >dist/build/stage/changelog
  cp packaging/NEWS dist/build/stage/NEWS.Debian
  mv dist/build/stage/doc/{CHANGELOG.md,licenses.txt} dist/build/stage/
  gzip -n9 dist/build/stage/{changelog,NEWS.Debian,CHANGELOG.md,licenses.txt}
  sed "s|\${ARCH}|$arch|; s|\${VERSION}|$version|; s|\${GLIBC}|$GLIBC|" packaging/nfpm.yaml >dist/build/nfpm.yaml
  (cd dist/build && ../tools/nfpm package --config nfpm.yaml --packager deb --target "../birthmark_${version}_$arch.deb" >/dev/null)
  rm -rf dist/build
}

for arch in "$@"; do
  package "$arch"
done
rm -rf dist/tools $common
cd dist
sha256sum birthmark_* >SHA256SUMS
cat SHA256SUMS
if [ -n "${MINISIGN_KEY-}" ]; then
  GOARCH='' go run aead.dev/minisign/cmd/minisign -S -s "$MINISIGN_KEY" -t "birthmark $version" -m SHA256SUMS
else
  echo "release: SHA256SUMS is not signed: MINISIGN_KEY is the path of a secret key of minisign" >&2
fi
