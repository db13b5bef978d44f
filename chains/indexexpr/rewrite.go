package indexexpr

import (
	"encoding/hex"
	"fmt"
	"maps"
	"reflect"
	"regexp"
	"slices"
	"strings"

	"github.com/expr-lang/expr/ast"
	"github.com/expr-lang/expr/checker/nature"

	"birthmark/internal/suggest"
)

// kept are the functions of the expression library that are available: their result does not depend on time or machine,
// and their cost depends on their arguments. Those of this package are in functions.go.
var kept = map[string]Function{
	"all":           {"all(list, condition)", "true or false", "whether the condition is true for every entry; # is the entry, .field a field of it"},
	"any":           {"any(list, condition)", "true or false", "whether the condition is true for at least one entry"},
	"one":           {"one(list, condition)", "true or false", "whether it is true for exactly one entry"},
	"none":          {"none(list, condition)", "true or false", "whether it is false for every entry"},
	"filter":        {"filter(list, condition)", "list", "the entries for which it is true"},
	"map":           {"map(list, expression)", "list", "the results of the expression for each entry"},
	"find":          {"find(list, condition)", "an entry", "the first entry for which it is true, or nil"},
	"findLast":      {"findLast(list, condition)", "an entry", "the last such entry, or nil"},
	"findIndex":     {"findIndex(list, condition)", "number", "the position of the first entry for which it is true, from 0, or nil"},
	"findLastIndex": {"findLastIndex(list, condition)", "number", "the position of the last such entry, or nil"},
	"count":         {"count(list, condition)", "number", "the number of entries for which it is true"},
	"sum":           {"sum(list, expression)", "number", "the sum of the expression over the entries"},
	"first":         {"first(list)", "an entry", "the first entry; nil for an empty list"},
	"last":          {"last(list)", "an entry", "the last entry; nil for an empty list"},
	"take":          {"take(list, n)", "list", "the first n entries"},
	"get":           {"get(list, n)", "an entry", "the entry at position n, or of a map by its name; nil if it does not exist"},
	"abs":           {"abs(number)", "number", "the absolute value"},
	"min":           {"min(number, number)", "number", "the smallest number of the arguments or of a list"},
	"max":           {"max(number, number)", "number", "the largest number of the arguments or of a list"},
}

func isKept(name string) bool {
	_, ok := kept[name]
	return ok
}

// rewriter changes a parsed expression to the semantics of docs/indexes.md: bytes compare with text, missing things are
// nil and not an error, loops and functions have a cost. It records the first error.
type rewriter struct {
	language *Language
	types    map[ast.Node]reflect.Type // of nodes made here, which the checker has not visited yet
	err      *fault
}

func (r *rewriter) fail(at ast.Node, format string, args ...any) {
	if r.err == nil || at.Location().From < r.err.at {
		r.err = &fault{at.Location().From, fmt.Sprintf(format, args...)}
	}
}

// typeOf returns the type of a node, or any if it is unknown.
func (r *rewriter) typeOf(n ast.Node) reflect.Type {
	if t, ok := r.types[n]; ok {
		return t
	}
	return n.Type()
}

// call replaces a node by a call of a function of this package with a result of type t.
func (r *rewriter) call(node *ast.Node, t reflect.Type, function string, args ...ast.Node) {
	name := &ast.IdentifierNode{Value: function}
	name.SetLocation((*node).Location())
	n := &ast.CallNode{Callee: name, Arguments: args}
	ast.Patch(node, n)
	r.types[n] = t
}

// Visit implements [ast.Visitor]. Children come before their parents.
func (r *rewriter) Visit(node *ast.Node) {
	switch n := (*node).(type) {
	case *ast.IdentifierNode:
		if n.Value == "$env" {
			r.fail(n, "unknown name $env")
		}
	case *ast.MemberNode:
		r.member(node, n)
	case *ast.BinaryNode:
		r.binary(node, n)
	case *ast.SliceNode:
		r.slice(node, n)
	case *ast.UnaryNode:
		if n.Operator == "not" || n.Operator == "!" {
			r.truth(&n.Node)
		}
	case *ast.ConditionalNode:
		r.truth(&n.Cond)
	case *ast.BuiltinNode:
		if len(n.Arguments) == 2 && n.Name != "map" && n.Name != "sum" {
			if p, ok := n.Arguments[1].(*ast.PredicateNode); ok {
				r.truth(&p.Node)
			}
		}
		if !isKept(n.Name) {
			r.fail(n, "unknown function %s, %s", n.Name, hint(n.Name, functionNames))
		}
	case *ast.PredicateNode:
		t := r.typeOf(n.Node)
		r.call(&n.Node, t, "#step", n.Node)
	case *ast.CallNode:
		r.function(node, n)
	case *ast.VariableDeclaratorNode:
		if t, ok := r.types[n.Expr]; ok {
			r.types[n] = t
		}
	}
}

