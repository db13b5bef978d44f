#!/usr/bin/env bash
# Builds a release in dist/: a tarball, a Debian package and their checksums. `release.sh binary FILE` builds only the
# binary, `release.sh licenses` prints the licenses of all that it contains. Two builds of one commit on the same system are equal: the paths of the tree and the time do not matter.
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

# Links everything but the C library statically.
build() {
  CGO_LDFLAGS="-Wl,-Bstatic -lrocksdb -lz -lbz2 -lsnappy -llz4 -lzstd -lstdc++ -Wl,-Bdynamic -lm -ldl -lpthread -static-libgcc" \
    CGO_CFLAGS="-g -O2 $(tools/rocksdb/flags.sh)" GOFLAGS="-tags=grocksdb_no_link -trimpath" \
    go build -buildvcs=false -ldflags="-s -w -X birthmark/internal/cli.commit=$commit" -o "$1" ./cmd/birthmark
}

# Prints the licenses of this program and of the libraries in the binary: Go modules, Go and, where Debian has them, C.
licenses() {
  local module dir files file name
  {
    printf 'birthmark %s\n' "$PWD"
    go list -deps -f '{{with .Module}}{{if not .Main}}{{.Path}} {{.Dir}}{{end}}{{end}}' ./cmd/birthmark | sed '/^$/d' | sort -u
    printf 'Go %s\n' "$(go env GOROOT)"
  } | while read -r module dir; do
    files=$(find -L "$dir" -maxdepth 1 -type f -iregex '.*/\(licen[cs]e\|copying\|notice\)[^/]*' | sort)
    [ -n "$files" ] || { echo "release: no license in $dir" >&2; exit 1; }
    for file in $files; do
      printf '\n==== %s, %s ====\n\n' "$module" "${file##*/}"
      cat "$file"
    done
  done
  for name in librocksdb libzstd liblz4 libsnappy libbz2 zlib1g; do
    file=/usr/share/doc/$name-dev/copyright
    [ ! -e $file ] || { printf '\n==== %s ====\n\n' $name; cat $file; }
  done
}

case ${1-} in
  binary) build "${2:?release: expected binary FILE}"; exit ;;
  licenses) licenses; exit ;;
esac

arch=$(go env GOARCH)
name=birthmark_${version}_linux_$arch
stage=dist/stage
rm -rf dist
mkdir -p $stage/doc $stage/completion $stage/man
build $stage/birthmark
chmod 755 $stage/birthmark

for library in $(ldd $stage/birthmark | awk '{print $1}'); do
  case $library in
    linux-vdso* | libc.so* | libm.so* | libdl.so* | libpthread.so* | libresolv.so* | /lib*/ld-linux*) ;;
    *) echo "release: the binary needs $library: expected only the C library" >&2; exit 1 ;;
  esac
done
# The newest version of a symbol of the C library that the binary needs.
GLIBC=$(objdump -T $stage/birthmark | grep -o 'GLIBC_[0-9.]*' | sort -uV | tail -n 1)
export GLIBC=${GLIBC#GLIBC_}

cp LICENSE README.md CHANGELOG.md $stage/doc/
licenses >$stage/doc/copyright
sed 's|/usr/local/bin/birthmark|/usr/bin/birthmark|' docs/birthmark.service >$stage/birthmark.service
$stage/birthmark init - --chain bitcoin --network signet --db /var/lib/birthmark/bitcoin-signet >$stage/birthmark.yaml
$stage/birthmark man $stage/man >/dev/null
gzip -n9 $stage/man/*.1
$stage/birthmark completion bash >$stage/completion/birthmark.bash
$stage/birthmark completion zsh >$stage/completion/_birthmark
$stage/birthmark completion fish >$stage/completion/birthmark.fish
find $stage -type f ! -name birthmark -exec chmod 644 {} +
find $stage -exec touch --no-dereference --date=@"$SOURCE_DATE_EPOCH" {} +

tar --create --directory=$stage --transform="s|^\./|$name/|" --sort=name --owner=0 --group=0 --numeric-owner \
  --mtime=@"$SOURCE_DATE_EPOCH" --format=gnu ./birthmark ./birthmark.service ./birthmark.yaml ./completion ./doc ./man |
  gzip -n9 >dist/$name.tar.gz

# nfpm reads paths relative to its working directory.
nfpm=$PWD/dist/nfpm
CGO_ENABLED=0 GOFLAGS='' go build -buildvcs=false -modfile=tools/nfpm/go.mod -trimpath -o "$nfpm" github.com/goreleaser/nfpm/v2/cmd/nfpm
mkdir dist/build
cp -r packaging dist/build/
mv $stage dist/build/stage
sed "s|\${ARCH}|$arch|; s|\${VERSION}|$version|; s|\${GLIBC}|$GLIBC|" packaging/nfpm.yaml >dist/build/nfpm.yaml
(cd dist/build && "$nfpm" package --config nfpm.yaml --packager deb --target ../birthmark_${version}_$arch.deb >/dev/null)
rm -rf dist/build dist/nfpm
(cd dist && sha256sum ./*.tar.gz ./*.deb | sed 's|\./||' >SHA256SUMS && cat SHA256SUMS)
