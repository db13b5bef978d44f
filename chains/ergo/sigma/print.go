package sigma

import (
	"encoding/hex"
	"errors"
	"fmt"
	"strconv"
	"strings"
)

// errCut ends the printing of a tree whose text is too long.
var errCut = errors.New("the text is too long")

// printer writes expressions as text while it reads them. Their operands are serialized in the order in which ErgoScript
// writes them.
type printer struct {
	reader
	out       strings.Builder
	most      int
	constants []string // of the tree, as text
	indent    int
}

// maxConstantText is the number of characters of a constant in the text of a tree.
const maxConstantText = 200

// Print writes an ErgoTree in the manner of ErgoScript, in at most most bytes: val $1 is the definition 1 of the tree, and
// an operation without a sign is a function. whole is false if the text is cut. The text is empty if the tree cannot be
// parsed; what follows a cut text is not parsed.
func Print(tree []byte, most int) (text string, whole bool) {
	parsed, err := ParseTree(tree)
	if err != nil {
		return "", false
	}
	constants, err := TreeConstants(tree)
	if err != nil {
		return "", false
	}
	p := printer{reader: reader{b: parsed.Template}, most: most}
	for _, raw := range constants {
		p.constants = append(p.constants, constantText(raw))
	}
	p.expression()
	if p.err == nil && p.at < len(p.b) {
		return "", false
	}
	switch {
	case p.err == nil:
		return p.out.String(), true
	case errors.Is(p.err, errCut):
		return strings.ToValidUTF8(p.out.String(), ""), false
	}
	return "", false
}

// write appends text. It ends the printing if that is too long.
func (p *printer) write(text string) {
	if p.err != nil {
		return
	}
	if left := p.most - p.out.Len(); len(text) > left {
		p.out.WriteString(text[:max(left, 0)])
		p.err, p.at = errCut, len(p.b)
		return
	}
	p.out.WriteString(text)
}

func (p *printer) line() { p.write("\n" + strings.Repeat("  ", min(p.indent, 20))) }

// constantText returns a constant as ErgoScript writes it, long ones in part.
func constantText(raw []byte) string {
	value, ok := Value(raw)
	kind := TypeName(raw)
	text := ""
	switch {
	case !ok || value == nil:
		text = kind + "(0x" + hex.EncodeToString(raw) + ")"
	case kind == "SigmaProp":
		text = "PK(" + valueText(value) + ")"
	case kind == "Long":
		text = valueText(value) + "L"
	default:
		text = valueText(value)
		if _, isList := value.([]any); isList && strings.HasPrefix(kind, "Coll") {
			text = kind + text
		}
	}
	if len(text) > maxConstantText {
		return strings.ToValidUTF8(text[:maxConstantText], "") + "…"
	}
	return text
}

func valueText(value any) string {
	switch v := value.(type) {
	case []byte:
		return "0x" + hex.EncodeToString(v)
	case string:
		return strconv.Quote(v)
	case BigInt:
		return string(v)
	case []any:
		var b strings.Builder
		b.WriteByte('(')
		for i, item := range v {
			if b.Len() > maxConstantText {
				break
			}
			if i > 0 {
				b.WriteString(", ")
			}
			b.WriteString(valueText(item))
		}
		b.WriteByte(')')
		return b.String()
	}
	return fmt.Sprint(value)
}

// expression writes the next expression.
func (p *printer) expression() {
	defer p.leave()
	if !p.enter() {
		return
	}
	if p.peek() <= lastConstantCode {
		start := p.at
		if p.skipConstant(); p.err == nil {
			p.write(constantText(p.b[start:p.at]))
		}
		return
	}
	switch c := p.byte("expression"); c {
	case codeTuple:
		p.write("(")
		p.list(int(p.byte("number of items")), ", ")
		p.write(")")
	case codeCollection:
		n := p.length(maxCollection, "number of items")
		p.write("Coll[" + p.typeText() + "](")
		p.list(n, ", ")
		p.write(")")
	case codeBooleans:
		n := p.length(maxCollection, "number of booleans")
		bits := p.take((n+7)/8, "booleans")
		p.write("Coll[Boolean](")
		for i := 0; i < n && p.err == nil; i++ {
			p.separate(i, ", ")
			p.boolean(bits[i/8]>>(i%8)&1 != 0)
		}
		p.write(")")
	case codePropertyCall, codeMethodCall:
		p.call(c)
	case codePlaceholder:
		if i := p.uint("number of a constant"); i < uint64(len(p.constants)) {
			p.write(p.constants[i])
		} else {
			p.fail("constant %d of %d", i, len(p.constants))
		}
	case codeBlock:
		p.block()
	case codeFunction:
		p.function()
	case codeApply:
		p.expression()
		p.write("(")
		p.list(p.length(uint64(len(p.b)), "number of values"), ", ")
		p.write(")")
	default:
		if !operands[c].known {
			p.fail("unknown expression %#x", c)
			return
		}
		p.operation(operands[c].list, forms[c])
	}
}

