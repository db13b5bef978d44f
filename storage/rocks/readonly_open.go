package rocks

// #include "readonly_open.h"
import "C"

import (
	"unsafe"

	"github.com/linxGnu/grocksdb"
)

// beside keeps the files together that make one moment of a database, while it is opened beside a process that writes
// (readonly_open.cc). A nil beside is that of a store that writes itself.
type readonlyOpen struct{ p unsafe.Pointer }

func newReadonlyOpen(o *grocksdb.Options) *readonlyOpen {
	return &readonlyOpen{C.birthmark_beside_new(cOptions(o))}
}

// begin and end stand around an opening.
func (b *readonlyOpen) begin() { C.birthmark_beside_begin(b.p) }
func (b *readonlyOpen) end()   { C.birthmark_beside_end(b.p) }

// free ends the use of the options.
func (b *readonlyOpen) free() {
	if b != nil {
		C.birthmark_beside_free(b.p)
	}
}
