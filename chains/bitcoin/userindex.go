package bitcoin

import (
	"crypto/sha256"
	"encoding/binary"
	"fmt"

	"birthmark/chains/bitcoin/block"
	"birthmark/chains/bitcoin/params"
	"birthmark/chains/indexexpr"
	"birthmark/model"
)

// Limits of the lists of one transaction. A block of 4,000,000 weight units has fewer entries, since an output has 9 bytes
// or more, and a push or witness item has one or more. A transaction of Bitcoin SV has any size, and an entry takes up to
// 240 bytes of memory.
const (
	maxListed    = 1 << 20 // inputs, and outputs
	maxTxEntries = 1 << 22 // pushes, witness items and keys of the inputs
	maxKept      = 1 << 16 // entries whose memory the next transaction reuses
)

// userIndexes makes the values of custom indexes: it fills the fields that their expressions use while the decoder
// walks over a well-formed block.
type userIndexes struct {
	run *indexexpr.Run
	env environment

	net     *params.Network
	emitter *emitter // for addresses

	raw  []byte // the serialized block
	hash model.Hash
	tx   block.Span

	inputs       []inputFields       // what env.Tx.Inputs points to
	outputs      []siblingFields     // what env.Tx.Outputs points to
	txLists      [][]byte            // pushes and witness items of the transaction
	inscriptions []inscriptionFields // of the transaction
	lists        [][]byte            // pushes of the output
	address      []byte              // stored form
	data         []byte              // pushed by the output
	siblings     []byte              // pushed by all outputs
	stripped     []byte              // the transaction without its witness
}

// newUserIndexes returns nil if none of the named indexes is a custom index.
func newUserIndexes(c *chain, names []string, e *emitter) *userIndexes {
	o := &userIndexes{net: c.net, emitter: e}
	if o.run = c.Custom().Bind(names, &o.env, o.fill); o.run == nil {
		return nil
	}
	return o
}

// begin starts a block. It sets all fields of the block except the hash, which fill computes.
func (o *userIndexes) begin(b *model.Block, raw []byte) {
	h := block.Header(b.Header)
	o.raw, o.hash = raw, b.Hash
	o.env.Block = blockFields{Height: int(b.Height), Time: int(b.Time), Size: len(raw), TxCount: len(b.Txs), Version: int(h.Version())}
	if o.net.Coin.Header == nil {
		o.env.Block.Bits, o.env.Block.Nonce = fmt.Sprintf("%08x", h.Bits()), int(h.Nonce())
	}
	o.run.Block()
}

// beginUnconfirmed starts a transaction that is in no block.
func (o *userIndexes) beginUnconfirmed(raw []byte) {
	o.raw = raw
	o.env.Block = blockFields{}
	o.run.Unconfirmed(bitTxIndex)
}

// transaction starts the transaction with this index.
func (o *userIndexes) transaction(index int, s block.Span) {
	o.tx = s
	t := &o.env.Tx
	t.Index, t.Coinbase, t.Size = index, index == 0, s.End-s.Start
	t.Version = int(int32(o.net.Coin.Format.Version(binary.LittleEndian.Uint32(o.raw[s.Start:]))))
	t.LockTime = int(binary.LittleEndian.Uint32(o.raw[s.Lock:]))
	t.InputCount, _ = block.Count(o.raw, s.Body)
	t.OutputCount, _ = block.Count(o.raw, s.Outputs)
	if cap(o.inputs)+cap(o.outputs)+cap(o.txLists) > maxKept { // of a huge transaction
		o.inputs, o.outputs, o.txLists = nil, nil, nil
	}
	o.txLists, o.inscriptions = o.txLists[:0], o.inscriptions[:0]
	o.run.Tx()
}

// keys appends the keys of an output.
func (o *userIndexes) keys(to []model.Key, index int, value uint64, script []byte, size int) []model.Key {
	out := &o.env.Output
	out.Index, out.Value, out.Script, out.Size = index, int(value), script, size
	o.lists = o.lists[:0]
	o.run.Output()
	return o.run.Keys(to)
}

