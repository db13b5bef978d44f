// What the C API of RocksDB 7.8 lacks. Pointers named db, cf and snapshot are those of the C API; errors are
// malloc'ed strings, NULL for none.
#pragma once
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

// Reads n keys of one family. Keys stand one after the other, key i ends at key_ends[i]. The value of key i is
// value_sizes[i] bytes at value_starts[i] of *values (malloc'ed), which has *size bytes; its size is -1 where the key is
// absent.
char *birthmark_multi_get(void *db, void *cf, const void *snapshot, const char *keys, const uint64_t *key_ends,
                          size_t n, char **values, size_t *size, uint64_t *value_starts, int64_t *value_sizes);

// The same with heads of keys, of eight bytes: what follows head i in all keys that begin with it stands, in order, where
// its value would.
char *birthmark_tails(void *db, void *cf, const void *snapshot, const char *heads, const uint64_t *head_ends, size_t n,
                      char **tails, size_t *size, uint64_t *tail_starts, int64_t *tail_sizes);

// Makes a family's filters know the first bytes of keys. options is the C API's pointer. (The C API has this too, but
// grocksdb 1.7.15 frees twice what it makes.)
void birthmark_set_heads(void *options, size_t size);

// How many arenas C's heap has, and how many it may have; 0 arenas if the C library does not say.
int birthmark_arenas(void);
int birthmark_most_arenas(void);

// Flushes the memtables of all n families at once.
char *birthmark_flush(void *db, void **cfs, size_t n);

// Sets how many threads flush and compact: one in four flushes, at least one, the others compact.
char *birthmark_background_jobs(void *db, int jobs);

// Compacts all of a family, beside others. From another thread it can be told to stop: it then ends early with *stopped set.
void *birthmark_stop_new(void);
void birthmark_stop(void *stop);
void birthmark_stop_free(void *stop);
char *birthmark_compact(void *db, void *cf, void *stop, int *stopped);

// A change, as batch.go has it: where it begins in the data, twice, and one more where it is a deletion. There stand the
// size of the key as a varint, the key, and unless it is a deletion the size of the value as a varint, and the value.
typedef struct {
  uint64_t prefix, place;
} birthmark_row;

// Writes n rows as a sorted file. Keys ascend. Without rows the changes are found in data one behind the other, none of them a
// deletion. options are those of the family the file is for, final: the rows come to rest where they go.
char *birthmark_write_table(const void *options, const char *path, const char *data, const birthmark_row *rows, size_t n,
                            int final);

// Takes n sorted files, each for another family, into the database by moving them: all of them or none, durably.
char *birthmark_ingest(void *db, void **cfs, const char *const *paths, size_t n);

// A scan over [from, to); a NULL bound is open.
void *birthmark_scan_open(void *db, void *cf, const void *snapshot, const char *from, size_t from_size, const char *to,
                          size_t to_size, int reverse);
// The next rows, at least one and about `want` bytes of them: for each its key's and its value's size as u32 in the
// machine's order, then both. *rows is the scan's, until the next call. *size 0: there are no more.
char *birthmark_scan_next(void *scan, size_t want, const char **rows, size_t *size);
void birthmark_scan_close(void *scan);

#ifdef __cplusplus
}
#endif
