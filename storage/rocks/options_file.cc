#include "options_file.h"

#include <rocksdb/env.h>
#include <rocksdb/file_system.h>
#include <rocksdb/options.h>

#include <memory>
#include <string>

using namespace rocksdb;

namespace {
// RocksDB 7.8 has no option for this. It creates the file before it serializes the options, and continues if it cannot.
class NoOptionsFile : public FileSystemWrapper {
 public:
  NoOptionsFile() : FileSystemWrapper(FileSystem::Default()) {}
  const char *Name() const override { return "birthmark without options file"; }

  IOStatus NewWritableFile(const std::string &path, const FileOptions &options, std::unique_ptr<FSWritableFile> *file,
                           IODebugContext *dbg) override {
    if (path.compare(path.find_last_of('/') + 1, 8, "OPTIONS-") == 0) return IOStatus::NotSupported(path);
    return FileSystemWrapper::NewWritableFile(path, options, file, dbg);
  }
};
}  // namespace

void birthmark_skip_options_file(void *options) {
  // Databases may be open until the process ends.
  static Env *const env = NewCompositeEnv(std::make_shared<NoOptionsFile>()).release();
  auto o = static_cast<Options *>(options);  // the C API's options begin with the C++ object
  o->env = env;
  o->fail_if_options_file_error = false;  // the default of RocksDB 7.8, but not of later versions
}