// fill sets the needed fields of the output, its transaction and block for [indexexpr.Indexes.Bind], except the fields
// that are always set.
func (o *userIndexes) fill(need indexexpr.Set) {
	out, script := &o.env.Output, o.env.Output.Script
	if need.Has(bitOutputScriptType) || need.Has(bitOutputAddress) || need.Has(bitOutputData) {
		k, payload := o.net.Coin.Format.Classify(script)
		out.ScriptType = block.KindNames[k]
		if need.Has(bitOutputAddress) {
			out.Address = o.addressText(k, script, payload)
		}
		if need.Has(bitOutputData) {
			out.Data = nil
			if k == block.NullData {
				o.data = block.AppendPushed(o.data[:0], script)
				out.Data = o.data
			}
		}
	}
	if need.Has(bitOutputScriptHash) {
		sum := sha256.Sum256(script)
		out.ScriptHash = block.FormatHash(sum)
	}
	if need.Has(bitOutputPushes) {
		out.Pushes, o.lists = block.Pushes(o.lists, script)
	}
	if need.Has(bitOutputRunestone) {
		out.Runestone = block.Runestone(script)
	}
	if need.Has(bitOutputInscriptions) {
		var found []inscriptionFields
		found = appendInscriptions(found, script, out.Index, false)
		out.Inscriptions = indexexpr.Pointers(found)
	}
	o.fillTx(need)
	if need.Has(bitBlockHash) {
		o.env.Block.Hash = block.FormatHash(o.hash)
	}
}

func (o *userIndexes) addressText(k block.Kind, script, payload []byte) string {
	o.address = o.emitter.appendOwner(o.address[:0], k, script, payload)
	if len(o.address) == 0 {
		return ""
	}
	return formatAddress(o.net, o.address)
}

func (o *userIndexes) fillTx(need indexexpr.Set) {
	t := &o.env.Tx
	if need.Has(bitTxHash) || need.Has(bitTxWeight) {
		whole := o.raw[o.tx.Start:o.tx.End]
		if o.tx.Marker {
			end := block.SkipOutputs(o.raw, o.tx.Outputs)
			o.stripped = append(append(append(o.stripped[:0], whole[:4]...), o.raw[o.tx.Body:end]...), whole[len(whole)-4:]...)
			whole = o.stripped
		}
		t.Weight = 3*len(whole) + t.Size
		if f := o.net.Coin.Format.AppendHashed; f != nil {
			o.stripped = f(o.stripped[:0], o.raw, o.tx)
			whole = o.stripped
		}
		switch f := o.net.Coin.Format.TxHash; {
		case !need.Has(bitTxHash):
		case f != nil:
			t.Hash = block.FormatHash(f(o.raw, o.tx))
		default:
			t.Hash = block.FormatHash(block.DoubleHash(whole))
		}
	}
	if need.Has(bitTxInputs) {
		o.fillInputs()
	}
	if need.Has(bitTxOutputs) {
		o.fillOutputs()
	}
	if need.Has(bitTxInscriptions) {
		o.eachWitness(func(input int, items block.WitnessItems) {
			if script := block.LeafScript(items); script != nil {
				o.inscriptions = appendInscriptions(o.inscriptions, script, input, true)
			}
		})
		t.Inscriptions = indexexpr.Pointers(o.inscriptions)
	}
}

