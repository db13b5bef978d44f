#!/usr/bin/env bash
# Adds Debian packages to an apt repository, which any web server can serve as files, and signs it with a key of gpg:
#
#   tools/apt-repository.sh DIR KEY PACKAGE.deb...
#
# Clients trust birthmark.gpg, the public key, with Signed-By: see docs/install.md. It needs apt-utils and gpg.
set -euo pipefail
[ $# -ge 3 ] || { sed -n '2,6s/^# \?//p' "$0" >&2; exit 2; }
dir=$1 key=$2
shift 2
mkdir -p "$dir/pool"
for package in "$@"; do # apt-ftparchive finds the architecture in the name
  cp "$package" "$dir/pool/$(dpkg-deb --show --showformat '${Package}_${Version}_${Architecture}.deb' "$package")"
done
cd "$dir"
for arch in amd64 arm64; do
  mkdir -p dists/stable/main/binary-$arch
  apt-ftparchive --arch $arch packages pool >dists/stable/main/binary-$arch/Packages
  gzip -n9k --force dists/stable/main/binary-$arch/Packages
done
apt-ftparchive -o APT::FTPArchive::Release::Origin=Birthmark -o APT::FTPArchive::Release::Suite=stable \
  -o APT::FTPArchive::Release::Codename=stable -o APT::FTPArchive::Release::Components=main \
  -o APT::FTPArchive::Release::Architectures='amd64 arm64' release dists/stable >Release.new
mv Release.new dists/stable/Release
gpg --batch --yes --local-user "$key" --armor --detach-sign --output dists/stable/Release.gpg dists/stable/Release
gpg --batch --yes --local-user "$key" --clearsign --output dists/stable/InRelease dists/stable/Release
gpg --batch --yes --output birthmark.gpg --export "$key"
