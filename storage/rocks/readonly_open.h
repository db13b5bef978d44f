// Pins the manifest and the logs of a database while it is opened read-only during writes of another process.
#pragma once

#ifdef __cplusplus
extern "C" {
#endif

// Changes options (the C API's pointer). The result must outlive the database and the options.
void *birthmark_readonly_open_new(void *options);
// Enclose an open.
void birthmark_readonly_open_begin(void *p);
void birthmark_readonly_open_end(void *p);
void birthmark_readonly_open_free(void *p);

#ifdef __cplusplus
}
#endif
