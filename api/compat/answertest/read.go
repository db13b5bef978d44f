package answertest

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"maps"
	"slices"
	"strings"

	"golang.org/x/net/html"
)

// leaf is a text or a number of an answer.
type leaf struct {
	text   string
	path   []string // keys from the inner one outwards
	beside map[string]any
}

// key returns all keys, the inner one last.
func (l leaf) key() string {
	path := slices.Clone(l.path)
	slices.Reverse(path)
	return strings.Join(path, ".")
}

// has reports whether l is under a key of the form "outer.inner".
func (l leaf) has(key string) bool {
	parts := strings.Split(key, ".")
	slices.Reverse(parts)
	return len(parts) <= len(l.path) && slices.Equal(parts, l.path[:len(parts)])
}

// read calls yield for each text and number of an answer, and each name of a member of an object, but not below the keys
// of contents.
func read(body []byte, yield func(leaf), contents []string) error {
	body = bytes.TrimSpace(body)
	if bytes.HasPrefix(bytes.ToLower(body[:min(len(body), 9)]), []byte("<!doctype")) {
		return readLinks(body, yield)
	}
	d := json.NewDecoder(bytes.NewReader(body))
	d.UseNumber()
	var values []any // several ones: newline-delimited JSON
	for {
		var v any
		err := d.Decode(&v)
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil { // a text that begins like JSON, such as 0e2d…
			values = []any{string(body)}
			break
		}
		values = append(values, v)
	}
	for _, v := range values {
		walk(v, leaf{path: []string{"text"}}, yield, contents)
	}
	return nil
}

func walk(v any, at leaf, yield func(leaf), contents []string) {
	if len(at.path) > 0 && slices.ContainsFunc(contents, at.has) {
		return
	}
	switch v := v.(type) {
	case map[string]any:
		path := at.path
		if len(path) == 1 && path[0] == "text" {
			path = nil
		}
		for _, name := range slices.Sorted(maps.Keys(v)) {
			member := v[name]
			key := "{}"
			if len(path) > 0 {
				key = path[0] + "{}"
			}
			yield(leaf{name, append([]string{key}, path[min(1, len(path)):]...), v})
			walk(member, leaf{"", append([]string{name}, path...), v}, yield, contents)
		}
	case []any:
		for _, member := range v {
			walk(member, at, yield, contents)
		}
	default:
		if text, ok := scalarText(v); ok {
			at.text = text
			yield(at)
		}
	}
}

// scalarText returns a text or a number as text.
func scalarText(v any) (string, bool) {
	switch v := v.(type) {
	case string:
		return v, true
	case json.Number:
		return v.String(), true
	}
	return "", false
}

// readLinks yields the links of a page without their fragments.
func readLinks(body []byte, yield func(leaf)) error {
	root, err := html.Parse(bytes.NewReader(body))
	if err != nil {
		return err
	}
	for n := range root.Descendants() {
		for _, a := range n.Attr {
			if a.Key == "href" {
				path, _, _ := strings.Cut(a.Val, "#")
				yield(leaf{text: path, path: []string{"href"}})
			}
		}
	}
	return nil
}
