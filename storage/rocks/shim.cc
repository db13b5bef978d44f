#include "shim.h"

#include <rocksdb/db.h>
#include <rocksdb/slice_transform.h>
#include <rocksdb/sst_file_writer.h>

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#ifdef __GLIBC__
#include <malloc.h>
#endif
#include <unistd.h>

using namespace rocksdb;

// The C API's handles are structs whose first member is the C++ object.
template <typename T>
static T *rep(const void *handle) {
  return *static_cast<T *const *>(handle);
}

// Those of others are the C++ object itself.
template <typename T>
static const T &rep_inline(const void *handle) {
  return *static_cast<const T *>(handle);
}

static char *failed(const Status &s) { return s.ok() ? nullptr : strdup(s.ToString().c_str()); }

static ReadOptions reading(const void *snapshot) {
  ReadOptions o;
  o.total_order_seek = true;  // whatever filters of a family's tables know
  if (snapshot != nullptr) o.snapshot = rep<const Snapshot>(snapshot);
  return o;
}

namespace {
// Keys of one call to MultiGet. Until they are copied, the values found pin the blocks they stand in: in the block
// cache, whatever its limit.
constexpr size_t together = 256;

// A key and its place among those asked for, ordered by its first eight bytes first.
struct Wanted {
  uint64_t prefix;
  size_t place;
  Slice key;
  bool operator<(const Wanted &other) const {
    return prefix != other.prefix ? prefix < other.prefix : key.compare(other.key) < 0;
  }
};

uint64_t prefix_of(const Slice &key) {
  uint64_t prefix = 0;
  for (size_t i = 0; i < 8; i++) prefix = prefix << 8 | (i < key.size() ? static_cast<unsigned char>(key[i]) : 0);
  return prefix;
}

// The keys of a call in order, so that those that share a block are found one after the other.
std::vector<Wanted> in_order(const char *keys, const uint64_t *key_ends, size_t n) {
  std::vector<Wanted> wanted(n);
  uint64_t start = 0;
  for (size_t i = 0; i < n; i++) {
    Slice key(keys + start, key_ends[i] - start);
    wanted[i] = {prefix_of(key), i, key};
    start = key_ends[i];
  }
  if (!std::is_sorted(wanted.begin(), wanted.end())) std::sort(wanted.begin(), wanted.end());
  return wanted;
}

char *hand_over(const std::string &out, char **values, size_t *size) {
  *size = out.size();
  *values = static_cast<char *>(malloc(out.size() + 1));
  if (*values == nullptr) return strdup("out of memory");
  memcpy(*values, out.data(), out.size());
  return nullptr;
}

// A single key takes a quarter less time this way than by MultiGet, which is made for many.
char *get_one(DB *db, const ReadOptions &options, ColumnFamilyHandle *cf, const Slice &key, char **values, size_t *size,
              uint64_t *value_start, int64_t *value_size) {
  PinnableSlice found;
  const Status status = db->Get(options, cf, key, &found);
  if (!status.ok() && !status.IsNotFound()) return failed(status);
  *value_start = 0;
  *value_size = status.ok() ? static_cast<int64_t>(found.size()) : -1;
  *size = found.size();
  *values = static_cast<char *>(malloc(found.size() + 1));
  if (*values == nullptr) return strdup("out of memory");
  memcpy(*values, found.data(), found.size());
  return nullptr;
}
}  // namespace

char *birthmark_multi_get(void *db, void *cf, const void *snapshot, const char *keys, const uint64_t *key_ends,
                          size_t n, char **values, size_t *size, uint64_t *value_starts, int64_t *value_sizes) {
  const ReadOptions options = reading(snapshot);
  if (n == 1) {
    return get_one(rep<DB>(db), options, rep<ColumnFamilyHandle>(cf), Slice(keys, key_ends[0]), values, size, value_starts,
                   value_sizes);
  }
  const std::vector<Wanted> wanted = in_order(keys, key_ends, n);
  std::vector<Slice> slices(std::min(together, n));
  std::vector<PinnableSlice> found(slices.size());
  std::vector<Status> statuses(slices.size());
  std::string out;
  for (size_t first = 0; first < n; first += slices.size()) {
    size_t count = std::min(slices.size(), n - first);
    for (size_t i = 0; i < count; i++) slices[i] = wanted[first + i].key;
    rep<DB>(db)->MultiGet(options, rep<ColumnFamilyHandle>(cf), count, slices.data(), found.data(), statuses.data(),
                          true);
    for (size_t i = 0; i < count; i++) {
      size_t place = wanted[first + i].place;
      if (statuses[i].ok()) {
        value_starts[place] = out.size();
        value_sizes[place] = static_cast<int64_t>(found[i].size());
        out.append(found[i].data(), found[i].size());
      } else if (statuses[i].IsNotFound()) {
        value_sizes[place] = -1;
      } else {
        return failed(statuses[i]);
      }
      found[i].Reset();
    }
  }
  return hand_over(out, values, size);
}

