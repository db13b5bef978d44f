package cardano

import (
	"encoding/hex"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/blinklabs-io/plutigo/data"
	"github.com/blinklabs-io/plutigo/syn"

	"birthmark/chains/cardano/cbor"
)

// mostPlutus is the size in bytes of the largest Plutus script that is written as text: the protocol limits transactions
// to 16 KiB. Reading a script takes memory of a stack with its nesting, at most two levels per byte.
const mostPlutus = 16 << 10

// Columns of a text: what fits within plutusWidth is on one line. A line is indented by one column per term around it,
// at most by plutusIndent: scripts from compilers are nested hundreds of levels deep.
const (
	plutusWidth  = 100
	plutusIndent = 40
)

// printPlutus writes a script of Plutus in the textual syntax of the specification of Plutus Core, with at most most
// bytes. Variables are named after the number of functions around them. A function that is applied at its place is
// written as its variables: [(lam v0 (lam v1 c)) a b] has the lines let v0 = a, and v1 = b, and c. text is empty if the
// script is malformed.
func printPlutus(code []byte, most int) (text string, whole bool) {
	if len(code) > mostPlutus {
		return "", false
	}
	// The program is in a byte string, and most tools put this into another one.
	for {
		w := cbor.Walker{Data: code}
		inner := w.Bytes("script")
		if w.Err != nil || w.Offset < len(code) {
			break
		}
		code = inner
	}
	program, err := syn.DecodeDeBruijn(code)
	if err != nil {
		return "", false
	}
	p := plutusPrinter{most: most}
	p.add(fmt.Sprintf("(program %d.%d.%d", program.Version[0], program.Version[1], program.Version[2]))
	p.newLine(1)
	p.term(program.Term, 1, 0)
	p.add(")")
	return p.text.String(), !p.cut
}

// plutusPrinter writes terms until its text has most bytes.
type plutusPrinter struct {
	text   strings.Builder
	most   int
	column int // of the end of text
	cut    bool
	failed bool // one line was expected to be enough
	single bool // write everything on one line, which ends at column plutusWidth
}

func (p *plutusPrinter) add(s string) {
	p.column += len(s)
	if p.single && p.column > plutusWidth {
		p.failed = true
	}
	p.cut = p.cut || p.text.Len()+len(s) > p.most
	if !p.stopped() {
		p.text.WriteString(s)
	}
}

func (p *plutusPrinter) stopped() bool { return p.cut || p.failed }

// newLine begins a line inside of depth others.
func (p *plutusPrinter) newLine(depth int) {
	if p.single {
		p.add(" ")
		return
	}
	indent := min(depth, plutusIndent)
	p.add("\n" + strings.Repeat(" ", indent))
	p.column = indent
}

// fits reports whether write fits into the rest of the line, and then has written it.
func (p *plutusPrinter) fits(write func(p *plutusPrinter)) bool {
	if p.single {
		return false
	}
	line := plutusPrinter{most: math.MaxInt, column: p.column, single: true} // it has at most plutusWidth bytes
	if write(&line); line.failed {
		return false
	}
	p.add(line.text.String())
	return true
}

// term writes a term inside of depth others, and inside of vars functions.
func (p *plutusPrinter) term(t syn.Term[syn.DeBruijn], depth, vars int) {
	if p.stopped() || p.fits(func(line *plutusPrinter) { line.term(t, depth, vars) }) {
		return
	}
	switch t := t.(type) {
	case *syn.Var[syn.DeBruijn]:
		p.add(plutusVariable(t.Name, vars))
	case *syn.Lambda[syn.DeBruijn]:
		p.add("(lam v" + strconv.Itoa(vars))
		p.body(t.Body, depth, vars+1)
	case *syn.Delay[syn.DeBruijn]:
		p.add("(delay")
		p.body(t.Term, depth, vars)
	case *syn.Force[syn.DeBruijn]:
		p.add("(force")
		p.body(t.Term, depth, vars)
	case *syn.Apply[syn.DeBruijn]:
		var arguments []syn.Term[syn.DeBruijn]
		function := syn.Term[syn.DeBruijn](t)
		for a := t; a != nil; a, _ = function.(*syn.Apply[syn.DeBruijn]) {
			arguments, function = append(arguments, a.Argument), a.Function
		}
		slices.Reverse(arguments)
		if body, ok := applied(function, len(arguments)); ok {
			p.let(arguments, body, depth, vars)
			return
		}
		p.add("[")
		p.term(function, depth, vars)
		p.terms(arguments, depth, vars)
		p.add("]")
	case *syn.Constr[syn.DeBruijn]:
		p.add("(constr " + strconv.FormatUint(uint64(t.Tag), 10))
		p.terms(t.Fields, depth, vars)
		p.add(")")
	case *syn.Case[syn.DeBruijn]:
		p.add("(case ")
		p.term(t.Constr, depth, vars)
		p.terms(t.Branches, depth, vars)
		p.add(")")
	case *syn.Builtin:
		p.add("(builtin " + t.String() + ")")
	case *syn.Error:
		p.add("(error)")
	case *syn.Constant:
		p.add("(con " + plutusType(t.Con.Typ()) + " ")
		if _, is := t.Con.(*syn.Data); is {
			p.add("(")
			p.constant(t.Con, depth)
			p.add(")")
		} else {
			p.constant(t.Con, depth)
		}
		p.add(")")
	}
}

