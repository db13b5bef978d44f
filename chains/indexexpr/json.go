package indexexpr

import (
	"bytes"
	"encoding/json"
	"io"
	"strconv"
	"unicode/utf8"
)

// maxJSON is the maximum length of a text that is parsed as JSON: the result takes many times its size.
const maxJSON = 256 << 10

// parseJSON parses one JSON text; nil if it is invalid. A number that fits int64 is an int, any other is its text with
// all digits. If a name is repeated in an object, the last value counts.
func parseJSON(m *meter, v any) any {
	b, ok := bytesOf(m, v)
	if !ok || len(b) > maxJSON || !utf8.Valid(b) {
		return nil
	}
	// Most texts are not JSON at all.
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

// exact replaces the parser's numbers.
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
