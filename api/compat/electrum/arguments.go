package electrum

import (
	"encoding/hex"
	"encoding/json"
	"math"
	"slices"
	"strconv"
	"strings"

	"birthmark/api/compat/wallet"
	"birthmark/model"
)

// args are the arguments of a request.
type args struct {
	of      *method           // nil: unknown
	values  [maxParams][]byte // JSON; nil: not passed
	invalid *rpcError         // of the first invalid argument
}

// refuse ends the request with an error, before anything is read. The first error counts.
func (a *args) refuse(format string, values ...any) {
	if a.invalid == nil {
		a.invalid = badRequest(format, values...)
	}
}

// has reports whether an argument is passed, and not null.
func (a *args) has(i int) bool { return a.values[i] != nil && a.values[i][0] != 'n' }

// text returns a string; empty if it is not passed.
func (a *args) text(i int) string {
	switch v := a.values[i]; {
	case !a.has(i):
		return ""
	case v[0] == '"':
		return string(unquote(v))
	}
	a.refuse("%s should be a string", a.of.params[i])
	return ""
}

// read reads JSON of another type; false: it has not that type.
func (a *args) read(i int, into any) bool { return json.Unmarshal(a.values[i], into) == nil }

// number returns a non-negative integer, or usual if it is not passed.
func (a *args) number(i int, usual int64) int64 {
	if !a.has(i) {
		return usual
	}
	v := a.values[i]
	if v[0] == '"' {
		v = unquote(v)
	}
	n, err := strconv.ParseInt(string(v), 10, 64)
	if err != nil || n < 0 {
		a.refuse("%.80s should be a non-negative integer", v)
	}
	return n
}

// height returns a height, or usual if it is not passed.
func (a *args) height(i int, usual uint32) uint32 {
	n := a.number(i, int64(usual))
	if n > math.MaxUint32 {
		a.refuse("height %d out of range", n)
	}
	return uint32(n)
}

// noLimit is above all heights.
const noLimit = math.MaxUint32

// limit returns a height, or noLimit if it is -1 or not passed.
func (a *args) limit(i int) uint32 {
	if string(a.values[i]) == "-1" {
		return noLimit
	}
	return a.height(i, noLimit)
}

// flag returns a Boolean; false if it is not passed.
func (a *args) flag(i int) bool {
	switch v := string(a.values[i]); v {
	case "true", "1":
		return true
	case "", "null", "false", "0":
	default:
		a.refuse("%.80s should be a boolean", v)
	}
	return false
}

// hash returns a hash as it is displayed; what names it in an error.
func (a *args) hash(i int, what string) (h model.Hash) {
	v := a.values[i]
	if len(v) == 2*len(h)+2 && v[0] == '"' {
		if _, err := hex.Decode(h[:], v[1:len(v)-1]); err == nil {
			slices.Reverse(h[:])
			return h
		}
	}
	a.refuse("%.80s should be %s", strings.Trim(string(v), `"`), what)
	return h
}

func (a *args) tx(i int) model.Hash { return a.hash(i, "a transaction hash") }

func (a *args) script(i int) wallet.Key { return wallet.Key(a.hash(i, "a script hash")) }

// outpoint returns the output that the first two arguments name.
func (a *args) outpoint() outpoint {
	tx, n := a.tx(0), a.number(1, 0)
	if n >= 1<<32 {
		a.refuse("%d should be the index of an output", n)
	}
	return outpoint{tx, uint32(n)}
}

// rawTx decodes a serialized transaction. It returns false if digits are empty or not hex.
func rawTx(digits string) ([]byte, bool) {
	raw, err := hex.DecodeString(digits)
	return raw, err == nil && len(raw) > 0
}
