package api

import (
	"sync"

	"birthmark/api/jsonappend"
)

// buffer holds an encoded answer. The command line prints the same bytes.
type buffer struct{ text []byte }

var buffers = sync.Pool{New: func() any { return new(buffer) }}

// maxPooled is the capacity of the largest buffer that is pooled.
const maxPooled = 1 << 20

func (b *buffer) release() {
	if cap(b.text) <= maxPooled {
		b.text = b.text[:0]
		buffers.Put(b)
	}
}

// encode writes a document and a newline.
func (b *buffer) encode(v any) error {
	if text, ok := v.(encoded); ok {
		b.text = append(b.text, text...)
		return nil
	}
	b.text = append(jsonappend.Append(b.text, v), '\n')
	return nil
}
