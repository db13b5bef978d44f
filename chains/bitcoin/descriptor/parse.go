package descriptor

import (
	"encoding/hex"
	"slices"
	"strconv"
	"strings"
)

// IsMeant reports whether a text is meant as an extended key or a descriptor, or contains a private key, and not an
// address, which has at most 90 characters (BIP 173) and no brackets.
func IsMeant(text string) bool {
	return strings.ContainsRune(text, '(') || len(text) > 90 && strings.Trim(text, base58Digits) == "" || HasPrivateKey(text)
}

// Parse reads an extended public key, or a descriptor with its checksum or without. Errors are of kind [model.Usage]:
// bad_wallet, or private_key. They do not contain the text, which others must not see in logs.
func Parse(text string, n *Network) (*Descriptor, error) {
	if HasPrivateKey(text) {
		return nil, errPrivate
	}
	if !strings.ContainsRune(text, '(') {
		return parseExtended(text, n)
	}
	body, err := cutChecksum(text)
	if err != nil {
		return nil, err
	}
	p := &parser{net: n, branches: 1}
	outputs, err := p.expression(body, atTop)
	if err != nil {
		return nil, err
	}
	d := &Descriptor{outputs: outputs, keys: p.keys, branches: make([][][]byte, p.branches)}
	if kind, ok := accountKind(body); ok && d.Ranged() {
		k := p.keys[0]
		d.account = &Account{kind, k.root, k.origin, k.paths}
	}
	return d, nil
}

// parseExtended reads an extended public key, which has the branches 0 and 1.
func parseExtended(text string, n *Network) (*Descriptor, error) {
	_, v, err := n.extendedKey(text)
	if err != nil {
		return nil, err
	}
	if v.multisig {
		return nil, bad("%s… is one key of a wallet with several signatures: use its descriptor, such as "+
			"wsh(sortedmulti(2,KEY/<0;1>/*,KEY/<0;1>/*))", v.prefix)
	}
	form := accountForms[v.kind]
	return Parse(form.before+text+"/<0;1>/*"+form.after, n)
}

// accountForms are the descriptors of accounts of a single signature, by [Kind].
var accountForms = [...]struct{ before, after string }{
	P2PKH: {"pkh(", ")"}, P2SHP2WPKH: {"sh(wpkh(", "))"}, P2WPKH: {"wpkh(", ")"}, P2TR: {"tr(", ")"},
}

func accountKind(body string) (Kind, bool) {
	i := slices.IndexFunc(accountForms[:], func(f struct{ before, after string }) bool { return strings.HasPrefix(body, f.before) })
	return Kind(max(i, 0)), i >= 0 && !strings.Contains(body, ",")
}

// cutChecksum removes the checksum of a descriptor after it has verified it.
func cutChecksum(text string) (string, error) {
	body, sum, has := strings.Cut(text, "#")
	want, ok := Checksum(body)
	switch {
	case !ok:
		return "", bad("it has characters that descriptors do not have (BIP 380)")
	case has && len(sum) != checksumSize:
		return "", bad("the checksum has %d characters: expected %d; that of this descriptor is %s", len(sum), checksumSize, want)
	case has && sum != want:
		return "", bad("wrong checksum: that of this descriptor is %s; check that you copied all of it", want)
	}
	return body, nil
}

// context is where an expression is.
type context int

const (
	atTop context = iota
	inSH
	inWSH
	inTree
)

// parser reads a descriptor.
type parser struct {
	net      *Network
	keys     []*key
	branches int
}

// expression reads a script expression. Only combo has more than one script.
func (p *parser) expression(text string, in context) ([]script, error) {
	name, inner, _ := strings.Cut(text, "(")
	inner, closed := strings.CutSuffix(inner, ")")
	if !closed {
		return nil, bad("unbalanced brackets")
	}
	args, err := split(inner)
	if err != nil {
		return nil, err
	}
	read, known := expressions[name]
	switch {
	case !known && (in == inWSH || in == inTree):
		return nil, bad("unknown expression %.20q: miniscript is not supported; expected pk, pkh, multi or sortedmulti in wsh, "+
			"and pk, multi_a or sortedmulti_a in tr", name)
	case !known:
		return nil, bad("unknown expression %.20q: expected pk, pkh, wpkh, sh, wsh, combo, multi, sortedmulti, tr, rawtr, addr or raw", name)
	case !slices.Contains(read.in, in):
		return nil, bad("%s is not allowed there (BIP 380 to 387)", name)
	case read.args > 0 && len(args) != read.args:
		return nil, bad("%s has %d arguments, expected %d", name, len(args), read.args)
	}
	return read.parse(p, args, in)
}

// split splits arguments at commas that are not in brackets.
func split(text string) (args []string, err error) {
	var open []rune
	start := 0
	for i, c := range text {
		switch c {
		case '(':
			open = append(open, ')')
		case '{':
			open = append(open, '}')
		case ')', '}':
			if len(open) == 0 || open[len(open)-1] != c {
				return nil, bad("unbalanced brackets")
			}
			open = open[:len(open)-1]
		case ',':
			if len(open) == 0 {
				args, start = append(args, text[start:i]), i+1
			}
		}
	}
	if len(open) > 0 {
		return nil, bad("unbalanced brackets")
	}
	return append(args, text[start:]), nil
}

// expressionForm describes an expression.
type expressionForm struct {
	in    []context
	args  int // 0: any number
	parse func(p *parser, args []string, in context) ([]script, error)
}

var expressions map[string]expressionForm

func init() { // the expressions refer to each other
	expressions = map[string]expressionForm{
		"pk":            {[]context{atTop, inSH, inWSH, inTree}, 1, (*parser).pk},
		"pkh":           {[]context{atTop, inSH, inWSH}, 1, (*parser).pkh},
		"wpkh":          {[]context{atTop, inSH}, 1, (*parser).wpkh},
		"combo":         {[]context{atTop}, 1, (*parser).combo},
		"sh":            {[]context{atTop}, 1, (*parser).sh},
		"wsh":           {[]context{atTop, inSH}, 1, (*parser).wsh},
		"multi":         {[]context{atTop, inSH, inWSH}, 0, multisig(false)},
		"sortedmulti":   {[]context{atTop, inSH, inWSH}, 0, multisig(true)},
		"multi_a":       {[]context{inTree}, 0, multisig(false)},
		"sortedmulti_a": {[]context{inTree}, 0, multisig(true)},
		"tr":            {[]context{atTop}, 0, (*parser).tr},
		"rawtr":         {[]context{atTop}, 1, (*parser).rawtr},
		"addr":          {[]context{atTop}, 1, (*parser).addr},
		"raw":           {[]context{atTop}, 1, (*parser).raw},
	}
}

func (p *parser) addr(args []string, _ context) ([]script, error) {
	output, err := p.net.Script(args[0])
	if err != nil {
		return nil, bad("%w", err)
	}
	return fixed(output), nil
}

func (p *parser) raw(args []string, _ context) ([]script, error) {
	output, err := hex.DecodeString(args[0])
	if err != nil || len(output) == 0 {
		return nil, bad("raw: expected a script in hex")
	}
	return fixed(output), nil
}

// threshold reads the first argument of a multisig with a number of keys.
func threshold(text string, keys int) (int, error) {
	n, err := strconv.Atoi(text)
	if err != nil || n < 1 || n > keys || text[0] == '+' {
		return 0, bad("multisig with %d keys: the number of signatures is %.20q, expected 1 to %d", keys, text, keys)
	}
	return n, nil
}
