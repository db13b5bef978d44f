// The files of a database as one moment has them, for a reader beside a process that writes.
#pragma once

#ifdef __cplusplus
extern "C" {
#endif

// Makes options (the C API's pointer) open a database as readonly_open.cc says. It outlives the database and the options.
void *birthmark_beside_new(void *options);
// Stand around an opening.
void birthmark_beside_begin(void *beside);
void birthmark_beside_end(void *beside);
void birthmark_beside_free(void *beside);

#ifdef __cplusplus
}
#endif
