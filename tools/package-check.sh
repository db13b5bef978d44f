#!/usr/bin/env bash
# Installs, upgrades, removes and purges the Debian package on clean systems that run systemd, as root:
#
#   tools/package-check.sh NEW.deb OLD.deb [SUITE...]     suites: bookworm, trixie (the default) and noble
#
# OLD.deb is a package of an earlier release. Its service indexes real blocks, and runs while the package is upgraded
# from an apt repository that this script signs with a key of its own. Systems are made by debootstrap, in
# ~/.cache/birthmark/systems, and run in systemd-nspawn without a network; changes to them are discarded. It needs
# debootstrap, systemd-container, apt-utils and gpg.
set -euo pipefail
[ $# -ge 2 ] || { sed -n '2,9s/^# \?//p' "$0" >&2; exit 2; }
new=$(realpath "$1") old=$(realpath "$2")
shift 2
[ $# -gt 0 ] || set -- bookworm trixie
cd "$(dirname "$0")/.."
systems=${XDG_CACHE_HOME:-$HOME/.cache}/birthmark/systems
work=$(mktemp -d)
pid=
cleanup() {
  [ -z "$pid" ] || { kill "$pid" && wait "$pid"; } 2>/dev/null || true
  GNUPGHOME=$work/gnupg gpgconf --kill all 2>/dev/null || true
  rm -rf "$work"
}
trap cleanup EXIT

# What the system reads: packages, a repository, and the blocks of the demo.
mkdir -m 700 "$work/gnupg"
export GNUPGHOME=$work/gnupg
gpg --quiet --batch --passphrase '' --quick-generate-key 'Throw-away key of package-check' rsa3072 sign 1d 2>"$work/gpg"
tools/apt-repository.sh "$work/input/apt" "$(gpg --list-keys --with-colons 2>"$work/gpg" | awk -F: '$1 == "fpr" {print $10}')" "$new"
cp "$old" "$work/input/old.deb"
go -C tools mod download github.com/btcsuite/btcd
mkdir "$work/input/blocks"
cp "$(go -C tools list -m -f '{{.Dir}}' github.com/btcsuite/btcd)/blockchain/testdata/blk_0_to_14131.dat" "$work/input/blocks/blk00000.dat"
chmod -R a+rX "$work/input"

# The commands in the system.
cat >"$work/input/check" <<'END'
set -euo pipefail
step() { printf '  %s\n' "$*"; }
fail() { printf 'FAILED: %s\n' "$*"; journalctl --unit birthmark --lines 20 --no-pager || true; exit 1; }
as() { runuser -u birthmark -- "$@"; }
settings=/etc/birthmark/birthmark.yaml
healthy() { (exec 3<>/dev/tcp/127.0.0.1/8080 && printf 'GET /healthz HTTP/1.0\r\n\r\n' >&3 && head -n 1 <&3 | grep -q ' 200 ') 2>/dev/null; }
balance() { as birthmark balance --config $settings address 1PhUXucRd8FzQved2KGK3g1eKfTHPGjgFu --json; }
tip() { as birthmark status --config $settings --json 2>/dev/null | grep -o '"height":[0-9]*' | head -n 1; }
await() { for _ in $(seq 300); do if "$@"; then return; fi; sleep 1; done; fail "no success within 300 s: $*"; }
at_tip() { [ "$(tip)" = '"height":14131' ]; }
export DEBIAN_FRONTEND=noninteractive

step "install $(dpkg-deb -f /input/old.deb Version): the service is not started"
dpkg -i /input/old.deb >/dev/null </dev/null
! systemctl is-active --quiet birthmark || fail "the service runs"
cat >$settings <<'YAML'
chain: bitcoin
source: file:///input/blocks
db: /var/lib/birthmark/bitcoin
memory: 512MiB
indexes:
  address: {balance: true}
YAML
cp $settings /var/tmp/settings
systemctl enable --quiet --now birthmark
await at_tip
await healthy
before=$(balance)
step "the service has indexed 14,132 blocks: ${before:0:100}"

step "upgrade from the signed repository while the service runs"
cat >/etc/apt/sources.list.d/birthmark.sources <<'SOURCES'
Types: deb
URIs: file:///input/apt
Suites: stable
Components: main
Signed-By: /input/apt/birthmark.gpg
SOURCES
rm -f /etc/apt/sources.list
apt-get update -qq -o APT::Update::Error-Mode=any
apt-get install -qq -o Dpkg::Options::=--force-confold birthmark >/dev/null </dev/null
cmp $settings /var/tmp/settings || fail "the settings changed"
birthmark version --verbose | sed -n 's/^\(birthmark\|rocksdb\) /  \1 /p'
# A database of 0.9 has an earlier format: the service ends with status 3 until it is upgraded.
stopped() { ! systemctl is-active --quiet birthmark; }
if ! (sleep 5; healthy); then
  await stopped
  [ "$(systemctl show --property=ExecMainStatus --value birthmark)" = 3 ] || fail "the status is not 3"
  step "the database has an earlier format: birthmark upgrade"
  as birthmark upgrade --config $settings >/dev/null
  systemctl restart birthmark
fi
await healthy
[ "$(balance)" = "$before" ] || fail "another balance: $(balance)"
as birthmark check --config $settings --json 2>/dev/null | grep -q '"ok":true' || fail "the database is inconsistent"
step "the service has the same balance, and the database is consistent"
step "exposure by systemd-analyze: $(systemd-analyze security birthmark.service --no-pager | tail -n 1)"

files() { find /var/lib/birthmark/bitcoin -type f | wc -l; }
step "remove: stops the service, keeps settings and data, asks nothing"
env -u DEBIAN_FRONTEND apt-get remove -qq birthmark >/dev/null </dev/null
! systemctl is-active --quiet birthmark || fail "the service runs"
[ ! -e /etc/systemd/system/multi-user.target.wants/birthmark.service ] || fail "the service is enabled"
[ "$(files)" -gt 5 ] && cmp $settings /var/tmp/settings || fail "data or settings are lost"
step "purge: removes the settings, keeps $(files) files of data and the user"
env -u DEBIAN_FRONTEND apt-get purge -qq birthmark >/dev/null </dev/null
[ "$(files)" -gt 5 ] && [ ! -e $settings ] && getent passwd birthmark >/dev/null || fail "data or the user are lost, or settings stay"

step "install again: the service runs with the settings of the package"
apt-get install -qq birthmark >/dev/null </dev/null
systemctl start birthmark
await healthy
other=(/usr/share/keyrings/*-archive-keyring.gpg)
sed -i "s|^Signed-By:.*|Signed-By: ${other[0]}|" /etc/apt/sources.list.d/birthmark.sources
rm -rf /var/lib/apt/lists/*
! apt-get update -qq -o APT::Update::Error-Mode=any 2>/dev/null || fail "a repository of an unknown key is trusted"
step "a repository that is not signed with the given key is refused"
END

for suite in "$@"; do
  system=$systems/$suite
  if [ ! -e "$system/etc/os-release" ]; then
    rm -rf "$system.new"
    mkdir -p "$systems"
    echo "$suite: debootstrap"
    debootstrap --variant=minbase --include=systemd,systemd-sysv,libnss-systemd,ca-certificates "$suite" "$system.new" \
      >"$work/log" || { tail -n 5 "$work/log" >&2; echo "package-check: debootstrap failed for $suite" >&2; exit 1; }
    mv "$system.new" "$system"
  fi
  echo "$suite: $(sed -n 's/^PRETTY_NAME="\(.*\)"/\1/p' "$system/etc/os-release")"
  # systemd of Debian 13 needs version 2 of control groups.
  SYSTEMD_NSPAWN_UNIFIED_HIERARCHY=1 systemd-nspawn --quiet --directory="$system" --volatile=overlay --boot \
    --register=no --keep-unit --private-network --console=pipe --bind-ro="$work/input:/input" </dev/null >"$work/boot" 2>&1 &
  pid=$!
  leader=
  for _ in $(seq 60); do
    leader=$(pgrep -P $pid) && nsenter --target "$leader" --all systemctl is-system-running --wait &>/dev/null && break
    sleep 1
  done
  nsenter --target "${leader:?$(cat "$work/boot")}" --all bash /input/check
  kill $pid && wait $pid || true
  pid=
done
echo "package-check: no failures"