// member is a field of a struct, or an entry of a list or a map.
func (r *rewriter) member(node *ast.Node, n *ast.MemberNode) {
	base := r.typeOf(n.Node)
	of := base
	if of.Kind() == reflect.Pointer {
		of = of.Elem()
	}
	if of.Kind() != reflect.Struct {
		if n.Method || isFunction(base) {
			r.fail(n.Property, "%s has no methods: call a function, as in hex(output.data)", r.language.typeName(base))
			return
		}
		if _, ok := n.Property.(*ast.StringNode); ok && of.Kind() != reflect.Map && of.Kind() != reflect.Interface {
			r.fail(n.Property, "%s has no fields", r.language.typeName(of))
			return
		}
		get := &ast.BuiltinNode{Name: "get", Arguments: []ast.Node{n.Node, n.Property}}
		t := n.Type()
		ast.Patch(node, get)
		get.SetType(t)
		return
	}
	name, ok := n.Property.(*ast.StringNode)
	if !ok {
		r.fail(n.Property, "%s has fields and is not a list", r.language.typeName(of))
		return
	}
	if known := names(of); of != r.language.root && !slices.Contains(known, name.Value) {
		r.fail(name, "unknown field %s, %s", strings.TrimPrefix(r.path(n.Node)+"."+name.Value, "."), hint(name.Value, known))
		return
	}
	if !r.sure(n.Node) {
		// A missing entry has no fields.
		t := n.Type()
		n.Optional = true
		chain := &ast.ChainNode{Node: n}
		ast.Patch(node, chain)
		chain.SetType(t)
	}
}

func isFunction(t reflect.Type) bool { return t.Kind() == reflect.Func }

// path returns the source text of a node if it is a field.
func (r *rewriter) path(n ast.Node) string {
	switch n := n.(type) {
	case *ast.IdentifierNode:
		return n.Value
	case *ast.MemberNode:
		if name, ok := n.Property.(*ast.StringNode); ok {
			return strings.TrimPrefix(r.path(n.Node)+"."+name.Value, ".")
		}
	}
	return ""
}

// sure reports whether a node is never nil: a field of an output, a transaction or a block, or a literal.
func (r *rewriter) sure(n ast.Node) bool {
	switch n := n.(type) {
	case *ast.StringNode, *ast.BytesNode, *ast.IntegerNode, *ast.FloatNode, *ast.BoolNode:
		return true
	case *ast.IdentifierNode:
		return slices.Contains(levelNames[:], n.Value)
	case *ast.MemberNode:
		return !n.Optional && r.sure(n.Node) && r.typeOf(n.Node).Kind() == reflect.Struct
	}
	return false
}

// unicodeClass finds \p and \P that are not escaped by another backslash.
var unicodeClass = regexp.MustCompile(`(^|[^\\])(\\\\)*\\[pP]`)

// isScalar reports whether a type is bytes, text, number, bool, or unknown.
func isScalar(t reflect.Type) bool {
	_, ok := formOf(t)
	return ok
}

func (r *rewriter) binary(node *ast.Node, n *ast.BinaryNode) {
	left, right := r.typeOf(n.Left), r.typeOf(n.Right)
	if isFunction(left) || isFunction(right) {
		r.fail(n, "a function is called, as in hex(output.data)")
		return
	}
	_, nilLeft := n.Left.(*ast.NilNode)
	_, nilRight := n.Right.(*ast.NilNode)
	switch n.Operator {
	case "==", "!=":
		r.choice(n, n.Left, &n.Right)
		r.choice(n, n.Right, &n.Left)
		native := r.sure(n.Left) && r.sure(n.Right) && left == right && left != bytesType
		switch {
		case native:
		case nilLeft || nilRight:
			r.call(node, boolType, "#"+n.Operator, n.Left, n.Right)
		case !isScalar(left) || !isScalar(right):
			r.fail(n, "%s cannot be compared with %s", r.language.typeName(left), r.language.typeName(right))
		default:
			r.call(node, boolType, "#"+n.Operator, n.Left, n.Right)
		}
	case "<", "<=", ">", ">=":
		if left == bytesType || right == bytesType {
			r.call(node, boolType, "#"+n.Operator, n.Left, n.Right)
		}
	case "in":
		r.choices(n)
		if right.Kind() == reflect.Struct || right.Kind() == reflect.Pointer {
			r.fail(n, "operator in needs a list or a map, got %s", r.language.typeName(right))
			return
		}
		r.call(node, boolType, "#in", n.Left, n.Right)
	case "contains", "startsWith", "endsWith":
		if !r.sure(n.Left) || !r.sure(n.Right) || left != textType || right != textType {
			r.call(node, boolType, "#"+n.Operator, n.Left, n.Right)
		}
	case "matches":
		text, ok := n.Right.(*ast.StringNode)
		if !ok {
			r.fail(n.Right, "operator matches needs a regular expression in quotes")
			return
		}
		re, err := regexp.Compile(text.Value)
		switch {
		case err == nil && unicodeClass.MatchString(text.Value):
			r.fail(text, `classes of characters such as \pL change with the versions of Unicode: expected ranges such as [a-z]`)
			return
		case err != nil:
			r.fail(text, "%v", err)
			return
		}
		constant := &ast.ConstantNode{Value: re}
		constant.SetLocation(text.Location())
		r.call(node, boolType, "#matches", n.Left, constant)
	case "+":
		if !isNumber(left) || !isNumber(right) {
			t := anyType
			switch {
			case left == bytesType || right == bytesType:
				t = bytesType
			case left.Kind() == reflect.String && right.Kind() == reflect.String:
				t = textType
			}
			r.call(node, t, "#+", n.Left, n.Right)
		}
	case "??":
		t := anyType
		if left == right {
			t = left
		}
		r.call(node, t, "#??", n.Left, n.Right)
	case "and", "&&", "or", "||":
		r.truth(&n.Left)
		r.truth(&n.Right)
	case "..", "**", "^":
		r.fail(n, "unsupported operator %s", n.Operator)
	default:
		if t := n.Type(); t != anyType {
			r.types[n] = t
		}
	}
}

