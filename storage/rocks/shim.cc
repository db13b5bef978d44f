#include "shim.h"

#include <rocksdb/convenience.h>
#include <rocksdb/db.h>
#include <rocksdb/merge_operator.h>
#include <rocksdb/slice_transform.h>
#include <rocksdb/sst_file_writer.h>
#include <rocksdb/version.h>

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
#include <sys/resource.h>
#include <unistd.h>

// A class of RocksDB's tests, which the library has only if it was compiled without NDEBUG, that is, with assertions.
// The address of a weak function that is absent is null.
namespace ROCKSDB_NAMESPACE {
class SyncPoint {
 public:
  static SyncPoint *GetInstance() __attribute__((weak));
};
}  // namespace ROCKSDB_NAMESPACE

using namespace rocksdb;

// The C API's handles are structs whose first member is the C++ object.
template <typename T>
static T *rep(const void *handle) {
  return *static_cast<T *const *>(handle);
}

// Other handles contain the C++ object itself.
template <typename T>
static const T &rep_inline(const void *handle) {
  return *static_cast<const T *>(handle);
}

// The C API's handle of a family, which its destructor deletes. RocksDB 7 does not read immortal; later versions keep
// the family of an immortal handle.
struct Handle {
  ColumnFamilyHandle *rep;
  bool immortal = false;
};

static char *failed(const Status &s) { return s.ok() ? nullptr : strdup(s.ToString().c_str()); }

static ReadOptions reading(const void *snapshot) {
  ReadOptions o;
  o.total_order_seek = true;  // also across prefixes
  if (snapshot != nullptr) o.snapshot = rep<const Snapshot>(snapshot);
  return o;
}

namespace {
// Keys per call of MultiGet. The values found pin their blocks in the block cache, beyond its limit, until they are
// copied.
constexpr size_t max_keys = 256;

// A requested key and its position in the request. The first eight bytes speed up comparisons.
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

// The requested keys in key order, so that keys in the same block are read one after the other.
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

// Copies a result to the caller's room, or to new memory if it is larger.
char *hand_over(const Slice &out, birthmark_result *to) {
  char *memory = to->room;
  if (out.size() > sizeof to->room) {
    memory = to->larger = static_cast<char *>(malloc(out.size()));
    if (memory == nullptr) return strdup("out of memory");
  }
  to->size = out.size();
  memcpy(memory, out.data(), out.size());
  return nullptr;
}

// Get takes 25% less time than MultiGet for a single key.
char *get_one(DB *db, const ReadOptions &options, ColumnFamilyHandle *cf, const Slice &key, birthmark_result *values,
              uint64_t *value_start, int64_t *value_size) {
  PinnableSlice found;
  const Status status = db->Get(options, cf, key, &found);
  if (!status.ok() && !status.IsNotFound()) return failed(status);
  *value_start = 0;
  *value_size = status.ok() ? static_cast<int64_t>(found.size()) : -1;
  return hand_over(found, values);
}
}  // namespace

int64_t birthmark_thread_waits() {
#ifdef RUSAGE_THREAD
  rusage usage;
  if (getrusage(RUSAGE_THREAD, &usage) == 0) return usage.ru_nvcsw;
#endif
  return 0;
}

char *birthmark_multi_get(void *db, void *cf, const void *snapshot, const char *keys, const uint64_t *key_ends,
                          size_t n, birthmark_result *values, uint64_t *value_starts, int64_t *value_sizes) {
  const ReadOptions options = reading(snapshot);
  if (n == 1) {
    return get_one(rep<DB>(db), options, rep<ColumnFamilyHandle>(cf), Slice(keys, key_ends[0]), values, value_starts,
                   value_sizes);
  }
  const std::vector<Wanted> wanted = in_order(keys, key_ends, n);
  std::vector<Slice> slices(std::min(max_keys, n));
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
  return hand_over(out, values);
}

char *birthmark_suffixes(void *db, void *cf, const void *snapshot, const char *prefixes, const uint64_t *prefix_ends,
                         size_t n, birthmark_result *suffixes, uint64_t *suffix_starts, int64_t *suffix_sizes) {
  const std::vector<Wanted> wanted = in_order(prefixes, prefix_ends, n);
  ReadOptions options;
  if (snapshot != nullptr) options.snapshot = rep<const Snapshot>(snapshot);
  // Skips tables whose filter excludes the prefix, and does not look for keys after those of the prefix.
  options.prefix_same_as_start = true;
  std::unique_ptr<Iterator> it(rep<DB>(db)->NewIterator(options, rep<ColumnFamilyHandle>(cf)));
  std::string out;
  for (const Wanted &prefix : wanted) {
    suffix_starts[prefix.place] = out.size();
    int64_t found = -1;
    for (it->Seek(prefix.key); it->Valid() && it->key().starts_with(prefix.key); it->Next()) {
      Slice suffix = it->key();
      suffix.remove_prefix(prefix.key.size());
      out.append(suffix.data(), suffix.size());
      found = static_cast<int64_t>(out.size() - suffix_starts[prefix.place]);
    }
    if (!it->status().ok()) return failed(it->status());
    suffix_sizes[prefix.place] = found;
  }
  return hand_over(out, suffixes);
}

