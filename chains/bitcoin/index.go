package bitcoin

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"hash"
	"slices"
	"strings"

	"golang.org/x/crypto/ripemd160" //lint:ignore SA1019 Bitcoin's addresses are made with it

	"birthmark/chains/adapter"
	"birthmark/chains/bitcoin/block"
	"birthmark/chains/bitcoin/params"
	"birthmark/chains/indexexpr"
	"birthmark/model"
)

// The positions of the built-in indexes.
const (
	addressIndex = iota
	scriptHashIndex
	scriptTypeIndex
	opReturnIndex
	coinIndexes // the first of [params.Spec.Outputs]
)

// indexes returns the built-in indexes. Each reads one output script, so an output has at most one value of each.
func indexes(n *params.Network) []model.Index {
	all := []model.Index{
		addressIndex: {
			Name: "address", Kind: model.OneToMany, Default: true,
			Doc:    "the address an output pays to: P2PKH, P2SH, every witness version, and P2PK as the address of its key hash; none for bare multisig, OP_RETURN and nonstandard scripts",
			Value:  "output.address",
			Format: func(value []byte) string { return formatAddress(n, value) },
			Parse:  func(text string) ([]byte, error) { return parseAddress(n, text) },
			Types:  addressTypes, Scheme: cmp.Or(n.Coin.Scheme, n.Coin.Name),
			Forms: func(value []byte) []model.Form { return addressForms(n, value) },
		},
		scriptHashIndex: {
			Name: "script_hash", Kind: model.OneToMany,
			Doc:   "SHA-256 of the output script, byte-reversed as in the Electrum protocol",
			Value: "output.script_hash", Format: formatScriptHash, Parse: parseScriptHash,
		},
		scriptTypeIndex: {
			Name: "script_type", Kind: model.OneToMany,
			Doc:   "the type of the output script as Core names it: " + strings.Join(block.KindNames[:], ", "),
			Value: "output.script_type", Format: func(value []byte) string { return string(value) }, Parse: parseScriptType,
		},
		opReturnIndex: {
			Name: "op_return", Kind: model.OneToMany,
			Doc:   "the data that an OP_RETURN output pushes, all pushes concatenated, in hex; none if it pushes nothing",
			Value: "output.data", Format: hex.EncodeToString, Parse: parseOpReturn,
		},
	}
	if n.Coin.LockDoc != "" {
		all[addressIndex].Doc += "; " + n.Coin.LockDoc
	}
	for _, x := range n.Coin.Outputs {
		all = append(all, x.Index)
	}
	return all
}

func formatScriptHash(value []byte) string {
	value = slices.Clone(value)
	slices.Reverse(value)
	return hex.EncodeToString(value)
}

func parseScriptHash(text string) ([]byte, error) {
	h, ok := block.ParseHash(text)
	if !ok {
		return nil, adapter.BadValue("script hash", text, "64 hex digits, the SHA-256 of the output script byte-reversed")
	}
	return h[:], nil
}

func parseScriptType(text string) ([]byte, error) {
	if !slices.Contains(block.KindNames[:], text) {
		return nil, adapter.BadValue("script type", text, "%s", strings.Join(block.KindNames[:], ", "))
	}
	return []byte(text), nil
}

func parseOpReturn(text string) ([]byte, error) {
	value, err := hex.DecodeString(text)
	if err != nil || len(value) == 0 {
		return nil, adapter.BadValue("OP_RETURN data", text, "pairs of hex digits")
	}
	return indexexpr.Shorten(value), nil
}

// decoders returns a function that makes decoders for the named indexes, one per goroutine. An error is of kind
// [model.Usage], code unknown_index.
func (c *chain) decoders(names []string, raw bool, room func(int64) error) (func() *block.Decoder, error) {
	selected, err := c.Select(names)
	if err != nil {
		return nil, err
	}
	return func() *block.Decoder {
		d := block.NewDecoder(c.net.Coin.Format, c.emitter(names, selected))
		d.KeepRaw, d.Room = raw, room
		if c.tokens != nil {
			d.Tokens = c.tokens.Reader()
		}
		return d
	}, nil
}

func (c *chain) emitter(names []string, selected []adapter.Selected) *emitter {
	e := &emitter{format: c.net.Coin.Format, coin: c.net.Coin, selected: selected, ripemd: ripemd160.New()}
	for _, s := range selected {
		if s.Builtin >= coinIndexes {
			e.own = append(e.own, &c.net.Coin.Outputs[s.Builtin-coinIndexes])
			continue
		}
		e.has[s.Builtin] = true
	}
	e.user = newUserIndexes(c, names, e)
	return e
}

// emitter makes the index values of outputs. It is a [block.Emitter].
type emitter struct {
	format   *block.Format
	selected []adapter.Selected
	coin     *params.Spec
	has      [coinIndexes]bool     // which are selected
	own      []*params.OutputIndex // indexes of the coin that are selected
	user     *userIndexes          // nil if no custom index is selected

	arena  []byte // values of the block
	ripemd hash.Hash
	sum    [sha256.Size]byte // scratch
}

