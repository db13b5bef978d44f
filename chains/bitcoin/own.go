package bitcoin

import (
	"crypto/sha256"
	"encoding/binary"
	"fmt"

	"birthmark/chains/indexexpr"
	"birthmark/model"
)

// own makes the values of users' indexes: it fills the fields that their expressions ask for. It is part of a decoder
// that is wanted for such indexes, and stands where that stands in a block that is well formed.
type own struct {
	run *indexexpr.Run
	env environment

	net     *network
	decoder *decoder // whose address it borrows

	raw []byte // the block
	tx  txSpan

	inputs       []inputFields       // what env.Tx.Inputs points to
	outputs      []siblingFields     // what env.Tx.Outputs points to
	txLists      [][]byte            // pushes and witnesses of the transaction
	inscriptions []inscriptionFields // of the transaction
	lists        [][]byte            // pushes of the output
	address      []byte              // as it is stored
	data         []byte              // of the output, put together
	siblings     []byte              // data of the outputs, put together
	stripped     []byte              // the transaction without its witness
}

// txSpan is where the parts of a transaction begin in the block's bytes.
type txSpan struct {
	start, body, outputs, end int
	witness                   bool
}

// newOwn is nil where none of the indexes is a user's.
func newOwn(d *decoder, defined *indexexpr.Indexes, names []string) *own {
	o := &own{net: d.net, decoder: d}
	if o.run = defined.Bind(names, &o.env, o.fill); o.run == nil {
		return nil
	}
	return o
}

// block begins a block; the fields of blocks cost nothing but its hash.
func (o *own) block(b *model.Block, raw []byte) {
	h := header(raw)
	o.raw = raw
	o.env.Block = blockFields{
		Height: int(b.Height), Time: int(b.Time), Size: len(raw), TxCount: len(b.Txs),
		Version: int(h.version()), Bits: fmt.Sprintf("%08x", h.bits()), Nonce: int(h.nonce()),
	}
	o.run.Block()
}

// transaction begins the transaction with that number; its outputs are yet to come.
func (o *own) transaction(index int, s txSpan) {
	o.tx = s
	t := &o.env.Tx
	t.Index, t.Coinbase, t.Size = index, index == 0, s.end-s.start
	t.Version = int(int32(binary.LittleEndian.Uint32(o.raw[s.start:])))
	t.LockTime = int(binary.LittleEndian.Uint32(o.raw[s.end-4:]))
	t.InputCount, _ = knownCount(o.raw, s.body)
	t.OutputCount, _ = knownCount(o.raw, s.outputs)
	o.txLists, o.inscriptions = o.txLists[:0], o.inscriptions[:0]
	o.run.Tx()
}

// keys appends the keys of an output.
func (o *own) keys(to []model.Key, index int, value uint64, script []byte, size int) []model.Key {
	out := &o.env.Output
	out.Index, out.Value, out.Script, out.Size = index, int(value), script, size
	o.lists = o.lists[:0]
	o.run.Output()
	return o.run.Keys(to)
}

// fill implements what [indexexpr.Indexes.Bind] asks for. What costs nothing is there already.
func (o *own) fill(need indexexpr.Set) {
	out, script := &o.env.Output, o.env.Output.Script
	if need.Has(bitOutputScriptType) || need.Has(bitOutputAddress) || need.Has(bitOutputData) {
		k, payload := solve(script)
		out.ScriptType = kindNames[k]
		if need.Has(bitOutputAddress) {
			out.Address = o.addressText(k, script, payload)
		}
		if need.Has(bitOutputData) {
			out.Data = nil
			if k == nulldata {
				o.data = appendPushed(o.data[:0], script)
				out.Data = o.data
			}
		}
	}
	if need.Has(bitOutputScriptHash) {
		sum := sha256.Sum256(script)
		out.ScriptHash = formatHash(sum)
	}
	if need.Has(bitOutputPushes) {
		out.Pushes, o.lists = pushesOf(o.lists, script)
	}
	if need.Has(bitOutputRunestone) {
		out.Runestone = runestone(script)
	}
	if need.Has(bitOutputInscriptions) {
		var found []inscriptionFields
		found = appendInscriptions(found, script, out.Index)
		out.Inscriptions = pointers(found)
	}
	o.fillTx(need)
	if need.Has(bitBlockHash) {
		o.env.Block.Hash = formatHash(header(o.raw).hash())
	}
}

func (o *own) addressText(k kind, script, payload []byte) string {
	d := o.decoder
	arena := d.arena
	d.arena = o.address[:0]
	stored := d.address(k, script, payload)
	o.address, d.arena = d.arena, arena
	if stored == nil {
		return ""
	}
	return o.net.formatAddress(stored)
}

