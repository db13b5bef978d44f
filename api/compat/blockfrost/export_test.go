package blockfrost

import (
	"cmp"
	"net/http"
	"reflect"
	"slices"
	"sync"
)

// Operation is an endpoint with the condition of its answer, or with the reason why it has none.
type Operation struct {
	Method, Path, With, Reason string
	Answers                    int // how many of answer, node and reason it has
	takes                      *parameters
}

// Takes reports whether the query of the operation has a parameter.
func (o Operation) Takes(name string) bool {
	return o.takes != nil && slices.Contains(o.takes.names, name)
}

// Operations returns all endpoints.
func Operations() (all []Operation) {
	for _, e := range endpoints {
		answers := 0
		for _, has := range []bool{e.answer != nil, e.node != nil, e.reason != ""} {
			if has {
				answers++
			}
		}
		all = append(all, Operation{cmp.Or(e.method, http.MethodGet), "/" + e.path, e.with, e.reason, answers, e.takes})
	}
	return all
}

// NewWithPositions returns a handler, and a function that returns the bytes of the largest position of a page.
func NewWithPositions(o Options) (h http.Handler, largest func() (bytes int, position any)) {
	s := newServer(o)
	var mu sync.Mutex
	var bytes int
	var position any
	s.positions.Max, s.positions.Size = 1<<30, func(end pageEnd) int {
		mu.Lock()
		defer mu.Unlock()
		n := held(reflect.ValueOf(end.pos))
		if n > bytes {
			bytes, position = n, end.pos
		}
		return n
	}
	return s.handler(), func() (int, any) {
		mu.Lock()
		defer mu.Unlock()
		return bytes, position
	}
}

// held returns the bytes that a value holds in memory.
func held(v reflect.Value) int {
	n := int(v.Type().Size())
	switch v.Kind() {
	case reflect.String:
		n += v.Len()
	case reflect.Slice:
		n += v.Cap() * int(v.Type().Elem().Size())
		if v.Type().Elem().Kind() != reflect.Uint8 {
			for i := range v.Len() {
				n += held(v.Index(i))
			}
		}
	case reflect.Pointer, reflect.Interface:
		if !v.IsNil() {
			n += held(v.Elem())
		}
	case reflect.Struct:
		for i := range v.NumField() {
			n += held(v.Field(i)) - int(v.Field(i).Type().Size())
		}
	}
	return n
}