// Appends a row: the sizes of key and value as native-endian u32, then both.
static char *append_row(std::string *rows, const Slice &k, const Slice &v) {
  if (v.size() > std::numeric_limits<uint32_t>::max()) return strdup("value larger than 4 GiB");
  uint32_t sizes[2] = {static_cast<uint32_t>(k.size()), static_cast<uint32_t>(v.size())};
  rows->append(reinterpret_cast<const char *>(sizes), sizeof sizes);
  rows->append(k.data(), k.size());
  rows->append(v.data(), v.size());
  return nullptr;
}

char *birthmark_ranges(void *db, void *cf, const void *snapshot, const char *bounds, const birthmark_range *ranges,
                       size_t n, birthmark_result *rows, uint64_t *row_ends) {
  ReadOptions o = reading(snapshot);
  // RocksDB reads the bound at each Seek, so one iterator serves all ranges. Without bounds it would pass over the
  // tombstones that follow a range.
  Slice upper;
  bool bounded = true;
  for (size_t i = 0; i < n; i++) bounded = bounded && !ranges[i].open;
  if (bounded) o.iterate_upper_bound = &upper;
  std::unique_ptr<Iterator> it(rep<DB>(db)->NewIterator(o, rep<ColumnFamilyHandle>(cf)));
  std::string out;
  uint64_t start = 0;
  for (size_t i = 0; i < n; i++) {
    const birthmark_range &range = ranges[i];
    const Slice from(bounds + start, range.from_end - start);
    upper = Slice(bounds + range.from_end, range.to_end - range.from_end);
    start = range.to_end;
    uint64_t left = range.limit != 0 ? range.limit : std::numeric_limits<uint64_t>::max();
    for (it->Seek(from); it->Valid() && left > 0; it->Next(), left--) {
      if (!range.open && it->key().compare(upper) >= 0) break;
      if (char *error = append_row(&out, it->key(), it->value())) return error;
    }
    if (!it->status().ok()) return failed(it->status());
    row_ends[i] = out.size();
  }
  return hand_over(out, rows);
}

void birthmark_set_prefix_extractor(void *options, size_t size) {
  static_cast<Options *>(options)->prefix_extractor.reset(NewCappedPrefixTransform(size));
}

void birthmark_hint_inserts(void *options) {
  static_cast<Options *>(options)->memtable_insert_with_hint_prefix_extractor.reset(NewCappedPrefixTransform(0));
}

namespace {
// The five numbers of a row of storage.SumsBatch.
struct Sums {
  uint64_t counts[3] = {};
  unsigned __int128 amounts[2] = {};

  // Adds the numbers of an encoded row; false if it is invalid.
  bool add(const Slice &row) {
    const char *at = row.data(), *end = at + row.size();
    for (uint64_t &count : counts) {
      uint64_t n = 0;
      int shift = 0;
      do {
        if (at == end || shift > 63) return false;
        n |= static_cast<uint64_t>(*at & 0x7f) << shift;
        shift += 7;
      } while (*at++ & 0x80);
      count += n;
    }
    if (at == end) return false;
    const ptrdiff_t size = static_cast<unsigned char>(*at++);
    if (size > 16 || end - at < size || end - at - size > 16) return false;
    amounts[0] += number(at, at + size);
    amounts[1] += number(at + size, end);
    return true;
  }

  void encode(std::string *out) const {
    out->clear();
    for (uint64_t n : counts) {
      for (; n >= 0x80; n >>= 7) out->push_back(static_cast<char>(n | 0x80));
      out->push_back(static_cast<char>(n));
    }
    const size_t size = out->size();
    out->push_back(0);
    append(out, amounts[0]);
    (*out)[size] = static_cast<char>(out->size() - size - 1);
    append(out, amounts[1]);
  }

 private:
  static unsigned __int128 number(const char *at, const char *end) {
    unsigned __int128 n = 0;
    for (; at < end; at++) n = n << 8 | static_cast<unsigned char>(*at);
    return n;
  }

  static void append(std::string *out, unsigned __int128 n) {
    int bytes = 0;
    for (unsigned __int128 rest = n; rest != 0; rest >>= 8) bytes++;
    while (bytes-- > 0) out->push_back(static_cast<char>(n >> 8 * bytes));
  }
};

class SumsOperator : public MergeOperator {
 public:
  const char *Name() const override { return "birthmark.sums"; }