char *birthmark_tails(void *db, void *cf, const void *snapshot, const char *heads, const uint64_t *head_ends, size_t n,
                      char **tails, size_t *size, uint64_t *tail_starts, int64_t *tail_sizes) {
  const std::vector<Wanted> wanted = in_order(heads, head_ends, n);
  ReadOptions options;
  if (snapshot != nullptr) options.snapshot = rep<const Snapshot>(snapshot);
  // Tables whose filter does not know a head are left out; what comes after its keys is not looked for.
  options.prefix_same_as_start = true;
  std::unique_ptr<Iterator> it(rep<DB>(db)->NewIterator(options, rep<ColumnFamilyHandle>(cf)));
  std::string out;
  for (const Wanted &head : wanted) {
    tail_starts[head.place] = out.size();
    int64_t found = -1;
    for (it->Seek(head.key); it->Valid() && it->key().starts_with(head.key); it->Next()) {
      Slice tail = it->key();
      tail.remove_prefix(head.key.size());
      out.append(tail.data(), tail.size());
      found = static_cast<int64_t>(out.size() - tail_starts[head.place]);
    }
    if (!it->status().ok()) return failed(it->status());
    tail_sizes[head.place] = found;
  }
  return hand_over(out, tails, size);
}

void birthmark_set_heads(void *options, size_t size) {
  static_cast<Options *>(options)->prefix_extractor.reset(NewCappedPrefixTransform(size));
}

#ifdef __GLIBC__
// Sets up C's heap when the program starts: arenas that exist already would stay.
//
// By default there are eight arenas for each processor. The threads of RocksDB and of cgo spread over all of them, each arena
// keeps what was freed in it, and cached blocks that are evicted fragment it: two thirds of the heap were free memory.
// With few arenas threads wait for one another, so machines with many processors get more than two.
//
// A writer of tables allocates and frees a buffer of 1 MiB in steps. By default the system takes it back each time, and clears
// it again. So an arena keeps some freed memory at its end.
__attribute__((constructor)) static void set_up_heap() {
  constexpr int kept = 8 << 20;
  mallopt(M_MMAP_THRESHOLD, kept);
  mallopt(M_TRIM_THRESHOLD, kept);
  mallopt(M_ARENA_MAX, birthmark_most_arenas());
}
#endif

int birthmark_most_arenas(void) {
  const long processors = sysconf(_SC_NPROCESSORS_ONLN);
  return static_cast<int>(std::clamp(processors / 4, 2L, 8L));
}

int birthmark_arenas(void) {
  int n = 0;
#ifdef __GLIBC__
  char *text = nullptr;
  size_t size = 0;
  if (FILE *f = open_memstream(&text, &size)) {
    malloc_info(0, f);
    fclose(f);
    const std::string_view info(text, size);
    for (size_t at = 0; (at = info.find("<heap nr=", at)) != info.npos; at++) n++;
    free(text);
  }
#endif
  return n;
}

char *birthmark_flush(void *db, void **cfs, size_t n) {
  std::vector<ColumnFamilyHandle *> handles(n);
  for (size_t i = 0; i < n; i++) handles[i] = rep<ColumnFamilyHandle>(cfs[i]);
  return failed(rep<DB>(db)->Flush(FlushOptions(), handles));
}

char *birthmark_background_jobs(void *db, int jobs) {
  return failed(rep<DB>(db)->SetDBOptions({{"max_background_jobs", std::to_string(jobs)}}));
}

void *birthmark_stop_new() { return new std::atomic<bool>(false); }
void birthmark_stop(void *stop) { static_cast<std::atomic<bool> *>(stop)->store(true); }
void birthmark_stop_free(void *stop) { delete static_cast<std::atomic<bool> *>(stop); }

char *birthmark_compact(void *db, void *cf, void *stop, int *stopped) {
  CompactRangeOptions o;
  o.exclusive_manual_compaction = false;
  o.canceled = static_cast<std::atomic<bool> *>(stop);
  Status s = rep<DB>(db)->CompactRange(o, rep<ColumnFamilyHandle>(cf), nullptr, nullptr);
  *stopped = s.IsManualCompactionPaused();
  return *stopped ? nullptr : failed(s);
}

