package bitcoin

import (
	"crypto/sha256"
	"encoding/hex"
	"slices"
	"strings"

	"birthmark/chains/indexexpr"
	"birthmark/model"
)

// The names of the indexes.
const (
	indexAddress    = "address"
	indexScriptHash = "script_hash"
	indexScriptType = "script_type"
	indexOpReturn   = "op_return"
)

// indexes are what Bitcoin offers on a network. Every one reads a single output script, so an output has at most
// one value of each.
func (n *network) indexes() []model.Index {
	return []model.Index{
		{
			Name: indexAddress, Kind: model.OneToMany, Default: true,
			Doc:   "who an output pays: P2PKH, P2SH, every witness version, and P2PK as the address of its key's hash; none for bare multisig, OP_RETURN and scripts of no known form",
			Value: "output.address", Format: n.formatAddress, Parse: n.parseAddress,
		},
		{
			Name: indexScriptHash, Kind: model.OneToMany,
			Doc:   "SHA-256 of the output script, written byte-reversed as in the Electrum protocol",
			Value: "output.script_hash", Format: formatScriptHash, Parse: parseScriptHash,
		},
		{
			Name: indexScriptType, Kind: model.OneToMany,
			Doc:   "the form of the output script by Core's name: " + strings.Join(kindNames[:], ", "),
			Value: "output.script_type", Format: func(value []byte) string { return string(value) }, Parse: parseScriptType,
		},
		{
			Name: indexOpReturn, Kind: model.OneToMany,
			Doc:   "the data an OP_RETURN output pushes, all its pushes in one, in hex; none where it pushes nothing",
			Value: "output.data", Format: hex.EncodeToString, Parse: parseOpReturn,
		},
	}
}

func formatScriptHash(value []byte) string {
	value = slices.Clone(value)
	slices.Reverse(value)
	return hex.EncodeToString(value)
}

func parseScriptHash(text string) ([]byte, error) {
	h, ok := parseHash(text)
	if !ok {
		return nil, model.Errorf(model.Usage, "bad_value", "%q is not a script hash: expected 64 hex digits, the SHA-256 of the output script byte-reversed", shown(text))
	}
	return h[:], nil
}

func parseScriptType(text string) ([]byte, error) {
	if !slices.Contains(kindNames[:], text) {
		return nil, model.Errorf(model.Usage, "bad_value", "%q is not a script type: expected %s", shown(text), strings.Join(kindNames[:], ", "))
	}
	return []byte(text), nil
}

func parseOpReturn(text string) ([]byte, error) {
	value, err := hex.DecodeString(text)
	if err != nil || len(value) == 0 {
		return nil, model.Errorf(model.Usage, "bad_value", "%q is not the data of an OP_RETURN: expected pairs of hex digits", shown(text))
	}
	return indexexpr.Shorten(value), nil
}

// wanted says which values of an output are to be made, and under which [model.Key.Index].
type wanted struct {
	order   []wantedIndex // ascending by position
	address bool
	hash    bool
	data    bool
}

type wantedIndex struct {
	position int
	value    valueOf
}

// valueOf is one of the indexes.
type valueOf uint8

const (
	valueAddress valueOf = iota
	valueScriptHash
	valueScriptType
	valueOpReturn
)

// newWanted reads a list of index names; the position of a name is its [model.Key.Index]. Those that were defined are
// known, and none of its own.
func newWanted(names []string, defined *indexexpr.Indexes) (wanted, error) {
	var w wanted
	for i, name := range names {
		if slices.Contains(names[:i], name) {
			return w, model.Errorf(model.Usage, "unknown_index", "index %q is named twice", name)
		}
		var v valueOf
		switch name {
		case indexAddress:
			v, w.address = valueAddress, true
		case indexScriptHash:
			v, w.hash = valueScriptHash, true
		case indexScriptType:
			v = valueScriptType
		case indexOpReturn:
			v, w.data = valueOpReturn, true
		default:
			if defined.Has(name) {
				continue
			}
			return w, model.Errorf(model.Usage, "unknown_index", "unknown index %q of bitcoin: expected %s", name,
				strings.Join([]string{indexAddress, indexScriptHash, indexScriptType, indexOpReturn}, ", "))
		}
		w.order = append(w.order, wantedIndex{i, v})
	}
	return w, nil
}

// room is the most bytes of values an output script can make.
func (w *wanted) room(script []byte) int {
	n := 0
	if w.address {
		n += min(len(script), maxAddressSize)
	}
	if w.hash {
		n += sha256.Size
	}
	if w.data && len(script) > 0 && script[0] == opReturn {
		n += min(len(script), model.MaxValueSize)
	}
	return n
}

// scriptTypes are the values of the index script_type, made once.
var scriptTypes = func() (values [len(kindNames)][]byte) {
	for k, name := range kindNames {
		values[k] = []byte(name)
	}
	return values
}()

// keys appends the keys of an output script. Values are put into the arena and stay there.
func (d *decoder) keys(to []model.Key, script []byte) []model.Key {
	if len(d.wanted.order) == 0 {
		return to
	}
	k, payload := solve(script)
	for _, w := range d.wanted.order {
		var value []byte
		switch w.value {
		case valueAddress:
			value = d.address(k, script, payload)
		case valueScriptHash:
			sum := sha256.Sum256(script)
			value = d.keep(sum[:])
		case valueScriptType:
			value = scriptTypes[k]
		case valueOpReturn:
			value = d.pushed(k, script)
		}
		if value != nil {
			to = append(to, model.Key{Index: w.position, Value: value})
		}
	}
	return to
}

// address is the stored address of a classified script, nil where it has none.
func (d *decoder) address(k kind, script, payload []byte) []byte {
	start := len(d.arena)
	switch k {
	case pubkey:
		d.arena = d.appendHash160(append(d.arena, toKeyHash), payload)
	case pubkeyhash:
		d.arena = append(append(d.arena, toKeyHash), payload...)
	case scripthash:
		d.arena = append(append(d.arena, toScriptHash), payload...)
	case witnessV0KeyHash, witnessV0ScriptHash, witnessV1Taproot, anchor, witnessUnknown:
		version, _, _ := witnessProgram(script)
		d.arena = append(append(d.arena, version), payload...)
	default:
		return nil
	}
	return d.arena[start:len(d.arena):len(d.arena)]
}

// pushed is the data of an OP_RETURN script, shortened if need be; nil where it pushes none.
func (d *decoder) pushed(k kind, script []byte) []byte {
	if k != nulldata {
		return nil
	}
	if len(script) > model.MaxValueSize {
		data := indexexpr.Shorten(appendPushed(nil, script))
		if len(data) == 0 {
			return nil
		}
		return d.keep(data)
	}
	start := len(d.arena)
	d.arena = appendPushed(d.arena, script)
	if len(d.arena) == start {
		return nil
	}
	return d.arena[start:len(d.arena):len(d.arena)]
}

// keep copies bytes into the arena.
func (d *decoder) keep(b []byte) []byte {
	start := len(d.arena)
	d.arena = append(d.arena, b...)
	return d.arena[start:len(d.arena):len(d.arena)]
}
