package rocks

// #include "readonly_open.h"
import "C"

import (
	"unsafe"

	"github.com/linxGnu/grocksdb"
)

// readonlyOpen pins the manifest and the logs during a read-only open, so that it sees one consistent state while
// another process writes (readonly_open.cc). It is nil in a store that writes.
type readonlyOpen struct{ p unsafe.Pointer }

func newReadonlyOpen(o *grocksdb.Options) *readonlyOpen {
	return &readonlyOpen{C.birthmark_readonly_open_new(native(o))}
}

// begin and end enclose an open.
func (b *readonlyOpen) begin() { C.birthmark_readonly_open_begin(b.p) }
func (b *readonlyOpen) end()   { C.birthmark_readonly_open_end(b.p) }

// free invalidates the options that newReadonlyOpen was called with.
func (b *readonlyOpen) free() {
	if b != nil {
		C.birthmark_readonly_open_free(b.p)
	}
}
