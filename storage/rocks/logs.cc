#include "logs.h"

#include <rocksdb/env.h>
#include <rocksdb/options.h>
#include <rocksdb/wal_filter.h>
#include <rocksdb/write_batch.h>

#include <cstdarg>
#include <cstdint>
#include <cstring>
#include <map>
#include <memory>
#include <string>

using namespace rocksdb;

namespace {
struct NoLog : public Logger {
  NoLog() : Logger(InfoLogLevel::FATAL_LEVEL) {}
  using Logger::Logv;
  void Logv(const char *, va_list) override {}
};

// Ends the replay of logs at a batch whose previous one is in no log. Only logs with rows that are in no table are
// replayed. Every batch begins with its sequence number, 8 bytes, and its number of changes, 4; then, if this release
// wrote it, the tag of log data, its size, 1 byte, and the sequence number of the last change of the batch before, 0 if
// there is none. Numbers are little-endian.
class EndAtGaps : public WalFilter {
 public:
  const char *Name() const override { return "birthmark gaps between logs"; }

  void ColumnFamilyLogNumberMap(const std::map<uint32_t, uint64_t> &, const std::map<std::string, uint32_t> &) override {
    last = 0;  // a database is opened
  }

  WalProcessingOption LogRecordFound(unsigned long long, const std::string &, const WriteBatch &batch, WriteBatch *,
                                     bool *) override {
    constexpr size_t header = 12, tagged = header + 2;
    const std::string &data = batch.Data();
    uint64_t first, previous = 0;
    std::memcpy(&first, data.data(), sizeof first);
    if (data.size() >= tagged + sizeof previous && data[header] == 3 && data[header + 1] == sizeof previous) {
      std::memcpy(&previous, data.data() + tagged, sizeof previous);
    }
    if (last > 0 && previous > last) return WalProcessingOption::kCorruptedRecord;
    if (batch.Count() > 0) last = first + batch.Count() - 1;
    return WalProcessingOption::kContinueProcessing;
  }

 private:
  // Sequence number of the last change of the batch before; 0: none. A database is opened by one thread.
  static thread_local uint64_t last;
};

thread_local uint64_t EndAtGaps::last = 0;
}  // namespace

// The C API's options are a struct whose first member is the C++ object.
void birthmark_disable_info_log(void *options) { static_cast<Options *>(options)->info_log = std::make_shared<NoLog>(); }

void birthmark_track_logs(void *options) { static_cast<Options *>(options)->track_and_verify_wals_in_manifest = true; }

void birthmark_end_at_gaps(void *options) {
  static EndAtGaps filter;
  static_cast<Options *>(options)->wal_filter = &filter;
}