func (o *own) fillTx(need indexexpr.Set) {
	t := &o.env.Tx
	if need.Has(bitTxHash) || need.Has(bitTxWeight) {
		whole := o.raw[o.tx.start:o.tx.end]
		if o.tx.witness {
			end := skipOutputs(o.raw, o.tx.outputs)
			o.stripped = append(append(append(o.stripped[:0], whole[:4]...), o.raw[o.tx.body:end]...), whole[len(whole)-4:]...)
			whole = o.stripped
		}
		t.Weight = 3*len(whole) + t.Size
		if need.Has(bitTxHash) {
			t.Hash = formatHash(doubleHash(whole))
		}
	}
	if need.Has(bitTxInputs) {
		o.fillInputs()
	}
	if need.Has(bitTxOutputs) {
		o.fillOutputs()
	}
	if need.Has(bitTxInscriptions) {
		o.eachWitness(func(input int, items witnessItems) {
			if script := tapscript(items); script != nil {
				o.inscriptions = appendInscriptions(o.inscriptions, script, input)
			}
		})
		t.Inscriptions = pointers(o.inscriptions)
	}
}

func (o *own) fillInputs() {
	t := &o.env.Tx
	if cap(o.inputs) < t.InputCount {
		o.inputs = make([]inputFields, t.InputCount)
	}
	o.inputs = o.inputs[:t.InputCount]
	_, at := knownCount(o.raw, o.tx.body)
	for i := range o.inputs {
		in := &o.inputs[i]
		*in = inputFields{Index: int(binary.LittleEndian.Uint32(o.raw[at+32:]))}
		if o.run.Uses(bitInputTx) {
			in.Tx = formatHash(model.Hash(o.raw[at:]))
		}
		var size int
		size, at = knownCount(o.raw, at+36)
		in.Script = o.raw[at : at+size]
		at += size
		in.Sequence = int(binary.LittleEndian.Uint32(o.raw[at:]))
		at += 4
		if o.run.Uses(bitInputPushes) || o.run.Uses(bitInputKeys) {
			in.Pushes, o.txLists = pushesOf(o.txLists, in.Script)
		}
	}
	wanted := false
	for _, b := range []indexexpr.Bit{bitInputWitness, bitInputRevealed, bitInputRevealedPushes, bitInputKeys} {
		wanted = wanted || o.run.Uses(b)
	}
	if wanted {
		o.eachWitness(func(input int, items witnessItems) {
			in := &o.inputs[input]
			in.Witness, o.txLists = items.list(o.txLists)
			if in.Revealed = revealed(items); in.Revealed != nil && (o.run.Uses(bitInputRevealedPushes) || o.run.Uses(bitInputKeys)) {
				in.RevealedPushes, o.txLists = pushesOf(o.txLists, in.Revealed)
			}
		})
	}
	if o.run.Uses(bitInputKeys) {
		for i := range o.inputs {
			o.inputs[i].Keys, o.txLists = keysOfInput(o.txLists, &o.inputs[i])
		}
	}
	t.Inputs = pointers(o.inputs)
}

func (o *own) fillOutputs() {
	t := &o.env.Tx
	if cap(o.outputs) < t.OutputCount {
		o.outputs = make([]siblingFields, t.OutputCount)
	}
	o.outputs, o.siblings = o.outputs[:t.OutputCount], o.siblings[:0]
	_, at := knownCount(o.raw, o.tx.outputs)
	for i := range o.outputs {
		out := &o.outputs[i]
		*out = siblingFields{Value: int(binary.LittleEndian.Uint64(o.raw[at:]))}
		var size int
		size, at = knownCount(o.raw, at+8)
		out.Script = o.raw[at : at+size]
		at += size
		if o.run.Uses(bitSiblingData) && isNulldata(out.Script) {
			start := len(o.siblings)
			o.siblings = appendPushed(o.siblings, out.Script)
			out.Data = o.siblings[start:len(o.siblings):len(o.siblings)]
		}
	}
	t.Outputs = pointers(o.outputs)
}

// pointers is a list of pointers to the entries.
func pointers[T any](entries []T) []*T {
	if len(entries) == 0 {
		return nil
	}
	list := make([]*T, len(entries))
	for i := range entries {
		list[i] = &entries[i]
	}
	return list
}

// skipOutputs is where the outputs that begin at a place of well-formed bytes end.
func skipOutputs(raw []byte, at int) int {
	count, at := knownCount(raw, at)
	for range count {
		var size int
		size, at = knownCount(raw, at+8)
		at += size
	}
	return at
}

// maxEntries is how many entries a list of pushes or witness items has: a block has room for millions of them.
const maxEntries = 1 << 14

// pushesOf are the pushes of a script up to where it is no script any more, put behind those in the list.
func pushesOf(list [][]byte, script []byte) (pushes, grown [][]byte) {
	first := len(list)
	for len(script) > 0 && len(list)-first < maxEntries {
		_, data, rest, ok := nextOp(script)
		if !ok {
			break
		}
		if data != nil {
			list = append(list, data)
		}
		script = rest
	}
	return list[first:len(list):len(list)], list
}

// opRunestone marks, after OP_RETURN, a message of the runes protocol: OP_13.
const opRunestone = 0x5d

// runestone is the message of the runes protocol in an output script, nil where it holds none.
func runestone(script []byte) []byte {
	if len(script) < 2 || script[0] != opReturn || script[1] != opRunestone || !isNulldata(script) {
		return nil
	}
	return appendPushed(nil, script[1:])
}
