package sigma

// Codes of expressions that are values by themselves (EvaluatedValue in the reference implementation). Registers and
// variables contain one of these or a constant, whose first byte is its type.
const (
	lastConstantCode = 112

	codeTrueLeaf     = 0x7f
	codeFalseLeaf    = 0x80
	codeGenerator    = 0x82
	codeCollection   = 0x83
	codeBooleans     = 0x85
	codeTuple        = 0x86
	codePropertyCall = 0xdb
	codeMethodCall   = 0xdc
)

// Operands of expressions, in the order in which they are serialized.
const (
	operandValue     = 'v'
	operandValues    = 'V' // a number, and as many values
	operandOption    = 'o' // a byte, and a value unless it is 0
	operandType      = 't'
	operandTypes     = 'T' // a byte, and as many types
	operandByte      = 'b'
	operandNumber    = 'u'
	operandPair      = 'r' // two values, or [codeBooleans] and two bits
	operandArguments = 'a' // a number, and as many pairs of a number and a type
)

// operands are the operands of expressions by their code, as the serializers of the reference implementation read
// them. Codes without a serializer are absent, and those of calls, tuples and collections have code of their own.
var operands = [256]struct {
	known bool
	list  string
}{
	0x71: {true, "bt"},                                      // variable
	0x72: {true, "u"},                                       // use of a definition
	0x73: {true, "u"},                                       // placeholder of a constant
	0x74: {true, "vvv"},                                     // substitution of constants
	0x7a: {true, "v"}, 0x7b: {true, "v"}, 0x7c: {true, "v"}, // numbers from and to bytes
	0x7d: {true, "vt"}, 0x7e: {true, "vt"}, // casts
	codeTrueLeaf: {true, ""}, codeFalseLeaf: {true, ""}, codeGenerator: {true, ""},
	0x8c: {true, "vb"}, // field of a tuple
	0x8f: {true, "r"}, 0x90: {true, "r"}, 0x91: {true, "r"}, 0x92: {true, "r"}, 0x93: {true, "r"}, 0x94: {true, "r"},
	0x95:    {true, "vvv"}, // if
	codeAnd: {true, "v"}, codeOr: {true, "v"}, codeAtLeast: {true, "vv"},
	0x99: {true, "vv"}, 0x9a: {true, "vv"}, 0x9b: {true, "vv"}, 0x9c: {true, "vv"}, 0x9d: {true, "vv"}, // arithmetic
	0x9e: {true, "vv"}, 0x9f: {true, "vv"}, 0xa0: {true, "vv"}, 0xa1: {true, "vv"}, 0xa2: {true, "vv"},
	0xa3: {true, ""}, 0xa4: {true, ""}, 0xa5: {true, ""}, 0xa6: {true, ""}, 0xa7: {true, ""}, 0xac: {true, ""}, // context
	0xad: {true, "vv"}, 0xae: {true, "vv"}, 0xaf: {true, "vv"}, 0xb0: {true, "vvv"}, 0xb1: {true, "v"}, // collections
	0xb2: {true, "vvo"}, 0xb3: {true, "vv"}, 0xb4: {true, "vvv"}, 0xb5: {true, "vv"},
	0xb6: {true, "vvvv"}, 0xb7: {true, "vvv"}, // AVL trees
	0xc1: {true, "v"}, 0xc2: {true, "v"}, 0xc3: {true, "v"}, 0xc4: {true, "v"}, 0xc5: {true, "v"}, // parts of boxes
	0xc6: {true, "vbt"}, 0xc7: {true, "v"},
	0xcb: {true, "v"}, 0xcc: {true, "v"}, // hashes
	codeProveDlog: {true, "v"}, codeProveDHT: {true, "vvvv"}, 0xcf: {true, "v"}, 0xd0: {true, "v"}, 0xd1: {true, "v"},
	0xd4: {true, "tb"}, 0xd5: {true, "bto"}, // deserialization
	0xd6: {true, "uv"}, 0xd7: {true, "uTv"}, 0xd8: {true, "Vv"}, 0xd9: {true, "av"}, 0xda: {true, "vV"}, // functions
	0xdd: {true, ""},                                                             // global
	0xe3: {true, "bt"}, 0xe4: {true, "v"}, 0xe5: {true, "vv"}, 0xe6: {true, "v"}, // options
	0xe7: {true, "v"}, 0xe8: {true, "vv"}, 0xe9: {true, "vv"}, // modular arithmetic
	0xea: {true, "V"}, 0xeb: {true, "V"}, 0xec: {true, "r"}, 0xed: {true, "r"},
	0xee: {true, "v"}, 0xef: {true, "v"}, 0xf0: {true, "v"}, 0xf1: {true, "v"}, 0xf2: {true, "vv"}, 0xf3: {true, "vv"},
	0xf4: {true, "r"}, 0xf5: {true, "vv"}, 0xf6: {true, "vv"}, 0xf7: {true, "vv"}, 0xf8: {true, "vv"},
	0xfe: {true, ""}, 0xff: {true, "v"},
}