  bool FullMergeV2(const MergeOperationInput &in, MergeOperationOutput *out) const override {
    Sums sums;
    if (in.existing_value != nullptr && !sums.add(*in.existing_value)) return false;
    for (const Slice &row : in.operand_list) {
      if (!sums.add(row)) return false;
    }
    sums.encode(&out->new_value);
    return true;
  }

  bool PartialMergeMulti(const Slice &, const std::deque<Slice> &rows, std::string *out, Logger *) const override {
    Sums sums;
    for (const Slice &row : rows) {
      if (!sums.add(row)) return false;
    }
    sums.encode(out);
    return true;
  }
};
}  // namespace

void birthmark_set_sums(void *options) {
  static_cast<Options *>(options)->merge_operator = std::make_shared<SumsOperator>();
}

#ifdef __GLIBC__
// Configures the C heap when the program starts, before arenas exist.
//
// The default is eight arenas per processor. The threads of RocksDB and cgo use all of them, each arena keeps its freed
// memory, and evicted cache blocks fragment it: two thirds of the heap were free memory. With too few arenas threads
// wait for each other, so machines with many processors get more than two.
//
// Writing tables allocates and frees buffers of 1 MiB. By default the C library returns them to the system each time,
// and the system clears them again. So an arena keeps up to 8 MiB of freed memory.
__attribute__((constructor)) static void set_up_heap() {
  constexpr int threshold = 8 << 20;
  mallopt(M_MMAP_THRESHOLD, threshold);
  mallopt(M_TRIM_THRESHOLD, threshold);
  mallopt(M_ARENA_MAX, birthmark_max_arenas());
}
#endif

int birthmark_max_arenas(void) {
  const long processors = sysconf(_SC_NPROCESSORS_ONLN);
  return static_cast<int>(std::clamp(processors / 4, 2L, 8L));
}
int birthmark_rocksdb_version(void) { return ROCKSDB_MAJOR << 16 | ROCKSDB_MINOR << 8 | ROCKSDB_PATCH; }

int birthmark_rocksdb_assertions(void) { return SyncPoint::GetInstance != nullptr; }

