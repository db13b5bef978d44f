package indexexpr

import (
	"bytes"
	"encoding/json"
	"io"
	"strconv"
	"unicode/utf8"
)

// maxJSON is the longest text that is read as JSON: what it makes takes many times its size.
const maxJSON = 256 << 10

// parseJSON reads one JSON text; nil where it is none. Numbers keep their digits: one that is an int of 64 bits is an
// int, any other is the text it was written as. Of names that stand twice in an object the last counts.
func parseJSON(m *meter, v any) any {
	b, ok := bytesOf(m, v)
	if !ok || len(b) > maxJSON || !utf8.Valid(b) {
		return nil
	}
	// Most of what is tried is no JSON at all.
	if b = bytes.TrimLeft(b, " \t\r\n"); len(b) == 0 || b[0] != '{' && b[0] != '[' && b[0] != '"' && b[0] != '-' && (b[0] < '0' || b[0] > '9') && b[0] != 't' && b[0] != 'f' {
		return nil
	}
	m.spend(20 * len(b))
	if bytes.Equal(b, m.text) {
		return m.parsed
	}
	m.text, m.parsed = append(m.text[:0], b...), nil
	d := json.NewDecoder(bytes.NewReader(b))
	d.UseNumber()
	var parsed any
	if d.Decode(&parsed) != nil {
		return nil
	}
	if _, err := d.Token(); err != io.EOF {
		return nil
	}
	m.parsed = exact(parsed)
	return m.parsed
}

// exact puts numbers in place of what the parser has for them.
func exact(v any) any {
	switch v := v.(type) {
	case json.Number:
		if n, err := strconv.Atoi(v.String()); err == nil && strconv.Itoa(n) == v.String() {
			return n
		}
		return v.String()
	case []any:
		for i := range v {
			v[i] = exact(v[i])
		}
	case map[string]any:
		for k := range v {
			v[k] = exact(v[k])
		}
	}
	return v
}
