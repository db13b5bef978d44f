package jsonappend

import "encoding/hex"

// Hex are bytes whose JSON is a text of hex digits.
type Hex []byte

// AppendJSON implements [Value].
func (x Hex) AppendJSON(b []byte) []byte { return append(hex.AppendEncode(append(b, '"'), x), '"') }

// JSON is a value that is JSON already.
type JSON []byte

// AppendJSON implements [Value].
func (j JSON) AppendJSON(b []byte) []byte { return append(b, j...) }

// Object is an object whose members have names that are data, in the order of the list.
type Object[T any] []Member[T]

// Member is a member of an [Object].
type Member[T any] struct {
	Name  string
	Value T
}

// AppendJSON implements [Value].
func (o *Object[T]) AppendJSON(b []byte) []byte {
	b = append(b, '{')
	for i := range *o {
		if i > 0 {
			b = append(b, ',')
		}
		m := &(*o)[i]
		b = Append(append(appendText(b, m.Name), ':'), &m.Value)
	}
	return append(b, '}')
}
