package details

import (
	"encoding/hex"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"birthmark/internal/humanize"
	"birthmark/model"
)

// Node is a value in a tree: a text, or a list of named values.
type Node struct {
	Name  string // in the node above; may be empty
	Text  string // of a single value, or the kind of the list
	Items []Node
	Open  bool // shown without a click
}

const (
	nodeRoom  = 40  // characters of markup of a node
	listRoom  = 80  // characters of markup of a list in addition
	listMost  = 50  // values of a list that a page shows
	depthMost = 16  // nesting that a page shows
	maxName   = 200 // bytes
	openMost  = 12  // values of a list that is shown without a click
)

// Tree appends a value as a tree, and a simple value as a text.
func (d *Writer) Tree(fields []Field, name string, v any) []Field {
	room := d.rest(d.tree)
	b := treeBuilder{room}
	n := b.node("", v, 0)
	if n.Items == nil || room <= 0 {
		return d.Field(fields, name, n.Text)
	}
	if d.left -= room - b.left; b.left <= 0 {
		d.cut(d.tree)
	}
	return append(fields, Field{Name: name, Tree: &n})
}

// treeBuilder makes the nodes of a tree; left is its room.
type treeBuilder struct{ left int }

func (b *treeBuilder) node(name string, v any, depth int) Node {
	if len(name) > maxName {
		name = strings.ToValidUTF8(name[:maxName], "") + "…"
	}
	n := Node{Name: name}
	entries, total, kind, text := parts(v)
	b.left -= escaped(name) + nodeRoom
	if kind == "" {
		if len(text) > short.field {
			text = strings.ToValidUTF8(text[:short.field], "") + "…"
		}
		b.left -= escaped(text)
		n.Text = text
		return n
	}
	if n.Text = kind; total == 0 {
		if !strings.HasPrefix(kind, constructor) {
			n.Text = "empty " + kind
		}
		return n
	}
	b.left -= listRoom
	n.Text, n.Items = kind+", "+humanize.Plural(total, "value"), []Node{}
	for _, e := range entries {
		if b.left <= 0 || depth == depthMost {
			break
		}
		n.Items = append(n.Items, b.node(e.name, e.value, depth+1))
	}
	if more := total - len(n.Items); more > 0 {
		n.Items = append(n.Items, Node{Text: humanize.Count(more) + " more: see this page as JSON"})
	}
	n.Open = depth < 2 && len(n.Items) <= openMost
	return n
}

// part is a named value.
type part struct {
	name  string
	value any
}

// parts returns the first parts of a list, their total number and what kind of list it is, or else the text of a value.
func parts(v any) (list []part, total int, kind, text string) {
	switch v := v.(type) {
	case []any:
		return numbered(v), len(v), "list", ""
	case map[string]any:
		if list, total, kind, text, ok := data(v); ok {
			return list, total, kind, text
		}
		names := slices.SortedFunc(maps.Keys(v), compareNames)
		for _, name := range names[:min(len(names), listMost)] {
			list = append(list, part{name, v[name]})
		}
		return list, len(names), "map", ""
	case string:
		return nil, 0, "", v
	case json.RawMessage:
		return nil, 0, "", string(v)
	case nil:
		return nil, 0, "", "null"
	}
	return nil, 0, "", fmt.Sprint(v)
}

func numbered(items []any) (list []part) {
	for i, item := range items[:min(len(items), listMost)] {
		list = append(list, part{strconv.Itoa(i), item})
	}
	return list
}

// compareNames orders numbers before texts.
func compareNames(a, b string) int {
	x, errX := strconv.ParseInt(a, 10, 64)
	y, errY := strconv.ParseInt(b, 10, 64)
	switch {
	case errX == nil && errY == nil && x < y, errX == nil && errY != nil:
		return -1
	case errX == nil && errY == nil && x > y, errX != nil && errY == nil:
		return 1
	}
	return strings.Compare(a, b)
}

const constructor = "constructor " // and its number

// data is parts of a value in the detailed form of Plutus data: bytes, int, list, map, or a constructor with fields.
func data(v map[string]any) (list []part, total int, kind, text string, ok bool) {
	if number, is := v["constructor"]; is && len(v) == 2 {
		if fields, is := v["fields"].([]any); is {
			return numbered(fields), len(fields), constructor + fmt.Sprint(number), "", true
		}
	}
	if len(v) != 1 {
		return nil, 0, "", "", false
	}
	if text, ok := scalar(v); ok {
		return nil, 0, "", text, true
	}
	if items, is := v["list"].([]any); is {
		return numbered(items), len(items), "list", "", true
	}
	items, is := v["map"].([]any)
	if !is {
		return nil, 0, "", "", false
	}
	for i, item := range items[:min(len(items), listMost)] {
		entry, is := item.(map[string]any)
		if !is || len(entry) != 2 {
			return nil, 0, "", "", false
		}
		named := part{strconv.Itoa(i), []any{entry["k"], entry["v"]}}
		if text, ok := simple(entry["k"]); ok {
			named = part{text, entry["v"]}
		}
		list = append(list, named)
	}
	return list, len(items), "map", "", true
}

// simple returns the text of a key that is a number, bytes or a text.
func simple(key any) (text string, ok bool) {
	if v, is := key.(map[string]any); is {
		return scalar(v)
	}
	text, ok = key.(string)
	return text, ok
}

// scalar returns the text of a number or of bytes.
func scalar(v map[string]any) (text string, ok bool) {
	if len(v) != 1 {
		return "", false
	}
	if n, is := v["int"].(json.Number); is {
		return n.String(), true
	}
	if digits, is := v["bytes"].(string); is {
		return bytesText(digits), true
	}
	return "", false
}

// bytesText returns bytes in hex, and as text if they are readable.
func bytesText(digits string) string {
	if digits == "" {
		return "empty bytes"
	}
	if b, err := hex.DecodeString(digits); err == nil && isReadable(b) {
		return digits + " “" + string(b) + "”"
	}
	return digits
}

// Value appends the meaning of a serialized value, or else its bytes.
func (d *Writer) Value(fields []Field, name string, v model.EncodedValue) []Field {
	if v.Type != "" {
		name += ", " + v.Type
	}
	if v.Value == nil || v.Undecoded {
		return d.Field(fields, name, v.Raw)
	}
	fields = d.Tree(fields, name, v.Value)
	if text, ok := v.Value.(string); ok {
		if b, err := hex.DecodeString(text); err == nil && isReadable(b) {
			fields = d.Field(fields, "as text", string(b))
		}
	}
	return fields
}
