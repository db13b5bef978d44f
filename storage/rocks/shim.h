// Functions that the C API of RocksDB 7.8 lacks: it needs one call per row of a scan, copies each value of a MultiGet
// twice, cannot flush all families at once, drops the errors of a compaction and cannot stop one. Pointers named db, cf, snapshot and options are those of the C API.
// Errors are malloc'ed strings, NULL for success.
#pragma once
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

// How often the calling thread has waited: its voluntary context switches. 0 if the system does not count them.
int64_t birthmark_thread_waits(void);

// The bytes that a read returns: size bytes of room, or of larger (malloc'ed) if that is not NULL.
typedef struct {
  char *larger;
  size_t size;
  char room[512];
} birthmark_result;

// Reads n keys of one family. The keys are concatenated; key i ends at key_ends[i]. The value of key i is
// value_sizes[i] bytes at value_starts[i] of values; the size of an absent key is -1.
char *birthmark_multi_get(void *db, void *cf, const void *snapshot, const char *keys, const uint64_t *key_ends,
                          size_t n, birthmark_result *values, uint64_t *value_starts, int64_t *value_sizes);

// Reads n prefixes of eight bytes: the result for prefix i is the rest of every key that begins with it, in key order
// and concatenated.
char *birthmark_suffixes(void *db, void *cf, const void *snapshot, const char *prefixes, const uint64_t *prefix_ends,
                         size_t n, birthmark_result *suffixes, uint64_t *suffix_starts, int64_t *suffix_sizes);

// A range of keys: it begins at the end of the previous range's to (0 for the first), from ends at from_end and to at
// to_end of the concatenated bounds. open: it has no upper bound. limit: the maximum number of rows, 0 for none.
typedef struct {
  uint64_t from_end, to_end, limit, open;
} birthmark_range;

// Reads the rows of n ranges of one family: each as birthmark_scan_next returns rows, concatenated. The rows
// of range i end at row_ends[i].
char *birthmark_ranges(void *db, void *cf, const void *snapshot, const char *bounds, const birthmark_range *ranges,
                       size_t n, birthmark_result *rows, uint64_t *row_ends);

// Bases a family's filters on the first size bytes of keys. (grocksdb 1.7.15 frees the C API's object twice.)
void birthmark_set_prefix_extractor(void *options, size_t size);

// Begins each insert into a memtable at the position of the last one. The rows of a batch are sorted per family.
void birthmark_hint_inserts(void *options);

// The current (0 if unknown) and the maximum number of arenas of the C heap.
int birthmark_arenas(void);
int birthmark_max_arenas(void);

// Creates n families, names[i] with options[i] (names end with a zero byte and follow one another), and returns their
// handles. RocksDB writes its options file once and not per family. After an error, *created families exist.
char *birthmark_create_families(void *db, const char *names, void *const *options, size_t n, void **handles,
                                size_t *created);

// Flushes the memtables of n families.
char *birthmark_flush(void *db, void **cfs, size_t n);

// Sets the number of background threads: a quarter of them, at least one, flushes, the others compact.
char *birthmark_background_jobs(void *db, int jobs);

// Compacts a family, concurrently with others. birthmark_stop ends it early from another thread and sets *stopped.
void *birthmark_stop_new(void);
void birthmark_stop(void *stop);
void birthmark_stop_free(void *stop);
char *birthmark_compact(void *db, void *cf, void *stop, int *stopped);

// Merges one series of least to most neighboring tables of a level, each smaller than small bytes, that no newer table
// overlaps. *merged reports whether there was one.
char *birthmark_merge_small(void *db, void *cf, uint64_t small, size_t least, size_t most, void *stop, int *merged,
                            int *stopped);

// Lets additions of sums (storage.SumsBatch) in tables take effect when a row is read or compacted.
void birthmark_set_sums(void *options);

// A change, as in batch.go. place is its offset in data << 2 | its kind (0 put, 1 deletion, 2 addition of sums). There
// are the key size (varint), the key and, unless it is a deletion, the value size (varint) and the value.
typedef struct {
  uint64_t prefix, place;
} birthmark_row;

// Writes n changes with ascending keys as a table. If rows is NULL the changes follow one another in data and all are
// puts. options are those of the family; final selects the compression of the last level.
char *birthmark_write_table(const void *options, const char *path, const char *data, const birthmark_row *rows, size_t n,
                            int final);

// Ingests n tables, each into another family, by moving the files: durably, all or none.
char *birthmark_ingest(void *db, void **cfs, const char *const *paths, size_t n);

// Opens a scan over [from, to); a NULL bound is open.
void *birthmark_scan_open(void *db, void *cf, const void *snapshot, const char *from, size_t from_size, const char *to,
                          size_t to_size, int reverse);
// Returns the next rows, at least one and about `want` bytes: for each the sizes of key and value as native-endian u32,
// then both. *rows is owned by the scan and valid until the next call. *size is 0 at the end.
char *birthmark_scan_next(void *scan, size_t want, const char **rows, size_t *size);
void birthmark_scan_close(void *scan);

// Returns the version of RocksDB as major << 16 | minor << 8 | patch.
int birthmark_rocksdb_version(void);
// Returns 1 if RocksDB was compiled with assertions.
int birthmark_rocksdb_assertions(void);
// Returns the supported kinds of compression: bit n for the value n of CompressionType.
uint32_t birthmark_rocksdb_compression(void);

#ifdef __cplusplus
}
#endif
