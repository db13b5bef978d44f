// RocksDB's own log, which its C API cannot turn off. Options is the C API's pointer.
#pragma once

#ifdef __cplusplus
extern "C" {
#endif

void birthmark_quiet(void *options);

#ifdef __cplusplus
}
#endif
