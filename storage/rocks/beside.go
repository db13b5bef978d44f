package rocks

// #include "beside.h"
import "C"

import (
	"unsafe"

	"github.com/linxGnu/grocksdb"
)

// beside keeps the files together that make one moment of a database, while it is opened beside a process that writes
// (beside.cc). A nil beside is that of a store that writes itself.
type beside struct{ p unsafe.Pointer }

func newBeside(o *grocksdb.Options) *beside {
	return &beside{C.birthmark_beside_new(cOptions(o))}
}

// begin and end stand around an opening.
func (b *beside) begin() { C.birthmark_beside_begin(b.p) }
func (b *beside) end()   { C.birthmark_beside_end(b.p) }

// free ends the use of the options.
func (b *beside) free() {
	if b != nil {
		C.birthmark_beside_free(b.p)
	}
}