// applied returns the body of a function of n variables.
func applied(function syn.Term[syn.DeBruijn], n int) (body syn.Term[syn.DeBruijn], ok bool) {
	for body = function; n > 0; n-- {
		l, is := body.(*syn.Lambda[syn.DeBruijn])
		if !is {
			return nil, false
		}
		body = l.Body
	}
	return body, true
}

// let writes an applied function. Its lines are not indented: scripts have hundreds of variables.
func (p *plutusPrinter) let(values []syn.Term[syn.DeBruijn], body syn.Term[syn.DeBruijn], depth, vars int) {
	if p.single {
		p.failed = true
		return
	}
	for i, value := range values {
		if p.stopped() {
			return
		}
		word := "and"
		if i == 0 {
			word = "let"
		}
		p.add(word + " v" + strconv.Itoa(vars+i) + " = ")
		p.term(value, depth+1, vars)
		p.newLine(depth)
	}
	p.term(body, depth, vars+len(values))
}

// body writes the only part of a term and its end: on the same line if it begins with such a term itself.
func (p *plutusPrinter) body(t syn.Term[syn.DeBruijn], depth, vars int) {
	switch t.(type) {
	case *syn.Lambda[syn.DeBruijn], *syn.Delay[syn.DeBruijn], *syn.Force[syn.DeBruijn]:
		p.add(" ")
		p.term(t, depth, vars)
	default:
		p.newLine(depth + 1)
		p.term(t, depth+1, vars)
	}
	p.add(")")
}

func (p *plutusPrinter) terms(list []syn.Term[syn.DeBruijn], depth, vars int) {
	for _, t := range list {
		if p.stopped() {
			return
		}
		p.newLine(depth + 1)
		p.term(t, depth+1, vars)
	}
}

// plutusVariable returns the name of the variable of the function that is index functions outside, from 1.
func plutusVariable(index syn.DeBruijn, vars int) string {
	if index < 1 || uint64(index) > uint64(vars) {
		return "unbound" + strconv.FormatUint(uint64(index), 10)
	}
	return "v" + strconv.Itoa(vars-int(index))
}

func plutusType(t syn.Typ) string {
	switch t := t.(type) {
	case *syn.TInteger:
		return "integer"
	case *syn.TByteString:
		return "bytestring"
	case *syn.TString:
		return "string"
	case *syn.TUnit:
		return "unit"
	case *syn.TBool:
		return "bool"
	case *syn.TData:
		return "data"
	case *syn.TList:
		return "(list " + plutusType(t.Typ) + ")"
	case *syn.TPair:
		return "(pair " + plutusType(t.First) + " " + plutusType(t.Second) + ")"
	}
	return "unknown"
}

// constant writes a value without its type.
func (p *plutusPrinter) constant(c syn.IConstant, depth int) {
	if p.stopped() || p.fits(func(line *plutusPrinter) { line.constant(c, depth) }) {
		return
	}
	switch c := c.(type) {
	case *syn.Integer:
		p.add(c.Inner.String())
	case *syn.ByteString:
		p.add("#" + hex.EncodeToString(c.Inner))
	case *syn.String:
		p.add(plutusString(c.Inner))
	case *syn.Unit:
		p.add("()")
	case *syn.Bool:
		if c.Inner {
			p.add("True")
		} else {
			p.add("False")
		}
	case *syn.ProtoList:
		plutusList(p, c.List, depth, p.constant)
	case *syn.ProtoPair:
		p.add("(")
		p.constant(c.First, depth+1)
		p.add(", ")
		p.constant(c.Second, depth+1)
		p.add(")")
	case *syn.Data:
		p.data(c.Inner, depth)
	}
}

// plutusList writes the items of a list.
func plutusList[T any](p *plutusPrinter, list []T, depth int, write func(item T, depth int)) {
	p.add("[")
	for i, item := range list {
		if p.stopped() {
			return
		}
		switch {
		case i > 0:
			p.add(",")
			p.newLine(depth + 1)
		case !p.single:
			p.newLine(depth + 1)
		}
		write(item, depth+1)
	}
	p.add("]")
}

// data writes a value of the type data.
func (p *plutusPrinter) data(d data.PlutusData, depth int) {
	if p.stopped() || p.fits(func(line *plutusPrinter) { line.data(d, depth) }) {
		return
	}
	switch d := d.(type) {
	case *data.Integer:
		p.add("I " + d.Inner.String())
	case *data.ByteString:
		p.add("B #" + hex.EncodeToString(d.Inner))
	case *data.List:
		p.add("List ")
		plutusList(p, d.Items, depth, p.data)
	case *data.Map:
		p.add("Map ")
		plutusList(p, d.Pairs, depth, func(pair [2]data.PlutusData, depth int) {
			p.add("(")
			p.data(pair[0], depth)
			p.add(", ")
			p.data(pair[1], depth)
			p.add(")")
		})
	case *data.Constr:
		p.add("Constr " + strconv.FormatUint(uint64(d.Tag), 10) + " ")
		plutusList(p, d.Fields, depth, p.data)
	}
}

// plutusString quotes a text. Characters that are not printable are written as code points.
func plutusString(s string) string {
	var b strings.Builder
	for _, r := range s {
		switch {
		case r == '"' || r == '\\':
			b.WriteString(`\` + string(r))
		case strconv.IsPrint(r):
			b.WriteRune(r)
		case r <= 0xffff:
			fmt.Fprintf(&b, `\u%04x`, r)
		default:
			fmt.Fprintf(&b, `\x%06x`, r)
		}
	}
	return `"` + b.String() + `"`
}
