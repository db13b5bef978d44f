#!/usr/bin/env bash
# Builds a container image, as an archive for `gunzip -c FILE | docker load` or podman, without a daemon, as root:
#
#   tools/image.sh BINARY ARCH LICENSES FILE.tar.gz     ARCH is amd64 or arm64, LICENSES a text
#
# It prints a line per package of the system's distribution that it used: name, version, license (SPDX) and package URL.
#
# The image has the binary, and the C library and the certificates of Debian's packages, which apt gets and checks for the
# architecture: the newest ones, with all security fixes. Scanners find their versions in /var/lib/dpkg/status.d. No program
# of the image runs during the build. Two builds with the same packages are equal. It needs buildah; SOURCE_DATE_EPOCH is
# the time of the files and of the image.
set -euo pipefail
[ $# -eq 4 ] || { sed -n '2,6s/^# \?//p' "$0" >&2; exit 2; }
binary=$(realpath "$1") arch=$2 licenses=$(realpath "$3") file=$(realpath -m "$4")
cd "$(dirname "$0")/.."
version=$(sed -n 's/^const release = "\(.*\)"$/\1/p' internal/cli/version.go)
case $arch in
  amd64) triplet=x86_64-linux-gnu loader=lib64/ld-linux-x86-64.so.2 ;;
  arm64) triplet=aarch64-linux-gnu loader=lib/ld-linux-aarch64.so.1 ;;
  *) echo "image: $arch is not supported: expected amd64 or arm64" >&2; exit 2 ;;
esac
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
umask 022

apt=$work/apt
mkdir -p "$apt"/{lists,archives}/partial "$work/packages"
touch "$apt/status"
options=(
  -qq -o APT::Architecture="$arch" -o APT::Architectures="$arch" -o Dir::State="$apt" -o Dir::State::lists="$apt/lists"
  -o Dir::State::status="$apt/status" -o Dir::Cache="$apt" -o APT::Sandbox::User=root -o Acquire::Languages=none
)
apt-get "${options[@]}" update
(cd "$apt/archives" && apt-get "${options[@]}" download libc6 ca-certificates)
for package in "$apt"/archives/*.deb; do dpkg-deb --extract "$package" "$work/packages"; done

root=$work/context/root packages=$work/packages
mkdir -p "$work/context/data" "$root"/{etc/ssl/certs,tmp,usr/bin,usr/share/doc/birthmark} "$root/lib/$triplet" "$root/${loader%/*}"
# The C library's folders are /lib in Debian 12, and /usr/lib later.
from=$packages
[ -e "$packages/lib" ] || from=$packages/usr
for name in libc.so.6 libm.so.6 libdl.so.2 libpthread.so.0 libresolv.so.2 libnss_dns.so.2 libnss_files.so.2; do
  cp -L "$from/lib/$triplet/$name" "$root/lib/$triplet/"
done
cp -L "$from/lib/$triplet/${loader##*/}" "$root/$loader"
cat "$packages"/usr/share/ca-certificates/mozilla/*.crt >"$root/etc/ssl/certs/ca-certificates.crt"
for package in libc6 ca-certificates; do
  mkdir -p "$root/usr/share/doc/$package" "$root/var/lib/dpkg/status.d"
  cp "$packages/usr/share/doc/$package/copyright" "$root/usr/share/doc/$package/"
  dpkg-deb --field "$apt/archives/$package"_*.deb >"$root/var/lib/dpkg/status.d/$package"
done
cp "$licenses" "$root/usr/share/doc/birthmark/licenses.txt"
cp "$binary" "$root/usr/bin/birthmark"
chmod 755 "$root/usr/bin/birthmark"
echo 'hosts: files dns' >"$root/etc/nsswitch.conf"
printf 'root:x:0:0::/:/sbin/nologin\nbirthmark:x:10001:10001::/var/lib/birthmark:/sbin/nologin\n' >"$root/etc/passwd"
printf 'root:x:0:\nbirthmark:x:10001:\n' >"$root/etc/group"
chmod 1777 "$root/tmp"
chmod 750 "$work/context/data"
find "$work/context" -exec touch --no-dereference --date=@"${SOURCE_DATE_EPOCH:-0}" {} +

buildah=(buildah --storage-driver vfs --root "$work/storage" --runroot "$work/run")
"${buildah[@]}" build --quiet --isolation chroot --format docker --platform "linux/$arch" --layers=false \
  --timestamp "${SOURCE_DATE_EPOCH:-0}" --tag "birthmark:$version" --file Dockerfile "$work/context" >/dev/null
"${buildah[@]}" push --quiet "birthmark:$version" "docker-archive:$work/image.tar:birthmark:$version"

# Archives are equal if the files of the image are: the configuration, whose name is its SHA-256, loses the names of the
# container that buildah made, and a copy of the names for Docker before 1.10 is left out.
mkdir "$work/archive"
tar --extract --file="$work/image.tar" --directory="$work/archive"
cd "$work/archive"
config=$(grep -o '"Config":"[^"]*"' manifest.json | cut -d '"' -f 4)
sed -i 's/"container":"[0-9a-f]*",//; s/"Hostname":"[0-9a-f]*"/"Hostname":""/g' "$config"
equal=$(sha256sum "$config" | cut -d ' ' -f 1).json
mv "$config" "$equal"
sed -i "s/$config/$equal/" manifest.json
layers=$(grep -o '"[0-9a-f]*\.tar"' manifest.json | tr -d '"')
tar --create --sort=name --owner=0 --group=0 --numeric-owner --mode=644 --mtime=@"${SOURCE_DATE_EPOCH:-0}" --format=gnu \
  manifest.json "$equal" $layers | gzip -n9 >"$file"

distribution=$(. /etc/os-release && echo "$ID")
# used PACKAGE LICENSE
used() {
  dpkg-deb --show --showformat "\${Package} \${Version} $2 pkg:deb/$distribution/\${Package}@\${Version}?arch=\${Architecture}\n" \
    "$apt/archives/$1"_*.deb
}
used libc6 LGPL-2.1-or-later
used ca-certificates MPL-2.0
