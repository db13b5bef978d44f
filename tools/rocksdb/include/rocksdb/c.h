// Declares the functions of RocksDB 7's C API that later versions removed or changed, as package grocksdb calls them.
// tools/rocksdb/flags.sh puts this folder before that of the installed header and defines what the installed version
// lacks. Birthmark uses none of these functions.
#pragma once
#include_next <rocksdb/c.h>
#include <stdlib.h>

#ifdef BIRTHMARK_NO_BLOCK_CACHE_COMPRESSED
static inline void rocksdb_block_based_options_set_block_cache_compressed(
    rocksdb_block_based_table_options_t *o, rocksdb_cache_t *c) { abort(); }
#endif

#ifdef BIRTHMARK_NO_ACCESS_HINT
static inline void rocksdb_options_set_access_hint_on_compaction_start(rocksdb_options_t *o, int v) { abort(); }
static inline int rocksdb_options_get_access_hint_on_compaction_start(rocksdb_options_t *o) { abort(); }
#endif

#ifdef BIRTHMARK_NO_FORCED_FILE_DELETIONS
static inline void birthmark_enable_file_deletions(rocksdb_t *db, unsigned char force, char **err) { abort(); }
#define rocksdb_enable_file_deletions birthmark_enable_file_deletions
#endif

#ifdef BIRTHMARK_LONG_PLAIN_TABLE_FACTORY
static inline void birthmark_set_plain_table_factory(
    rocksdb_options_t *o, uint32_t a, int b, double c, size_t d) { abort(); }
#define rocksdb_options_set_plain_table_factory birthmark_set_plain_table_factory
#endif
