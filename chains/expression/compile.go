package expression

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
	root   any // what its fields are read from
	code   *vm.Program
	vm     vm.VM
	result reflect.Type // nil where it is known only when the program has run
	elem   reflect.Type // of the entries, where the result is a list

	fields Set          // that have to be there before it runs
	nested map[Bit]bool // fields of lists' entries that it reads
}

// compile compiles an expression over the fields of root, a pointer to the language's struct. Its functions spend what
// the meter has.
func (l *Language) compile(text string, root any, m *meter) (*program, error) {
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
	p := &program{root: root, nested: map[Bit]bool{}}
	r := &rewriter{language: l, program: p, types: map[ast.Node]reflect.Type{}}
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
	if p.result = nature.Type; nature.Nil {
		return nil, &fault{0, "is never anything but nil"}
	}
	if nature.IsArray() && nature.Type != bytesType {
		elem := nature.Elem(&c.NtCache)
		p.elem = elem.Type
	}
	ast.Walk(&tree.Node, &user{r})
	if err := optimizer.Optimize(&tree.Node, c); err != nil {
		return nil, err
	}
	if p.code, err = compiler.Compile(tree, c); err != nil {
		return nil, err
	}
	return p, nil
}

// run computes the expression. Not ok where it cannot be: an entry beyond a list, a text of something else, more work
// than the meter has left.
func (p *program) run() (v any, ok bool) {
	v, err := p.vm.Run(p.code, p.root)
	return v, err == nil
}

// user marks what a checked tree reads. Unlike the rewriter it sees the final types.
type user struct{ *rewriter }

func (u *user) Visit(node *ast.Node) {
	if n, ok := (*node).(*ast.MemberNode); ok {
		if name, ok := n.Property.(*ast.StringNode); ok {
			u.use(n.Node.Type(), name.Value)
		}
	}
}

// use notes that a field of a struct is read.
func (r *rewriter) use(of reflect.Type, field string) {
	if of != nil && of.Kind() == reflect.Pointer {
		of = of.Elem()
	}
	b, ok := r.language.members[member{of, field}]
	if !ok {
		return
	}
	for _, level := range r.language.levels {
		if level.Has(b) && b < maxBits {
			r.program.fields |= 1 << b
			return
		}
	}
	r.program.nested[b] = true
}