func (o *userIndexes) fillInputs() {
	t := &o.env.Tx
	n := min(t.InputCount, maxListed)
	if cap(o.inputs) < n {
		o.inputs = make([]inputFields, n)
	}
	o.inputs = o.inputs[:n]
	_, at := block.Count(o.raw, o.tx.Body)
	for i := range o.inputs {
		in := &o.inputs[i]
		*in = inputFields{Index: int(binary.LittleEndian.Uint32(o.raw[at+32:]))}
		if o.run.Uses(bitInputTx) {
			in.Tx = block.FormatHash(model.Hash(o.raw[at:]))
		}
		var size int
		size, at = block.Count(o.raw, at+36)
		in.Script = o.raw[at : at+size]
		at += size
		in.Sequence = int(binary.LittleEndian.Uint32(o.raw[at:]))
		at += 4
		if o.run.Uses(bitInputPushes) || o.run.Uses(bitInputKeys) {
			in.Pushes = o.pushes(in.Script)
		}
	}
	wanted := false
	for _, b := range []indexexpr.Bit{bitInputWitness, bitInputRevealed, bitInputRevealedPushes, bitInputKeys} {
		wanted = wanted || o.run.Uses(b)
	}
	if wanted {
		o.eachWitness(func(input int, items block.WitnessItems) {
			if input >= len(o.inputs) {
				return
			}
			in := &o.inputs[input]
			in.Witness = o.listed(items.Append)
			if in.Revealed = block.Revealed(items); in.Revealed != nil && (o.run.Uses(bitInputRevealedPushes) || o.run.Uses(bitInputKeys)) {
				in.RevealedPushes = o.pushes(in.Revealed)
			}
		})
	}
	if o.run.Uses(bitInputKeys) {
		for i := range o.inputs {
			in := &o.inputs[i]
			in.Keys = o.listed(func(to [][]byte) (keys, grown [][]byte) { return keysOfInput(to, in) })
		}
	}
	t.Inputs = indexexpr.Pointers(o.inputs)
}

// pushes returns the pushes of a script of an input.
func (o *userIndexes) pushes(script []byte) [][]byte {
	return o.listed(func(to [][]byte) (pushes, grown [][]byte) { return block.Pushes(to, script) })
}

// listed returns the entries that add appends to txLists, without those over maxTxEntries.
func (o *userIndexes) listed(add func(to [][]byte) (added, grown [][]byte)) (added [][]byte) {
	room := maxTxEntries - len(o.txLists)
	if room <= 0 {
		return nil
	}
	added, o.txLists = add(o.txLists)
	return added[:min(len(added), room)]
}

func (o *userIndexes) fillOutputs() {
	t := &o.env.Tx
	n := min(t.OutputCount, maxListed)
	if cap(o.outputs) < n {
		o.outputs = make([]siblingFields, n)
	}
	o.outputs, o.siblings = o.outputs[:n], o.siblings[:0]
	_, at := block.Count(o.raw, o.tx.Outputs)
	for i := range o.outputs {
		out := &o.outputs[i]
		*out = siblingFields{Value: int(binary.LittleEndian.Uint64(o.raw[at:]))}
		var size int
		size, at = block.Count(o.raw, at+8)
		out.Script = o.raw[at : at+size]
		at += size
		if f := o.net.Coin.Format.Output; f != nil {
			value, script, _ := f(uint64(out.Value), out.Script)
			out.Value, out.Script = int(value), script
		}
		if o.run.Uses(bitSiblingData) && block.IsNullData(out.Script) {
			start := len(o.siblings)
			o.siblings = block.AppendPushed(o.siblings, out.Script)
			out.Data = o.siblings[start:len(o.siblings):len(o.siblings)]
		}
	}
	t.Outputs = indexexpr.Pointers(o.outputs)
}

// eachWitness calls handle with the witness of every input that has one.
func (o *userIndexes) eachWitness(handle func(input int, items block.WitnessItems)) {
	if o.tx.Witness {
		block.EachWitness(o.raw, block.SkipOutputs(o.raw, o.tx.Outputs), o.env.Tx.InputCount, handle)
	}
}

// keysOfInput appends the public keys in an input to a list: from the pushes of its script, from its witness, and from
// the scripts that the last push or the witness reveals. keys is the appended part.
func keysOfInput(list [][]byte, in *inputFields) (keys, grown [][]byte) {
	first := len(list)
	add := func(candidates [][]byte) {
		for _, b := range candidates {
			if block.IsKey(b) && len(list)-first < block.MaxEntries {
				list = append(list, b)
			}
		}
	}
	add(in.Pushes)
	if n := len(in.Pushes); n > 0 && !block.IsKey(in.Pushes[n-1]) {
		inner, _ := block.Pushes(nil, in.Pushes[n-1])
		add(inner)
	}
	add(in.Witness)
	add(in.RevealedPushes)
	return list[first:len(list):len(list)], list
}
