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

// maxNodes is the most an expression can consist of.
const maxNodes = 2000

// program is one compiled expression. It belongs to one goroutine, its meter being in it.
type program struct {
	parts  []part       // of a condition those that all have to hold, in their order; of a value one
	result reflect.Type // nil where it is known only when the program has run
	elem   reflect.Type // of the entries, where the result is a list
}

// part is what is computed at once: what it reads has to be there before.
type part struct {
	fields Set          // of the output, the transaction and the block
	nested map[Bit]bool // of entries of lists
	short  *short       // nil: it takes the machine
	code   *vm.Program
}

// compile compiles an expression over the fields of root, a pointer to the language's struct. Its functions spend what
// the meter has. A condition is taken apart, so that what its last part reads is there only where the others hold.
func (l *Language) compile(text string, condition bool, root any, m *meter) (*program, error) {
	c := conf.CreateNew()
	c.MaxNodes = maxNodes
	c.WithEnv(reflect.Zero(l.root).Interface()) // of a pointer the library would copy whole structs where it runs
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
	// Once to learn the types of the fields; what it finds wrong may be right when it is rewritten.
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
		return nil, &fault{0, "is never anything but nil"}
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

// conjuncts appends the conditions that an expression joins by and; of any other it is the only one.
func conjuncts(n ast.Node, to []ast.Node) []ast.Node {
	if b, ok := n.(*ast.BinaryNode); ok && (b.Operator == "and" || b.Operator == "&&") {
		return conjuncts(b.Right, conjuncts(b.Left, to))
	}
	return append(to, n)
}

// reading notes what a checked tree reads.
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
