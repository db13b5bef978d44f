#include "logs.h"

#include <rocksdb/env.h>
#include <rocksdb/options.h>

#include <cstdarg>
#include <memory>

using namespace rocksdb;

namespace {
struct NoLog : public Logger {
  NoLog() : Logger(InfoLogLevel::FATAL_LEVEL) {}
  using Logger::Logv;
  void Logv(const char *, va_list) override {}
};
}  // namespace

// The C API's options are a struct whose first member is the C++ object.
void birthmark_disable_info_log(void *options) { static_cast<Options *>(options)->info_log = std::make_shared<NoLog>(); }

void birthmark_track_logs(void *options) { static_cast<Options *>(options)->track_and_verify_wals_in_manifest = true; }
