// Options of logs that the C API of RocksDB 7.8 lacks. options is the C API's pointer.
#pragma once

#ifdef __cplusplus
extern "C" {
#endif

void birthmark_disable_info_log(void *options);
void birthmark_track_logs(void *options);
void birthmark_end_at_gaps(void *options);

#ifdef __cplusplus
}
#endif
