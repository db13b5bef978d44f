package indexexpr

import (
	"reflect"

	"github.com/expr-lang/expr/ast"
	"github.com/expr-lang/expr/builtin"
	"github.com/expr-lang/expr/checker"
	"github.com/expr-lang/expr/compiler"
	"github.com/expr-lang/expr/conf"
	"github.com/expr-lang/expr/optimizer"
	"github.com/expr-lang/expr/parser"
	"github.com/expr-lang/expr/vm"
)

// maxNodes is the maximum number of nodes of an expression.
const maxNodes = 2000

// program is one compiled expression. It belongs to one goroutine, since it contains its meter.
type program struct {
	parts  []part       // of a condition: parts that must all be true, in order; of a value: one part
	result reflect.Type // nil if it is known only at run time
	elem   reflect.Type // type of the entries if the result is a list
}

// part is computed in one step; the fields that it reads must be filled before.
type part struct {
	fields Set          // of the output, the transaction and the block
	nested map[Bit]bool // fields of list entries
	short  *short       // nil: use the expression machine
	code   *vm.Program
}

// compile compiles an expression over the fields of root, a pointer to the language's struct. Its functions spend from
// meter. A condition is split at its ands, so that fields of later parts are filled only if the earlier parts are true.
func (l *Language) compile(text string, condition bool, root any, m *meter) (*program, error) {
	c := conf.CreateNew()
	c.MaxNodes = maxNodes
	c.WithEnv(reflect.Zero(l.root).Interface()) // with a pointer the library would copy whole structs at run time
	for name := range c.Builtins {
		if !isKept(name) {
			delete(c.Builtins, name)
		}
	}
	for name, f := range m.functions() {
		c.Functions[name] = &builtin.Function{Name: name, Func: f.call, Validate: f.check}
	}
	r := &rewriter{language: l, types: map[ast.Node]reflect.Type{}}
	tree, err := parser.ParseWithConfig(text, c)
	if err != nil {
		return nil, err
	}
	// The first pass determines the types of the fields; its errors may disappear after rewriting.
	_, _ = checker.Check(tree, c)
	ast.Walk(&tree.Node, r)
	if r.err != nil {
		return nil, r.err
	}
	if _, err = checker.Check(tree, c); err != nil {
		return nil, err
	}
	nature := tree.Node.Nature()
	p := &program{result: nature.Type}
	if nature.Nil {
		return nil, &fault{0, "is always nil"}
	}
	if nature.IsArray() && nature.Type != bytesType {
		elem := nature.Elem(&c.NtCache)
		p.elem = elem.Type
	}
	all := []ast.Node{tree.Node}
	if condition {
		all = conjuncts(tree.Node, nil)
	}
	for _, n := range all {
		part := part{nested: map[Bit]bool{}, short: shorten(root, n)}
		ast.Walk(&n, &reading{l, &part})
		tree.Node = n
		if err := optimizer.Optimize(&tree.Node, c); err != nil {
			return nil, err
		}
		if part.code, err = compiler.Compile(tree, c); err != nil {
			return nil, err
		}
		p.parts = append(p.parts, part)
	}
	return p, nil
}

// conjuncts appends the conditions that an expression joins with and; any other expression is the only one.
func conjuncts(n ast.Node, to []ast.Node) []ast.Node {
	if b, ok := n.(*ast.BinaryNode); ok && (b.Operator == "and" || b.Operator == "&&") {
		return conjuncts(b.Right, conjuncts(b.Left, to))
	}
	return append(to, n)
}

// reading records which fields a checked tree reads.
type reading struct {
	language *Language
	part     *part
}

// Visit implements [ast.Visitor].
func (r *reading) Visit(node *ast.Node) {
	n, ok := (*node).(*ast.MemberNode)
	if !ok {
		return
	}
	name, ok := n.Property.(*ast.StringNode)
	if !ok {
		return
	}
	of := n.Node.Type()
	if of.Kind() == reflect.Pointer {
		of = of.Elem()
	}
	b, ok := r.language.members[member{of, name.Value}]
	switch {
	case !ok:
	case r.language.isTop(b):
		r.part.fields |= 1 << b
	default:
		r.part.nested[b] = true
	}
}