func (p *printer) typeText() string {
	t := p.readType(0)
	if p.err != nil {
		return ""
	}
	return t.String()
}

func (p *printer) boolean(is bool) { p.write(strconv.FormatBool(is)) }

func (p *printer) separate(i int, separator string) {
	if i > 0 {
		p.write(separator)
	}
}

// list writes n expressions.
func (p *printer) list(n int, separator string) {
	for i := 0; i < n && p.err == nil; i++ {
		p.separate(i, separator)
		p.expression()
	}
}

// call writes a property or the call of a method.
func (p *printer) call(code byte) {
	method := [2]byte{p.byte("type"), p.byte("method")}
	p.expression()
	name := methods[method]
	if name == "" {
		name = fmt.Sprintf("method_%d_%d", method[0], method[1])
	}
	p.write("." + name)
	if code == codeMethodCall {
		p.write("(")
		p.list(p.length(uint64(len(p.b)), "number of arguments"), ", ")
		p.write(")")
	}
	if explicitTypes[method] {
		p.write("[" + p.typeText() + "]")
	}
}

// block writes definitions and a result.
func (p *printer) block() {
	p.write("{")
	p.indent++
	for n := p.length(uint64(len(p.b)), "number of values"); n > 0 && p.err == nil; n-- {
		p.line()
		p.expression()
	}
	p.line()
	p.expression()
	p.indent--
	p.line()
	p.write("}")
}

// function writes a function without a name.
func (p *printer) function() {
	p.write("{ (")
	n := p.length(uint64(len(p.b)), "number of arguments")
	for i := 0; i < n && p.err == nil; i++ {
		p.separate(i, ", ")
		p.write("$" + strconv.FormatUint(p.uint("argument"), 10) + ": " + p.typeText())
	}
	p.write(") => ")
	p.expression()
	p.write(" }")
}

// operation writes operands between the parts of a form. A form with fewer places than operands is a function.
func (p *printer) operation(list, form string) {
	rest := form
	next := func() {
		before, after, _ := strings.Cut(rest, "§")
		p.write(before)
		rest = after
	}
	for _, operand := range list {
		if p.err != nil {
			return
		}
		switch operand {
		case operandOption:
			if p.byte("option") != 0 {
				p.write(", ")
				p.expression()
			}
			continue
		case operandPair:
			next()
			if p.peek() != codeBooleans {
				p.expression()
				next()
				p.expression()
				continue
			}
			if bits := p.take(2, "booleans"); bits != nil {
				p.boolean(bits[1]&1 != 0)
				next()
				p.boolean(bits[1]&2 != 0)
			}
			continue
		}
		next()
		switch operand {
		case operandValue:
			p.expression()
		case operandValues:
			separator := ", "
			if own, found := strings.CutPrefix(rest, "¦"); found {
				separator, rest, _ = strings.Cut(own, "¦")
			}
			p.list(p.length(uint64(len(p.b)), "number of values"), separator)
		case operandType:
			p.write(p.typeText())
		case operandTypes:
			for n := p.byte("number of types"); n > 0 && p.err == nil; n-- {
				p.write("[" + p.typeText() + "]")
			}
		case operandByte:
			p.write(strconv.Itoa(int(p.byte("operand"))))
		case operandNumber:
			p.write(strconv.FormatUint(p.uint("operand"), 10))
		}
	}
	p.write(rest)
}
