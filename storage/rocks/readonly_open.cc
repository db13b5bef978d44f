#include "readonly_open.h"

#include <rocksdb/env.h>
#include <rocksdb/file_system.h>
#include <rocksdb/options.h>

#include <algorithm>
#include <map>
#include <memory>
#include <string>
#include <vector>

using namespace rocksdb;

// To open a database RocksDB reads the manifest, opens the tables it lists, lists the logs and replays them. Another
// process may change the files meanwhile. If it deletes a log before the logs are listed, because the rows are in
// tables that the manifest read did not list yet, rows are missing; if it deletes a log before it is replayed, the open
// fails late.
//
// So this file system opens all logs when the end of the manifest is read and gives those files to RocksDB, each
// limited to its size at that time: later records may depend on tables that this manifest does not list. If the
// manifest has grown or been replaced by then, the open fails and is retried, which is cheap at that point.
namespace {

std::string base(const std::string &path) { return path.substr(path.find_last_of('/') + 1); }

bool is_log(const std::string &name) { return name.size() > 4 && name.compare(name.size() - 4, 4, ".log") == 0; }

class PinnedFiles : public FileSystemWrapper {
 public:
  PinnedFiles() : FileSystemWrapper(FileSystem::Default()) {}
  const char *Name() const override { return "birthmark pinned files"; }

  IOStatus NewSequentialFile(const std::string &path, const FileOptions &options,
                             std::unique_ptr<FSSequentialFile> *file, IODebugContext *dbg) override;
  IOStatus GetChildren(const std::string &dir, const IOOptions &options, std::vector<std::string> *names,
                       IODebugContext *dbg) override;

  // Opens the logs. The manifest was read to its end, after that many bytes.
  IOStatus PinLogs(const std::string &manifest, uint64_t bytes);

  void Opening(bool opening) {
    opening_ = opening;
    logs_.clear();
  }

 private:
  bool opening_ = false;
  std::map<std::string, std::unique_ptr<FSSequentialFile>> logs_;
};

class Manifest : public FSSequentialFileOwnerWrapper {
 public:
  Manifest(std::unique_ptr<FSSequentialFile> &&file, PinnedFiles *files, const std::string &path)
      : FSSequentialFileOwnerWrapper(std::move(file)), files_(files), path_(path) {}

  IOStatus Read(size_t n, const IOOptions &options, Slice *result, char *scratch, IODebugContext *dbg) override {
    IOStatus s = FSSequentialFileOwnerWrapper::Read(n, options, result, scratch, dbg);
    if (!s.ok()) return s;
    bytes_ += result->size();
    return result->size() < n ? files_->PinLogs(path_, bytes_) : s;
  }

 private:
  PinnedFiles *files_;
  std::string path_;
  uint64_t bytes_ = 0;
};

// A log limited to its size at the time it was opened.
class Log : public FSSequentialFileOwnerWrapper {
 public:
  Log(std::unique_ptr<FSSequentialFile> &&file, uint64_t size) : FSSequentialFileOwnerWrapper(std::move(file)), left_(size) {}

  IOStatus Read(size_t n, const IOOptions &options, Slice *result, char *scratch, IODebugContext *dbg) override {
    IOStatus s = FSSequentialFileOwnerWrapper::Read(std::min<uint64_t>(n, left_), options, result, scratch, dbg);
    if (s.ok()) left_ -= result->size();
    return s;
  }

  IOStatus Skip(uint64_t n) override {
    n = std::min(n, left_);
    left_ -= n;
    return FSSequentialFileOwnerWrapper::Skip(n);
  }

  IOStatus PositionedRead(uint64_t, size_t, const IOOptions &, Slice *, char *, IODebugContext *) override {
    return IOStatus::NotSupported("logs are read sequentially");
  }

 private:
  uint64_t left_;
};

IOStatus PinnedFiles::NewSequentialFile(const std::string &path, const FileOptions &options,
                                   std::unique_ptr<FSSequentialFile> *file, IODebugContext *dbg) {
  auto log = logs_.find(base(path));
  if (log != logs_.end() && log->second != nullptr) {
    *file = std::move(log->second);
    return IOStatus::OK();
  }
  IOStatus s = FileSystemWrapper::NewSequentialFile(path, options, file, dbg);
  if (s.ok() && opening_ && base(path).compare(0, 9, "MANIFEST-") == 0) {
    file->reset(new Manifest(std::move(*file), this, path));
  }
  return s;
}

IOStatus PinnedFiles::GetChildren(const std::string &dir, const IOOptions &options, std::vector<std::string> *names,
                             IODebugContext *dbg) {
  IOStatus s = FileSystemWrapper::GetChildren(dir, options, names, dbg);
  if (!s.ok() || !opening_) return s;
  std::vector<std::string> pinned;
  for (const auto &name : *names) {
    if (!is_log(name)) pinned.push_back(name);
  }
  for (const auto &log : logs_) pinned.push_back(log.first);
  names->swap(pinned);
  return s;
}

IOStatus PinnedFiles::PinLogs(const std::string &manifest, uint64_t bytes) {
  logs_.clear();
  const std::string dir = manifest.substr(0, manifest.find_last_of('/'));
  std::vector<std::string> names;
  IOStatus s = FileSystemWrapper::GetChildren(dir, IOOptions(), &names, nullptr);
  for (size_t i = 0; s.ok() && i < names.size(); i++) {
    if (is_log(names[i])) {
      std::unique_ptr<FSSequentialFile> file;
      uint64_t size = 0;
      s = FileSystemWrapper::NewSequentialFile(dir + "/" + names[i], FileOptions(), &file, nullptr);
      if (s.ok()) s = FileSystemWrapper::GetFileSize(dir + "/" + names[i], IOOptions(), &size, nullptr);
      if (s.ok()) logs_[names[i]].reset(new Log(std::move(file), size));
    }
  }
  uint64_t size = 0;
  if (s.ok()) s = FileSystemWrapper::GetFileSize(manifest, IOOptions(), &size, nullptr);
  std::string current;
  if (s.ok()) s = ReadFileToString(this, dir + "/CURRENT", &current);
  if (s.ok() && (size != bytes || current != base(manifest) + "\n")) {
    s = IOStatus::IOError(manifest + " changed while it was read");
  }
  return s;
}

struct Handle {
  std::shared_ptr<PinnedFiles> files = std::make_shared<PinnedFiles>();
  std::unique_ptr<Env> env = NewCompositeEnv(files);
};

}  // namespace

void *birthmark_readonly_open_new(void *options) {
  auto handle = new Handle();
  static_cast<Options *>(options)->env = handle->env.get();  // the C API's options begin with the C++ object
  return handle;
}

void birthmark_readonly_open_begin(void *p) { static_cast<Handle *>(p)->files->Opening(true); }
void birthmark_readonly_open_end(void *p) { static_cast<Handle *>(p)->files->Opening(false); }
void birthmark_readonly_open_free(void *p) { delete static_cast<Handle *>(p); }
