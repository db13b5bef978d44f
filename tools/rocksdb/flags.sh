#!/usr/bin/env bash
# Prints the C compiler flags (CGO_CFLAGS) that package grocksdb needs with the installed version of RocksDB: none with
# RocksDB 7, for which it is written; with RocksDB 8 and 9 those of include/rocksdb/c.h. With a folder of build.sh, the
# flags for its version: none if the system has the same headers, so that cached packages can be used.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)

if [ -n "${1-}" ]; then
  cmp -s /usr/include/rocksdb/version.h "$1/include/rocksdb/version.h" || echo "-I$1/include"
  exit
fi

declarations=$(printf '#include <rocksdb/c.h>\n' | cc -E -P -x c - 2>/dev/null | tr -s ' \n' ' ') || exit 0
has() { [[ $declarations =~ $1 ]]; }

flags=()
has 'rocksdb_block_based_options_set_block_cache_compressed ?\(' || flags+=(-DBIRTHMARK_NO_BLOCK_CACHE_COMPRESSED)
has 'rocksdb_options_set_access_hint_on_compaction_start ?\(' || flags+=(-DBIRTHMARK_NO_ACCESS_HINT)
has 'rocksdb_enable_file_deletions ?\([^)]*unsigned char force' || flags+=(-DBIRTHMARK_NO_FORCED_FILE_DELETIONS)
if has 'rocksdb_options_set_plain_table_factory ?\(([^)]*)\)' && [[ ${BASH_REMATCH[1]} == *,*,*,*,*,* ]]; then
  flags+=(-DBIRTHMARK_LONG_PLAIN_TABLE_FACTORY)
fi
if [ ${#flags[@]} -gt 0 ]; then
  echo "-I$here/include ${flags[*]}"
fi