// truth makes a condition of a value of unknown type: it is true only if the value is true.
func (r *rewriter) truth(node *ast.Node) {
	if r.typeOf(*node).Kind() == reflect.Interface {
		r.call(node, boolType, "#true", *node)
	}
}

// choice checks a literal that is compared with a Choice field.
func (r *rewriter) choice(at ast.Node, field ast.Node, literal *ast.Node) {
	c, ok := r.language.choices[r.path(field)]
	text, isText := (*literal).(*ast.StringNode)
	if !ok || !isText || slices.Contains(c.Names, text.Value) {
		return
	}
	name, ok := c.Aliases[text.Value]
	if !ok {
		r.fail(text, "invalid value %q of %s: expected one of %s", text.Value, r.path(field), strings.Join(append(slices.Clone(c.Names), slices.Sorted(maps.Keys(c.Aliases))...), ", "))
		return
	}
	other := &ast.StringNode{Value: name}
	ast.Patch(literal, other)
	other.SetType(textType)
}

// choices checks the literals of a list in which a Choice field is searched.
func (r *rewriter) choices(n *ast.BinaryNode) {
	if list, ok := n.Right.(*ast.ArrayNode); ok {
		for i := range list.Nodes {
			r.choice(n, n.Left, &list.Nodes[i])
		}
	}
}

// slice is a part of bytes, a text or a list with clamped bounds.
func (r *rewriter) slice(node *ast.Node, n *ast.SliceNode) {
	t := r.typeOf(n.Node)
	if !r.sure(n.Node) {
		bound := func(b ast.Node) ast.Node {
			if b == nil {
				b = &ast.NilNode{}
				b.SetLocation(n.Location())
			}
			return b
		}
		r.call(node, t, "#slice", n.Node, bound(n.From), bound(n.To))
	}
}

// function is a call of a function of this package; constant parts are computed once.
func (r *rewriter) function(node *ast.Node, n *ast.CallNode) {
	name, ok := n.Callee.(*ast.IdentifierNode)
	if !ok {
		return
	}
	f, ok := functions[name.Value]
	if !ok {
		r.fail(n, "unknown function %s, %s", name.Value, hint(name.Value, functionNames))
		return
	}
	types := make([]reflect.Type, len(n.Arguments))
	for i, a := range n.Arguments {
		types[i] = r.typeOf(a)
	}
	if t, err := f.check(types); err == nil {
		r.types[n] = t
	}
	n.SetNature(nature.Nature{}) // otherwise the checker would not check the arguments again
	if literal, ok := firstOf(n.Arguments).(*ast.StringNode); ok && name.Value == "unhex" && len(n.Arguments) == 1 {
		b, err := hex.DecodeString(literal.Value)
		if err != nil {
			r.fail(literal, "invalid hex digits %q: expected pairs", shown(literal.Value))
			return
		}
		constant := &ast.BytesNode{Value: b}
		ast.Patch(node, constant)
		constant.SetType(bytesType)
	}
}

func firstOf(nodes []ast.Node) ast.Node {
	if len(nodes) == 0 {
		return nil
	}
	return nodes[0]
}

// hint suggests the most similar name, or lists all names.
func hint(name string, known []string) string {
	for _, k := range known {
		if strings.HasPrefix(k, name) {
			return "did you mean " + k + "?"
		}
	}
	if near, ok := suggest.Word(name, known); ok {
		return "did you mean " + near + "?"
	}
	return "expected one of " + strings.Join(known, ", ")
}
