package api

import (
	"reflect"
	"sync"
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
	is := reflect.ValueOf(v)
	b.text = append(appenderOf(is.Type())(b.text, is), '\n')
	return nil
}
