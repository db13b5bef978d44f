package indexexpr

import (
	"bytes"
	"cmp"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/expr-lang/expr/ast"
)

// short is an expression that is computed without the library's machine: a condition, or the bytes, text or number of a
// value. One of the functions is set. They read the fields of the root in place and allocate nothing.
//
// Supported are fields, literals, slices of bytes with literal bounds, operators that compare them, and the logic
// between such conditions: most of what definitions evaluate for every output. Results equal those of the machine.
type short struct {
	condition func() bool
	bytes     func() []byte
	text      func() string
	number    func() int
}

// appendValue appends the value like [form.appendValue].
func (s *short) appendValue(to []byte) []byte {
	switch {
	case s.bytes != nil:
		return append(to, Shorten(s.bytes())...)
	case s.text != nil:
		return appendText(to, s.text())
	case s.number != nil:
		return strconv.AppendInt(to, int64(s.number()), 10)
	default:
		return strconv.AppendBool(to, s.condition())
	}
}

// shorten returns the short form of a checked and rewritten expression over the fields of root, or nil.
func shorten(root any, n ast.Node) *short {
	s := shortener{reflect.ValueOf(root).Elem()}
	if f := s.condition(n); f != nil {
		return &short{condition: f}
	}
	if f := s.bytes(n); f != nil {
		return &short{bytes: f}
	}
	if f := s.text(n); f != nil {
		return &short{text: f}
	}
	if f := s.number(n); f != nil {
		return &short{number: f}
	}
	return nil
}

type shortener struct{ root reflect.Value }

// field returns a pointer to a field of an output, a transaction or a block, or nil.
func (s shortener) field(n ast.Node) any {
	if v := s.value(n); v.IsValid() {
		return v.Addr().Interface()
	}
	return nil
}

// list returns a list field, or an invalid value.
func (s shortener) list(n ast.Node) reflect.Value {
	if v := s.value(n); v.IsValid() && v.Kind() == reflect.Slice {
		return v
	}
	return reflect.Value{}
}

// value returns a field of the root, or an invalid value.
func (s shortener) value(n ast.Node) (none reflect.Value) {
	m, ok := n.(*ast.MemberNode)
	if !ok {
		return none
	}
	level, isLevel := m.Node.(*ast.IdentifierNode)
	name, isName := m.Property.(*ast.StringNode)
	if !isLevel || !isName {
		return none
	}
	at := slices.Index(levelNames[:], level.Value)
	if at < 0 {
		return none
	}
	v := s.root.Field(at)
	i := slices.Index(names(v.Type()), name.Value)
	if i < 0 {
		return none
	}
	return v.Field(i)
}

func (s shortener) bytes(n ast.Node) func() []byte {
	switch n := n.(type) {
	case *ast.BytesNode:
		return func() []byte { return n.Value }
	case *ast.MemberNode:
		if p, ok := s.field(n).(*[]byte); ok {
			return func() []byte { return *p }
		}
	case *ast.SliceNode:
		of := s.bytes(n.Node)
		from, hasFrom := literalBound(n.From, 0)
		to, hasTo := literalBound(n.To, -1)
		if of == nil || !hasFrom || !hasTo {
			return nil
		}
		if n.To == nil {
			return func() []byte { b := of(); return cut(b, from, len(b)) }
		}
		return func() []byte { return cut(of(), from, to) }
	case *ast.BuiltinNode:
		return s.entry(n)
	case *ast.CallNode:
		if name, ok := n.Callee.(*ast.IdentifierNode); ok && name.Value == "#slice" {
			return s.bytes(&ast.SliceNode{Node: n.Arguments[0], From: given(n.Arguments[1]), To: given(n.Arguments[2])})
		}
	}
	return nil
}

// given returns the bound of a slice, or nil if it is omitted.
func given(n ast.Node) ast.Node {
	if _, ok := n.(*ast.NilNode); ok {
		return nil
	}
	return n
}

// entry is the entry of a list of bytes at a literal index.
func (s shortener) entry(n *ast.BuiltinNode) func() []byte {
	if n.Name != "get" {
		return nil
	}
	list, isList := s.field(n.Arguments[0]).(*[][]byte)
	at, isLiteral := literalBound(n.Arguments[1], 0)
	if !isList || !isLiteral {
		return nil
	}
	return func() []byte {
		i := at
		if i < 0 {
			i += len(*list)
		}
		if i < 0 || i >= len(*list) {
			return nil
		}
		return (*list)[i]
	}
}

// literalBound returns a literal bound of a slice, or the default for an omitted one.
func literalBound(n ast.Node, none int) (int, bool) {
	switch n := n.(type) {
	case nil:
		return none, true
	case *ast.IntegerNode:
		return n.Value, true
	case *ast.UnaryNode:
		if i, ok := n.Node.(*ast.IntegerNode); ok && n.Operator == "-" {
			return -i.Value, true
		}
	}
	return 0, false
}

// cut is a slice: negative bounds count from the end; bounds are clamped.
func cut(b []byte, from, to int) []byte {
	if from < 0 {
		from += len(b)
	}
	if to < 0 {
		to += len(b)
	}
	to = min(max(to, 0), len(b))
	return b[min(max(from, 0), to):to]
}

