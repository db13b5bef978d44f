package indexexpr

import (
	"errors"
	"fmt"
	"regexp"
	"strings"

	"github.com/expr-lang/expr/file"

	"birthmark/model"
)

// Error describes an invalid definition. Its text is one line with the index, the key and the place, with a mark at the
// place. It is wrapped in an error of kind [model.Usage] with code bad_definition.
type Error struct {
	Index string
	Key   string // when, value, kind; empty if the name is wrong
	Place string // position of the character in the expression: 8, or 2:8 in line 2; empty if it has none
	What  string
	Near  string // the expression around the place, with the mark; empty if Place is
}

func (e *Error) Error() string {
	var b strings.Builder
	b.WriteString("index " + e.Index)
	for _, part := range []string{e.Key, e.Place} {
		if part != "" {
			b.WriteString(": " + part)
		}
	}
	b.WriteString(": " + e.What)
	if e.Near != "" {
		b.WriteString(" (" + e.Near + ")")
	}
	return b.String()
}

func wrong(e *Error) error { return model.Errorf(model.Usage, "bad_definition", "%w", e) }

// fault is an error at a position of an expression.
type fault struct {
	at   int // in runes
	what string
}

func (f *fault) Error() string { return f.what }

// located makes an [Error] of a compilation error.
func (l *Language) located(index, key, text string, err error) error {
	e := &Error{Index: index, Key: key}
	var at int
	if f, ok := errors.AsType[*fault](err); ok {
		e.What, at = f.what, f.at
	} else if f, ok := errors.AsType[*file.Error](err); ok {
		e.What, at = l.plain(f.Message), f.From
	} else {
		e.What = l.plain(err.Error())
		return wrong(e)
	}
	e.Place, e.Near = place(text, at)
	return wrong(e)
}

// mark precedes the character at Place in [Error.Near].
const mark = "‸"

// place returns the position of a rune of the text, and its surroundings in one line.
func place(text string, at int) (where, near string) {
	const around = 24
	runes := []rune(text)
	at = min(max(at, 0), len(runes))
	line, column := 1, 1
	for _, r := range runes[:at] {
		if column++; r == '\n' {
			line, column = line+1, 1
		}
	}
	where = fmt.Sprint(column)
	if line > 1 {
		where = fmt.Sprintf("%d:%d", line, column)
	}
	from, to := max(0, at-around), min(len(runes), at+around)
	near = string(runes[from:at]) + mark + string(runes[at:to])
	if from > 0 {
		near = "…" + near
	}
	if to < len(runes) {
		near += "…"
	}
	return where, strings.Join(strings.Fields(near), " ")
}

var (
	mismatch = regexp.MustCompile(`^(\S+) \(mismatched types? (.*)\)$`)
	goTypes  = regexp.MustCompile(`(\[\]|\*|map\[string\])*(interface \{\}|\b[a-z]+\.[A-Za-z]+\b|\b(uint8|int|string|float64|bool|unknown)\b)`)
	noNumber = regexp.MustCompile(`strconv\.Parse\w+: parsing ("[^"]*"): .*`)

	ownPhrases = strings.NewReplacer("array elements", "entries of a list", "array", "list", "non-bool expression (type", "expected true or false (got", ") used as condition", ")",
		"predicate should return boolean", "expected true or false of each entry", "invalid operation: ", "", "token EOF", "end",
		"Bracket(", "(", "Operator(", "(", "Identifier(", "(", "Number(", "(", "String(", "(")
	typeNames = map[string]string{
		"uint8": "number", "int": "number", "float64": "number", "string": "text", "bool": "true or false", "interface {}": "anything", "unknown": "anything",
	}
)

// plain rewords a message of the expression library with the terms of our documentation.
func (l *Language) plain(message string) string {
	message, _, _ = strings.Cut(message, "\n")
	if name, ok := strings.CutPrefix(message, "unknown name "); ok {
		return message + ", " + hint(name, levelNames[:])
	}
	message = ownPhrases.Replace(noNumber.ReplaceAllString(message, "$1"))
	message = goTypes.ReplaceAllStringFunc(message, l.plainType)
	if m := mismatch.FindStringSubmatch(message); m != nil {
		message = fmt.Sprintf("operator %s does not accept %s", m[1], m[2])
	}
	return message
}

// plainType returns the documentation's name of a Go type, or the text itself.
func (l *Language) plainType(t string) string {
	for of, name := range l.types {
		if t == of.String() || t == "*"+of.String() {
			return name
		}
	}
	if name, ok := typeNames[t]; ok {
		return name
	}
	if t == bytesType.String() {
		return "bytes"
	}
	if elem, ok := strings.CutPrefix(t, "[]"); ok {
		if strings.HasPrefix(elem, "*") {
			return "list of entries"
		}
		return "list of " + l.plainType(elem)
	}
	if elem, ok := strings.CutPrefix(t, "map[string]"); ok {
		return "map to " + l.plainType(elem)
	}
	return t
}