uint32_t birthmark_rocksdb_compression(void) {
  uint32_t kinds = 0;
  for (const CompressionType kind : GetSupportedCompressions()) {
    if (kind < 32) kinds |= uint32_t{1} << kind;
  }
  return kinds;
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

char *birthmark_create_families(void *db, const char *names, void *const *options, size_t n, void **handles,
                                size_t *created) {
  std::vector<ColumnFamilyDescriptor> families;
  for (size_t i = 0; i < n; i++) {
    families.emplace_back(names, rep_inline<Options>(options[i]));
    names += strlen(names) + 1;
  }
  std::vector<ColumnFamilyHandle *> made;
  Status s = rep<DB>(db)->CreateColumnFamilies(families, &made);
  for (size_t i = 0; i < made.size(); i++) handles[i] = new Handle{made[i]};
  *created = made.size();
  return failed(s);
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

char *birthmark_merge_small(void *db, void *cf, uint64_t small, size_t least, size_t most, void *stop, int *merged,
                            int *stopped) {
  ColumnFamilyMetaData family;
  rep<DB>(db)->GetColumnFamilyMetaData(rep<ColumnFamilyHandle>(cf), &family);
  *merged = *stopped = 0;
  for (const auto &level : family.levels) {
    const auto &tables = level.files;  // ordered by key, except in level 0
    for (size_t first = 0, end; level.level > 0 && first < tables.size(); first = end) {
      for (end = first; end < tables.size() && end - first < most && tables[end].size < small; end++) {
      }
      if (end - first < least) {
        end = std::max(end, first + 1);
        continue;
      }
      const Slice from(tables[first].smallestkey), to(tables[end - 1].largestkey);
      bool overlaps = false;
      for (const auto &above : family.levels) {
        for (const auto &newer : above.files) {
          overlaps |= above.level < level.level && Slice(newer.smallestkey).compare(to) <= 0 &&
                      Slice(newer.largestkey).compare(from) >= 0;
        }
      }
      if (overlaps) continue;
      CompactRangeOptions o;
      o.exclusive_manual_compaction = false;
      o.bottommost_level_compaction = BottommostLevelCompaction::kForce;
      o.canceled = static_cast<std::atomic<bool> *>(stop);
      const Status s = rep<DB>(db)->CompactRange(o, rep<ColumnFamilyHandle>(cf), &from, &to);
      *merged = 1;
      *stopped = s.IsManualCompactionPaused();
      return *stopped ? nullptr : failed(s);
    }
  }
  return nullptr;
}

// Returns the bytes after a size (varint) at p.
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
  // A table that will be compacted soon is not compressed.
  if (!final) {
    o.bottommost_compression = kDisableCompressionOption;
    o.compression_per_level.clear();
    o.compression = kNoCompression;
  }
  // The last argument keeps the pages in the page cache, where lookups of the next batch read them.
  SstFileWriter writer(EnvOptions(), o, nullptr, false);
  Status s = writer.Open(path);
  constexpr size_t ahead = 12;  // rows to prefetch: sorted rows are scattered over data
  const char *next = data;
  for (size_t i = 0; i < n && s.ok(); i++) {
    const char *at = rows != nullptr ? data + (rows[i].place >> 2) : next;
    if (rows != nullptr && i + ahead < n) __builtin_prefetch(data + (rows[i + ahead].place >> 2));
    const Slice key = sized(at);
    const int kind = rows != nullptr ? rows[i].place & 3 : 0;
    if (kind == 1) {
      s = writer.Delete(key);
      continue;
    }
    const Slice value = sized(key.data() + key.size());
    s = kind == 2 ? writer.Merge(key, value) : writer.Put(key, value);
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
    // A sequence number written into a hard-linked file would remain after a crash that undoes the ingestion.
    args[i].options.write_global_seqno = false;
  }
  return failed(rep<DB>(db)->IngestExternalFiles(args));
}

namespace {
// A scan that returned that many bytes is long: it would replace the whole block cache. Its other blocks are not cached,
// and are read in large pieces.
constexpr size_t long_scan = 4 << 20;
constexpr size_t scan_readahead = 256 << 10;

struct Scan {
  DB *db;
  ColumnFamilyHandle *cf;
  ReadOptions options;
  std::string lower, upper;
  Slice lower_bound, upper_bound;
  bool reverse;
  std::unique_ptr<Iterator> it;
  std::string rows;      // memory
  size_t used = 0;       // of rows
  size_t total = 0;      // bytes of earlier rows
  bool is_long = false;

  // Appends the current row, as append_row does.
  char *append() {
    const Slice k = it->key(), v = it->value();
    if (v.size() > std::numeric_limits<uint32_t>::max()) return strdup("value larger than 4 GiB");
    const uint32_t sizes[2] = {static_cast<uint32_t>(k.size()), static_cast<uint32_t>(v.size())};
    const size_t size = sizeof sizes + k.size() + v.size();
    if (rows.size() - used < size) rows.resize(std::max(2 * rows.size(), used + size));
    char *at = &rows[used];
    memcpy(at, sizes, sizeof sizes);
    memcpy(at + sizeof sizes, k.data(), k.size());
    memcpy(at + sizeof sizes + k.size(), v.data(), v.size());
    used += size;
    return nullptr;
  }

  // Continues with an iterator for long scans.
  void lengthen() {
    is_long = true;
    const std::string key = it->key().ToString();
    options.fill_cache = false;
    options.readahead_size = scan_readahead;
    it.reset(db->NewIterator(options, cf));
    if (reverse) {
      it->SeekForPrev(key);
    } else {
      it->Seek(key);
    }
  }
};
}  // namespace

void *birthmark_scan_open(void *db, void *cf, const void *snapshot, const char *from, size_t from_size, const char *to,
                          size_t to_size, int reverse) {
  auto s = new Scan();
  s->db = rep<DB>(db);
  s->cf = rep<ColumnFamilyHandle>(cf);
  s->options = reading(snapshot);
  if (from != nullptr) {
    s->lower.assign(from, from_size);
    s->lower_bound = s->lower;
    s->options.iterate_lower_bound = &s->lower_bound;
  }
  if (to != nullptr) {
    s->upper.assign(to, to_size);
    s->upper_bound = s->upper;
    s->options.iterate_upper_bound = &s->upper_bound;
  }
  s->reverse = reverse != 0;
  s->it.reset(s->db->NewIterator(s->options, s->cf));
  if (s->reverse) {
    s->it->SeekToLast();
  } else {
    s->it->SeekToFirst();
  }
  return s;
}

char *birthmark_scan_next(void *scan, size_t want, const char **rows, size_t *size) {
  auto s = static_cast<Scan *>(scan);
  s->used = 0;
  if (!s->is_long && s->total >= long_scan && s->it->Valid()) s->lengthen();
  while (s->it->Valid() && s->used < want) {
    if (char *error = s->append()) return error;
    if (s->reverse) {
      s->it->Prev();
    } else {
      s->it->Next();
    }
  }
  s->total += s->used;
  *rows = s->rows.data();
  *size = s->used;
  return failed(s->it->status());
}

void birthmark_scan_close(void *scan) { delete static_cast<Scan *>(scan); }