func (s shortener) text(n ast.Node) func() string {
	switch n := n.(type) {
	case *ast.StringNode:
		return func() string { return n.Value }
	case *ast.MemberNode:
		if p, ok := s.field(n).(*string); ok {
			return func() string { return *p }
		}
	}
	return nil
}

func (s shortener) number(n ast.Node) func() int {
	switch n := n.(type) {
	case *ast.IntegerNode:
		return func() int { return n.Value }
	case *ast.MemberNode:
		if p, ok := s.field(n).(*int); ok {
			return func() int { return *p }
		}
	case *ast.CallNode:
		if name, ok := n.Callee.(*ast.IdentifierNode); ok && name.Value == "len" && len(n.Arguments) == 1 {
			if of := s.bytes(n.Arguments[0]); of != nil {
				return func() int { return len(of()) }
			}
			if list := s.list(n.Arguments[0]); list.IsValid() {
				return list.Len
			}
		}
	}
	return nil
}

func (s shortener) condition(n ast.Node) func() bool {
	switch n := n.(type) {
	case *ast.BoolNode:
		return func() bool { return n.Value }
	case *ast.MemberNode:
		if p, ok := s.field(n).(*bool); ok {
			return func() bool { return *p }
		}
	case *ast.UnaryNode:
		if f := s.condition(n.Node); f != nil && (n.Operator == "not" || n.Operator == "!") {
			return func() bool { return !f() }
		}
	case *ast.BinaryNode:
		return s.operator(n)
	case *ast.CallNode:
		name, ok := n.Callee.(*ast.IdentifierNode)
		if !ok || len(n.Arguments) != 2 {
			return nil
		}
		return s.call(name.Value, n.Arguments[0], n.Arguments[1])
	}
	return nil
}

// operator is an operator left to the library: logic, numbers, and texts that are never nil.
func (s shortener) operator(n *ast.BinaryNode) func() bool {
	if a, b := s.condition(n.Left), s.condition(n.Right); a != nil && b != nil {
		switch n.Operator {
		case "and", "&&":
			return func() bool { return a() && b() }
		case "or", "||":
			return func() bool { return a() || b() }
		}
		return nil
	}
	if a, b := s.number(n.Left), s.number(n.Right); a != nil && b != nil {
		return comparison(n.Operator, a, b)
	}
	if a, b := s.text(n.Left), s.text(n.Right); a != nil && b != nil {
		switch n.Operator {
		case "contains":
			return func() bool { return strings.Contains(a(), b()) }
		case "startsWith":
			return func() bool { return strings.HasPrefix(a(), b()) }
		case "endsWith":
			return func() bool { return strings.HasSuffix(a(), b()) }
		}
		return comparison(n.Operator, a, b)
	}
	return nil
}

// comparison compares two numbers or texts.
func comparison[T cmp.Ordered](operator string, a, b func() T) func() bool {
	switch operator {
	case "==":
		return func() bool { return a() == b() }
	case "!=":
		return func() bool { return a() != b() }
	case "<":
		return func() bool { return a() < b() }
	case "<=":
		return func() bool { return a() <= b() }
	case ">":
		return func() bool { return a() > b() }
	case ">=":
		return func() bool { return a() >= b() }
	}
	return nil
}

// call is an operator of this package on bytes, with a literal on the right.
func (s shortener) call(name string, left, right ast.Node) func() bool {
	a := s.bytes(left)
	if name == "#in" {
		return s.in(a, s.text(left), right)
	}
	if a == nil {
		return nil
	}
	if _, ok := right.(*ast.NilNode); ok {
		switch name {
		case "#==":
			return func() bool { return len(a()) == 0 }
		case "#!=":
			return func() bool { return len(a()) > 0 }
		}
		return nil
	}
	b, ok := literal(right)
	if !ok {
		return nil
	}
	switch name {
	case "#==":
		return func() bool { return bytes.Equal(a(), b) }
	case "#!=":
		return func() bool { return !bytes.Equal(a(), b) }
	case "#startsWith":
		return func() bool { v := a(); return v != nil && bytes.HasPrefix(v, b) }
	case "#endsWith":
		return func() bool { v := a(); return v != nil && bytes.HasSuffix(v, b) }
	case "#contains":
		return func() bool { v := a(); return v != nil && bytes.Contains(v, b) }
	}
	return nil
}

// in searches bytes or a text in a list of literals.
func (s shortener) in(ofBytes func() []byte, ofText func() string, list ast.Node) func() bool {
	entries, ok := list.(*ast.ArrayNode)
	if !ok {
		return nil
	}
	var literals []string
	for _, n := range entries.Nodes {
		b, ok := literal(n)
		if !ok {
			return nil
		}
		literals = append(literals, string(b))
	}
	switch {
	case ofBytes != nil:
		return func() bool {
			v := ofBytes()
			return slices.ContainsFunc(literals, func(l string) bool { return string(v) == l })
		}
	case ofText != nil:
		return func() bool { return slices.Contains(literals, ofText()) }
	}
	return nil
}

func literal(n ast.Node) ([]byte, bool) {
	switch n := n.(type) {
	case *ast.StringNode:
		return []byte(n.Value), true
	case *ast.BytesNode:
		return n.Value, true
	}
	return nil, false
}
