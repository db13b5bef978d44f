// RocksDB's file of options.
#pragma once

#ifdef __cplusplus
extern "C" {
#endif

// Changes options (the C API's pointer), so that the database writes no file of options.
void birthmark_skip_options_file(void *options);

#ifdef __cplusplus
}
#endif