// MaxKeys implements [block.Emitter].
func (e *emitter) MaxKeys() int { return len(e.selected) }

// MaxBytes implements [block.Emitter].
func (e *emitter) MaxBytes(script []byte) int {
	n := 0
	if e.has[addressIndex] {
		n += min(len(script), maxAddressSize)
	}
	if e.has[scriptHashIndex] {
		n += sha256.Size
	}
	if e.has[opReturnIndex] && (len(script) > 0 && script[0] == block.OpReturn || e.format.FalseReturn && block.FalseReturn(script)) {
		n += min(len(script), model.MaxValueSize)
	}
	for _, x := range e.own {
		n += x.MaxBytes(script)
	}
	return n
}

// Begin implements [block.Emitter].
func (e *emitter) Begin(b *model.Block, raw, arena []byte) {
	e.arena = arena
	if e.user != nil {
		e.user.begin(b, raw)
	}
}

// BeginUnconfirmed implements [block.Emitter].
func (e *emitter) BeginUnconfirmed(raw, arena []byte) {
	e.arena = arena
	if e.user != nil {
		e.user.beginUnconfirmed(raw)
	}
}

// Transaction implements [block.Emitter].
func (e *emitter) Transaction(index int, s block.Span) {
	if e.user != nil {
		e.user.transaction(index, s)
	}
}

// Keys implements [block.Emitter].
func (e *emitter) Keys(to []model.Key, index int, value uint64, script []byte, size int) []model.Key {
	if e.user == nil {
		return e.builtin(to, value, script)
	}
	first := len(to)
	to = e.user.keys(e.builtin(to, value, script), index, value, script, size)
	e.user.run.InOrder(to[first:])
	return to
}

// scriptTypes are the values of the index script_type.
var scriptTypes = func() (values [len(block.KindNames)][]byte) {
	for k, name := range block.KindNames {
		values[k] = []byte(name)
	}
	return values
}()

// builtin appends the keys of the built-in indexes. Their values are in the arena.
func (e *emitter) builtin(to []model.Key, value uint64, script []byte) []model.Key {
	if len(e.selected) == 0 {
		return to
	}
	k, payload := e.format.Classify(script)
	for _, s := range e.selected {
		start := len(e.arena)
		switch s.Builtin {
		case addressIndex:
			e.arena = e.appendOwner(e.arena, k, script, payload)
		case scriptHashIndex:
			sum := sha256.Sum256(script)
			e.arena = append(e.arena, sum[:]...)
		case scriptTypeIndex:
			to = append(to, model.Key{Index: s.Position, Value: scriptTypes[k]})
		case opReturnIndex:
			data := script
			if e.format.FalseReturn && block.FalseReturn(script) {
				data = script[1:]
			}
			e.appendData(k, data)
		default:
			e.arena = e.coin.Outputs[s.Builtin-coinIndexes].Append(e.arena, value, script)
		}
		if end := len(e.arena); end > start {
			to = append(to, model.Key{Index: s.Position, Value: e.arena[start:end:end]})
		}
	}
	return to
}

// appendOwner appends the stored address of a classified script or of its lock, nothing if it has none.
func (e *emitter) appendOwner(to []byte, k block.Kind, script, payload []byte) []byte {
	if k == block.Nonstandard && e.coin.Lock != nil {
		k, payload = e.coin.Lock(script)
	}
	return e.appendAddress(to, k, script, payload)
}

// appendAddress appends the stored address of a classified script, nothing if it has none.
func (e *emitter) appendAddress(to []byte, k block.Kind, script, payload []byte) []byte {
	switch k {
	case block.PubKey:
		e.sum = sha256.Sum256(payload)
		e.ripemd.Reset()
		e.ripemd.Write(e.sum[:])
		return e.ripemd.Sum(append(to, toKeyHash))
	case block.PubKeyHash:
		return append(append(to, toKeyHash), payload...)
	case block.ScriptHash:
		if len(payload) == sha256.Size {
			return append(append(to, ToScriptHash32), payload...)
		}
		return append(append(to, toScriptHash), payload...)
	case block.WitnessV0KeyHash, block.WitnessV0ScriptHash, block.WitnessV1Taproot, block.Anchor, block.WitnessUnknown:
		version, _, _ := block.WitnessProgram(script)
		return append(append(to, version), payload...)
	}
	return to
}

// appendData appends the data of an OP_RETURN script to the arena, shortened to the longest value.
func (e *emitter) appendData(k block.Kind, script []byte) {
	switch {
	case k != block.NullData:
	case len(script) > model.MaxValueSize:
		e.arena = append(e.arena, indexexpr.Shorten(block.AppendPushed(nil, script))...)
	default:
		e.arena = block.AppendPushed(e.arena, script)
	}
}
