package indexexpr

// Implementations of functions. Each returns nil if it cannot compute a result.

import (
	"bytes"
	"encoding/hex"
	"reflect"
	"regexp"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// bytesOf returns the bytes of bytes or text.
func bytesOf(m *meter, v any) ([]byte, bool) {
	switch v := v.(type) {
	case []byte:
		m.spend(len(v))
		return v, v != nil
	case string:
		m.spend(len(v))
		return []byte(v), true
	}
	return nil, false
}

// stringly returns bytes or text as a Go string without changing the bytes.
func stringly(m *meter, v any) (s string, ok bool) {
	switch v := v.(type) {
	case []byte:
		m.spend(len(v))
		return string(v), v != nil
	case string:
		m.spend(len(v))
		return v, true
	}
	return "", false
}

// like converts a string to the type of another value.
func like(v any, s string) any {
	if _, ok := v.([]byte); ok {
		return []byte(s)
	}
	return s
}

func hexOf(m *meter, v any) any {
	b, ok := bytesOf(m, v)
	if !ok {
		return nil
	}
	return hex.EncodeToString(b)
}

func unhex(m *meter, v any) any {
	s, _ := stringly(m, v)
	b, err := hex.DecodeString(s)
	if err != nil || len(b) == 0 {
		return nil
	}
	return b
}

func textOf(m *meter, v any) any {
	s, ok := stringly(m, v)
	if !ok || !utf8.ValidString(s) {
		return nil
	}
	return s
}

func uintOf(m *meter, a []any) any {
	b, ok := bytesOf(m, a[0])
	if !ok || len(b) == 0 || len(b) > 8 {
		return nil
	}
	little := len(a) == 2 && a[1] == "little"
	n := uint64(0)
	for i := range b {
		if little {
			n = n<<8 | uint64(b[len(b)-1-i])
		} else {
			n = n<<8 | uint64(b[i])
		}
	}
	if n>>63 != 0 {
		return nil
	}
	return int(n)
}

func lenOf(m *meter, v any) any {
	switch v := v.(type) {
	case nil:
		return 0
	case []byte:
		return len(v)
	case string:
		m.spend(len(v))
		return utf8.RuneCountInString(v)
	}
	if r := reflect.ValueOf(v); r.Kind() == reflect.Slice || r.Kind() == reflect.Map {
		return r.Len()
	}
	return nil
}

func asciiLower(c rune) rune {
	if c >= 'A' && c <= 'Z' {
		c += 'a' - 'A'
	}
	return c
}

func asciiUpper(c rune) rune {
	if c >= 'a' && c <= 'z' {
		c -= 'a' - 'A'
	}
	return c
}

// mapped maps ASCII letters, in bytes too.
func mapped(m *meter, v any, to func(rune) rune) any {
	b, ok := bytesOf(m, v)
	if !ok {
		return nil
	}
	b = bytes.Clone(b)
	for i, c := range b {
		if c < utf8.RuneSelf {
			b[i] = byte(to(rune(c)))
		}
	}
	return like(v, string(b))
}

func trim(m *meter, a []any) any {
	s, ok := stringly(m, a[0])
	if !ok {
		return nil
	}
	if len(a) == 1 {
		return strings.TrimFunc(s, func(c rune) bool { return c < unicode.MaxASCII && unicode.IsSpace(c) })
	}
	cut, ok := stringly(m, a[1])
	if !ok {
		return nil
	}
	m.spend(len(s) * len(cut))
	return strings.Trim(s, cut)
}

func trimmed(m *meter, a []any, by func(s, part string) string) any {
	s, ok := stringly(m, a[0])
	part, isPart := stringly(m, a[1])
	if !ok || !isPart {
		return nil
	}
	return like(a[0], by(s, part))
}

func split(m *meter, a []any) any {
	s, ok := stringly(m, a[0])
	separator, isSeparator := stringly(m, a[1])
	if !ok || !isSeparator || separator == "" {
		return nil
	}
	most := -1
	if len(a) == 3 {
		n, ok := a[2].(int)
		if !ok || n <= 0 {
			return nil
		}
		most = n
	}
	m.spend(stepCost * strings.Count(s, separator))
	parts := strings.SplitN(s, separator, most)
	if _, ok := a[0].([]byte); !ok {
		return parts
	}
	list := make([][]byte, len(parts))
	for i, part := range parts {
		list[i] = []byte(part)
	}
	return list
}

func join(m *meter, a []any) any {
	separator := ""
	if len(a) == 2 {
		var ok bool
		if separator, ok = a[1].(string); !ok {
			return nil
		}
	}
	var parts []string
	for v := range entries(m, a[0]) {
		s, ok := v.(string)
		if !ok {
			return nil
		}
		m.spend(len(s) + len(separator))
		parts = append(parts, s)
	}
	return strings.Join(parts, separator)
}

func replace(m *meter, a []any) any {
	s, ok1 := stringly(m, a[0])
	from, ok2 := stringly(m, a[1])
	to, ok3 := stringly(m, a[2])
	if !ok1 || !ok2 || !ok3 || from == "" {
		return nil
	}
	m.spend(strings.Count(s, from) * (len(to) + 1))
	return strings.ReplaceAll(s, from, to)
}

func indexOf(m *meter, a []any) any {
	s, ok := stringly(m, a[0])
	part, isPart := stringly(m, a[1])
	if !ok || !isPart {
		return nil
	}
	return strings.Index(s, part)
}

func stringOf(v any) any {
	switch v := v.(type) {
	case string:
		return v
	case bool, int, uint8, float64:
		return string(formAny.appendValue(nil, v))
	}
	return nil
}

func intOf(v any) any {
	switch v := v.(type) {
	case int:
		return v
	case uint8:
		return int(v)
	case float64:
		// Beyond these bounds the result of a conversion depends on the machine.
		if v > -1<<53 && v < 1<<53 {
			return int(v)
		}
	case string:
		if n, err := strconv.Atoi(v); err == nil {
			return n
		}
	}
	return nil
}

// entries yields the entries of a list; nothing for other types. Bytes do not count as a list.
func entries(m *meter, v any) func(yield func(any) bool) {
	return func(yield func(any) bool) {
		r := reflect.ValueOf(v)
		if r.Kind() != reflect.Slice || r.Type() == bytesType {
			return
		}
		m.spend(r.Len())
		for i := range r.Len() {
			if !yield(r.Index(i).Interface()) {
				return
			}
		}
	}
}

func flatten(m *meter, v any) any {
	all := []any{}
	var add func(v any, depth int)
	add = func(v any, depth int) {
		r := reflect.ValueOf(v)
		if r.Kind() != reflect.Slice || r.Type() == bytesType || depth > 64 {
			m.spend(stepCost)
			all = append(all, v)
			return
		}
		for entry := range entries(m, v) {
			add(entry, depth+1)
		}
	}
	for entry := range entries(m, v) {
		add(entry, 1)
	}
	return all
}

// matches runs a regular expression in time linear in the length of the text.
func matches(m *meter, v any, re *regexp.Regexp) bool {
	switch v := v.(type) {
	case []byte:
		m.spend(20 * len(v))
		return re.Match(v)
	case string:
		m.spend(20 * len(v))
		return re.MatchString(v)
	}
	return false
}
