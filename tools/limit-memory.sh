#!/usr/bin/env bash
# Runs a command with limited memory and page cache, to measure databases that are larger than both:
#
#   tools/limit-memory.sh 700M birthmark bench append --memory 256MiB --recording DIR ...
#   tools/limit-memory.sh --drop FOLDER birthmark bench append --dir FOLDER ...
#
# The limit covers the memory of the command and the page cache of its files. bench append needs --memory, 300 MB, and
# what is left is the page cache; make the recording without the limit. It uses the first of these that works: cgroup v2
# or v1 as root, systemd-run. With --drop, which needs none of them, the files in FOLDER are removed from the page cache
# once per second (POSIX_FADV_DONTNEED); rows read twice within a second are then read from disk once.
set -euo pipefail

usage() {
  sed -n '2,11s/^# \{0,1\}//p' "$0" >&2
  exit 2
}

drop() {
  while sleep 1; do
    find "$1" -type f -exec dd status=none iflag=nocache count=0 if={} \; 2>/dev/null || true # deleted meanwhile
  done
}

# run COMMAND in the cgroup $group, and remove the group.
in_group() {
  local status=0
  sh -c 'echo $$ >"$0/cgroup.procs" && exec "$@"' "$group" "$@" || status=$?
  for file in memory.peak memory.max_usage_in_bytes; do
    [ ! -e "$group/$file" ] || echo "limit-memory: peak $(cat "$group/$file") bytes of memory and page cache" >&2
  done
  rmdir "$group" || true
  exit $status
}

[ $# -ge 2 ] || usage
limit=$1
shift
if [ "$limit" = --drop ]; then
  [ $# -ge 2 ] || usage
  drop "$1" &
  dropping=$!
  trap 'kill $dropping 2>/dev/null' EXIT
  shift
  "$@"
  exit
fi

root=/sys/fs/cgroup
if grep -qw memory $root/cgroup.controllers 2>/dev/null; then # version 2
  group=$root/birthmark-$$
  echo +memory 2>/dev/null >$root/cgroup.subtree_control || true
  if mkdir "$group" 2>/dev/null; then
    if echo "$limit" 2>/dev/null >"$group/memory.max"; then
      echo 0 2>/dev/null >"$group/memory.swap.max" || true
      in_group "$@"
    fi
    rmdir "$group"
  fi
fi
group=$root/memory/birthmark-$$ # version 1
if mkdir "$group" 2>/dev/null; then
  if echo "$limit" 2>/dev/null >"$group/memory.limit_in_bytes"; then
    echo "$limit" 2>/dev/null >"$group/memory.memsw.limit_in_bytes" || true
    in_group "$@"
  fi
  rmdir "$group"
fi
user=--user
[ "$(id -u)" != 0 ] || user=
if systemd-run $user --quiet --scope -p MemoryMax="$limit" true 2>/dev/null; then
  exec systemd-run $user --quiet --scope -p MemoryMax="$limit" -p MemorySwapMax=0 "$@"
fi
echo "limit-memory: no cgroup and no systemd to limit memory with: run as root, or use --drop FOLDER" >&2
exit 1
