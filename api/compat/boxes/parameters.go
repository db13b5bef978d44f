package boxes

import (
	"encoding/hex"
	"encoding/json"
	"net/http"
	"slices"
	"strconv"

	"birthmark/chains/ergo"
	"birthmark/chains/ergo/sigma"
	"birthmark/model"
)

// Preflight answers a request with the method OPTIONS, which browsers send before some others. It returns false for
// another method.
func (a *Answer) Preflight() bool {
	if a.r.Method != http.MethodOptions {
		return false
	}
	h := a.w.Header()
	h.Set("Access-Control-Allow-Methods", "GET, HEAD, POST")
	h.Set("Access-Control-Allow-Headers", "*")
	return true
}

// Fail answers with an error. If a part of the answer was sent, it cuts the connection, so that the client notices.
func (a *Answer) Fail(status int, failure any) {
	if a.Sent {
		panic(http.ErrAbortHandler)
	}
	body, err := json.Marshal(failure)
	if err != nil {
		panic(err) // impossible: the fields are simple
	}
	a.w.Header()["Content-Type"] = []string{"application/json"}
	a.w.WriteHeader(status)
	_, _ = a.w.Write(body) // fails only if the client is gone
}

// Number reads a parameter that is a number of at most some bits with its sign; ok is false if it is absent.
func (a *Answer) Number(name string, bits int, to *int) (ok bool, err error) {
	text := a.Query[name]
	if text == "" {
		return false, nil
	}
	n, err := strconv.ParseInt(text, 10, bits)
	if err != nil || n < 0 {
		return false, model.Errorf(model.Usage, "bad_value", "%s: expected a number from 0 to %d", name, int64(1)<<(bits-1)-1)
	}
	*to = int(n)
	return true, nil
}

// Flag reads a parameter that is true or false.
func (a *Answer) Flag(name string) (bool, error) {
	switch a.Query[name] {
	case "", "false":
		return false, nil
	case "true":
		return true, nil
	}
	return false, model.Errorf(model.Usage, "bad_value", "%s: expected true or false", name)
}

// Ascending reads the parameter sortDirection; ok is false if it is neither asc nor desc.
func (a *Answer) Ascending() (ascending, ok bool) {
	switch a.Query["sortDirection"] {
	case "", "desc":
		return false, true
	case "asc":
		return true, true
	}
	return false, false
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
