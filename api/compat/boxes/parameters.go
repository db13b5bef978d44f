package boxes

import (
	"encoding/hex"
	"net/http"
	"slices"
	"strconv"

	"birthmark/api/exchange"
	"birthmark/chains/ergo"
	"birthmark/chains/ergo/sigma"
	"birthmark/model"
)

// Preflight has the headers of the answer to OPTIONS, which browsers send before some other requests.
var Preflight = http.Header{"Access-Control-Allow-Methods": {"GET, HEAD, POST"}, "Access-Control-Allow-Headers": {"*"}}

// ParseNumber reads a number of at most some bits with its sign.
func ParseNumber(name, text string, bits int) (int, error) {
	n, err := strconv.ParseInt(text, 10, bits)
	if err != nil || n < 0 {
		return 0, model.Errorf(model.Usage, "bad_value", "%s: expected a number from 0 to %d", name, int64(1)<<(bits-1)-1)
	}
	return int(n), nil
}

// Number returns a parameter that is a number of at most some bits with its sign; ok is false if it is absent.
func Number(r *exchange.Request, name string, bits int) (n int, ok bool) {
	text := r.Param(name)
	if text == "" {
		return 0, false
	}
	n, err := ParseNumber(name, text, bits)
	if err != nil {
		r.Refuse(err)
	}
	return n, true
}

// Flag returns a parameter that is true or false.
func Flag(r *exchange.Request, name string) bool {
	switch r.Param(name) {
	case "", "false":
		return false
	case "true":
		return true
	}
	r.Refuse(model.Errorf(model.Usage, "bad_value", "%s: expected true or false", name))
	return false
}

// Ascending returns the parameter sortDirection. It refuses one that is neither asc nor desc with an error.
func Ascending(r *exchange.Request, unknown error) bool {
	switch r.Param("sortDirection") {
	case "", "desc":
		return false
	case "asc":
		return true
	}
	r.Refuse(unknown)
	return false
}

// AddressIndex returns the index of addresses.
func (c *Chain) AddressIndex() *model.Index {
	all := c.Model.Indexes()
	return &all[slices.IndexFunc(all, func(x model.Index) bool { return x.Name == AddressIndex })]
}

// ParseTree reads an ErgoTree in hex.
func ParseTree(text string) ([]byte, error) {
	tree, err := hex.DecodeString(text)
	if err != nil || len(tree) == 0 {
		return nil, model.Errorf(model.Usage, "bad_value", "the ErgoTree is not hex")
	}
	return tree, nil
}

// HolderOf returns the boxes with an ErgoTree.
func (v *View) HolderOf(tree []byte) (*Holder, error) { return v.Tree(ergo.TreeHash(tree)) }

// Registers are additional registers and their bytes.
type Registers map[int][]byte

// ParseRegisters reads registers by their names, R4 to R9, with their bytes in hex.
func ParseRegisters(texts map[string]string) (Registers, error) {
	registers := Registers{}
	for name, text := range texts {
		raw, err := hex.DecodeString(text)
		if err != nil || len(name) != 2 || name[0] != 'R' || name[1] < '4' || name[1] > '9' {
			return nil, model.Errorf(model.Usage, "bad_value", "register %q: expected R4 to R9 and its bytes in hex", name)
		}
		registers[int(name[1]-'0')] = raw
	}
	return registers, nil
}

// In reports whether a box has all of the registers.
func (r Registers) In(b *sigma.Box) bool {
	for n, raw := range r {
		if i := n - sigma.FirstRegister; i >= len(b.Registers) || string(b.Registers[i]) != string(raw) {
			return false
		}
	}
	return true
}