// The bytes that follow their size, a varint.
static Slice sized(const char *p) {
  uint64_t size = 0;
  for (int shift = 0;; shift += 7) {
    const auto byte = static_cast<unsigned char>(*p++);
    size |= static_cast<uint64_t>(byte & 0x7f) << shift;
    if (byte < 0x80) return Slice(p, size);
  }
}

char *birthmark_write_table(const void *options, const char *path, const char *data, const birthmark_row *rows, size_t n,
                            int final) {
  Options o(rep_inline<Options>(options));
  // A file whose rows will be merged with others soon is not worth the compression of one that stays.
  if (!final) {
    o.bottommost_compression = kDisableCompressionOption;
    o.compression_per_level.clear();
    o.compression = kNoCompression;
  }
  // The pages stay in the cache: the next window's lookups read them.
  SstFileWriter writer(EnvOptions(), o, nullptr, false);
  Status s = writer.Open(path);
  constexpr size_t ahead = 12;  // sorted rows lie anywhere: they are fetched before their turn
  const char *next = data;
  for (size_t i = 0; i < n && s.ok(); i++) {
    const char *at = rows != nullptr ? data + (rows[i].place >> 1) : next;
    if (rows != nullptr && i + ahead < n) __builtin_prefetch(data + (rows[i + ahead].place >> 1));
    const Slice key = sized(at);
    if (rows != nullptr && rows[i].place & 1) {
      s = writer.Delete(key);
      continue;
    }
    const Slice value = sized(key.data() + key.size());
    s = writer.Put(key, value);
    next = value.data() + value.size();
  }
  if (s.ok()) s = writer.Finish();
  return failed(s);
}

char *birthmark_ingest(void *db, void **cfs, const char *const *paths, size_t n) {
  std::vector<IngestExternalFileArg> args(n);
  for (size_t i = 0; i < n; i++) {
    args[i].column_family = rep<ColumnFamilyHandle>(cfs[i]);
    args[i].external_files = {paths[i]};
    args[i].options.move_files = true;
    // A number written into a file that is hard-linked would be there after a crash that forgot the file itself.
    args[i].options.write_global_seqno = false;
  }
  return failed(rep<DB>(db)->IngestExternalFiles(args));
}

namespace {
struct Scan {
  std::string lower, upper;
  Slice lower_bound, upper_bound;
  bool reverse;
  std::unique_ptr<Iterator> it;
  std::string rows;
};
}  // namespace

void *birthmark_scan_open(void *db, void *cf, const void *snapshot, const char *from, size_t from_size, const char *to,
                          size_t to_size, int reverse) {
  auto s = new Scan();
  ReadOptions o = reading(snapshot);
  if (from != nullptr) {
    s->lower.assign(from, from_size);
    s->lower_bound = s->lower;
    o.iterate_lower_bound = &s->lower_bound;
  }
  if (to != nullptr) {
    s->upper.assign(to, to_size);
    s->upper_bound = s->upper;
    o.iterate_upper_bound = &s->upper_bound;
  }
  s->reverse = reverse != 0;
  s->it.reset(rep<DB>(db)->NewIterator(o, rep<ColumnFamilyHandle>(cf)));
  if (s->reverse) {
    s->it->SeekToLast();
  } else {
    s->it->SeekToFirst();
  }
  return s;
}

char *birthmark_scan_next(void *scan, size_t want, const char **rows, size_t *size) {
  auto s = static_cast<Scan *>(scan);
  s->rows.clear();
  while (s->it->Valid() && s->rows.size() < want) {
    Slice k = s->it->key(), v = s->it->value();
    if (v.size() > std::numeric_limits<uint32_t>::max()) return strdup("a value of more than 4 GiB");
    uint32_t sizes[2] = {static_cast<uint32_t>(k.size()), static_cast<uint32_t>(v.size())};
    s->rows.append(reinterpret_cast<const char *>(sizes), sizeof sizes);
    s->rows.append(k.data(), k.size());
    s->rows.append(v.data(), v.size());
    if (s->reverse) {
      s->it->Prev();
    } else {
      s->it->Next();
    }
  }
  *rows = s->rows.data();
  *size = s->rows.size();
  return failed(s->it->status());
}

void birthmark_scan_close(void *scan) { delete static_cast<Scan *>(scan); }