// explicitTypes are the methods, by type and number, whose calls end with a type: getReg of boxes, getVarFromInput of
// the context, and deserializeTo, fromBigEndianBytes, some and none, all of version 6.
var explicitTypes = map[[2]byte]bool{
	{typeBox, 19}: true, {typeContext, 12}: true,
	{typeGlobal, 4}: true, {typeGlobal, 5}: true, {typeGlobal, 9}: true, {typeGlobal, 10}: true,
}

// enter goes one level deeper. The caller calls leave, also after a failure.
func (r *reader) enter() bool {
	r.steps++
	if r.level++; r.level > maxLevel {
		r.fail("more than %d nested values", maxLevel)
	}
	if r.steps > maxSteps+4*len(r.b) {
		r.fail("nested scripts need more than %d steps", r.steps)
	}
	return r.err == nil
}

func (r *reader) leave() { r.level-- }

// peek returns the next byte, 0 at the end.
func (r *reader) peek() byte {
	if r.at < len(r.b) {
		return r.b[r.at]
	}
	return 0
}

// skipEvaluated skips the value of a register or of a variable: a constant or an expression that is a value. Parts of
// such an expression can be any expression, as in the reference implementation.
func (r *reader) skipEvaluated() {
	switch c := r.peek(); {
	case c <= lastConstantCode, c == codeTrueLeaf, c == codeFalseLeaf, c == codeGenerator,
		c == codeCollection, c == codeBooleans, c == codeTuple:
		r.skipExpression()
	default:
		r.fail("expression %#x cannot be a value", c)
	}
}

// skipExpression skips an expression with its parts.
func (r *reader) skipExpression() {
	defer r.leave()
	if !r.enter() {
		return
	}
	if r.peek() <= lastConstantCode {
		r.skipConstant()
		return
	}
	switch c := r.byte("expression"); c {
	case codeTuple:
		r.skipExpressions(int(r.byte("number of items")))
	case codeCollection:
		n := r.length(maxCollection, "number of items")
		r.readType(0)
		r.skipExpressions(n)
	case codeBooleans:
		r.take((r.length(maxCollection, "number of booleans")+7)/8, "booleans")
	case codePropertyCall, codeMethodCall:
		method := [2]byte{r.byte("type"), r.byte("method")}
		r.skipExpression()
		if c == codeMethodCall {
			r.skipExpressions(r.length(uint64(len(r.b)), "number of arguments"))
		}
		if explicitTypes[method] {
			r.readType(0)
		}
	default:
		if !operands[c].known {
			r.fail("unknown expression %#x", c)
		}
		for _, operand := range operands[c].list {
			r.skipOperand(operand)
		}
	}
}

func (r *reader) skipExpressions(n int) {
	for ; n > 0 && r.err == nil; n-- {
		r.skipExpression()
	}
}

func (r *reader) skipOperand(operand rune) {
	if r.err != nil {
		return
	}
	switch operand {
	case operandValue:
		r.skipExpression()
	case operandValues:
		r.skipExpressions(r.length(uint64(len(r.b)), "number of values"))
	case operandOption:
		if r.byte("option") != 0 {
			r.skipExpression()
		}
	case operandType:
		r.readType(0)
	case operandTypes:
		for n := r.byte("number of types"); n > 0 && r.err == nil; n-- {
			r.readType(0)
		}
	case operandByte:
		r.byte("operand")
	case operandNumber:
		r.uint("operand")
	case operandPair:
		if r.peek() == codeBooleans {
			r.take(2, "booleans")
			return
		}
		r.skipExpressions(2)
	case operandArguments:
		for n := r.length(uint64(len(r.b)), "number of arguments"); n > 0 && r.err == nil; n-- {
			r.uint("argument")
			r.readType(0)
		}
	}
}

// skipTree skips an ErgoTree. The size in a tree is for readers that do not know its language: see [ParseTree].
func (r *reader) skipTree() {
	header := r.byte("header of the tree")
	size := -1
	if header&treeHasSize != 0 {
		size = r.length(uint64(len(r.b)), "size of the tree")
	}
	if r.err != nil {
		return
	}
	body := *r
	if header&treeSegregation != 0 {
		for n := body.length(maxConstants, "number of constants"); n > 0 && body.err == nil; n-- {
			body.skipConstant()
		}
	}
	body.skipExpression()
	r.steps = body.steps
	switch {
	case body.err == nil:
		r.at = body.at
	case size >= 0:
		r.take(size, "ErgoTree")
	default:
		r.err, r.at = body.err, len(r.b)
	}
}

// skipBox skips a box with its transaction and its position, as box constants are serialized.
func (r *reader) skipBox() {
	r.uint("value of a box")
	r.skipTree()
	r.uint("creation height")
	for n := r.byte("number of tokens"); n > 0 && r.err == nil; n-- {
		r.take(len(ID{}), "token")
		r.uint("amount of a token")
	}
	for n := r.byte("number of registers"); n > 0 && r.err == nil; n-- {
		r.skipEvaluated()
	}
	r.take(len(ID{}), "transaction of a box")
	r.uint("position of a box")
}
