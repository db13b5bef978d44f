package kupo_test

import (
	"bytes"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"birthmark/chains/cardano/address"
	"birthmark/model"
)

// naive has all outputs and the contents of transactions. It scans every output for every request.
type naive struct {
	chain   model.Chain
	outputs []*output
	at      map[outpoint]*output
	blocks  []model.Point
	datums  map[string]string              // by hash, of outputs and witnesses
	shown   map[string]model.HeightPk      // the heights at which these datums and scripts first occur
	scripts map[string]model.ScriptDetails // by hash, of outputs and witnesses
	err     error

	metadata map[model.Hash][]labels // by block
}

// labels is the metadata of a transaction.
type labels struct {
	tx     model.Hash
	values map[string]any
}

type outpoint struct {
	tx    model.Hash
	index uint32
}

// output is an output.
type output struct {
	height   model.HeightPk
	place    int // of the transaction in its block
	tx       model.Hash
	index    uint32
	address  []byte
	value    uint64
	assets   []model.Asset
	details  model.OutputDetails
	created  model.Point
	spent    *model.Point
	by       model.Hash
	input    int
	redeemer string
}

func newNaive(c model.Chain) *naive {
	n := &naive{chain: c, at: map[outpoint]*output{}, datums: map[string]string{}, scripts: map[string]model.ScriptDetails{}, metadata: map[model.Hash][]labels{},
		shown: map[string]model.HeightPk{}}
	return n
}

func (n *naive) apply(e model.Event) error {
	if e.Block == nil {
		n.rollback(*e.Rollback)
		return nil
	}
	b := e.Block
	n.blocks = append(n.blocks, b.Point())
	for place := range b.Txs {
		if err := n.add(b, place); err != nil {
			return err
		}
	}
	return nil
}

func (n *naive) rollback(to model.Point) {
	kept := func(p model.Point) bool { return !to.IsOrigin() && p.Height <= to.Height }
	n.blocks = slices.DeleteFunc(n.blocks, func(p model.Point) bool { return !kept(p) })
	n.outputs = slices.DeleteFunc(n.outputs, func(o *output) bool {
		if o.spent != nil && !kept(*o.spent) {
			o.spent = nil
		}
		gone := !kept(o.created)
		if gone {
			delete(n.at, outpoint{o.tx, o.index})
		}
		return gone
	})
	for hash, height := range n.shown {
		if to.IsOrigin() || height > to.Height {
			delete(n.shown, hash)
			delete(n.datums, hash)
			delete(n.scripts, hash)
		}
	}
}

// show stores the first block with a datum or script.
func (n *naive) show(hash string, height model.HeightPk) {
	if _, known := n.shown[hash]; !known {
		n.shown[hash] = height
	}
}

// add adds a transaction of a block.
func (n *naive) add(b *model.Block, place int) error {
	tx := &b.Txs[place]
	d, err := n.chain.(model.TxDescriber).DescribeTx(tx.Raw, nil, nil)
	if err != nil {
		return err
	}
	if d.Metadata != nil {
		n.metadata[b.Hash] = append(n.metadata[b.Hash], labels{tx.Hash, d.Metadata})
	}
	if len(tx.Outputs) > 0 { // without outputs, its datums and scripts are not indexed (docs/cardano-clients.md)
		for _, datum := range d.Datums {
			n.datums[datum.Hash] = datum.Raw
			n.show(datum.Hash, b.Height)
		}
		for _, s := range d.Scripts {
			n.scripts[s.Hash] = s
			n.show(s.Hash, b.Height)
		}
	}
	inputs := slices.Clone(tx.Inputs)
	slices.SortFunc(inputs, func(a, b model.Input) int {
		return strings.Compare(fmt.Sprintf("%s %010d", a.Tx, a.Index), fmt.Sprintf("%s %010d", b.Tx, b.Index))
	})
	for i, in := range inputs {
		o := n.at[outpoint{in.Tx, in.Index}]
		if o == nil {
			continue // of the genesis
		}
		at := b.Point()
		o.spent, o.by, o.input, o.redeemer = &at, tx.Hash, i, ""
		for _, r := range d.Redeemers {
			if r.Purpose == "spend" && r.Index == uint64(i) && (d.Valid == nil || *d.Valid) {
				o.redeemer = r.Data.Raw
			}
		}
	}
	for i := range tx.Outputs {
		o := &output{
			height: b.Height, place: place, tx: tx.Hash, index: uint32(tx.OutputIndex(i)), value: tx.Outputs[i].Value,
			assets: tx.Outputs[i].Assets, created: b.Point(),
		}
		for _, k := range tx.Outputs[i].Keys {
			if k.Index == 0 { // of names
				o.address = bytes.Clone(k.Value)
			}
		}
		if len(d.Outputs) > 0 {
			o.details = d.Outputs[i]
		}
		if datum := o.details.Datum; datum != nil {
			n.datums[o.details.DatumHash] = datum.Raw
			n.show(o.details.DatumHash, b.Height)
		}
		if s := o.details.ScriptRef; s != nil {
			n.scripts[s.Hash] = *s
			n.show(s.Hash, b.Height)
		}
		n.outputs = append(n.outputs, o)
		n.at[outpoint{o.tx, o.index}] = o
	}
	return nil
}

// spendersWithoutOutputs returns the ids of transactions that spend an output and have no outputs.
func (n *naive) spendersWithoutOutputs() map[string]bool {
	all := map[string]bool{}
	for _, o := range n.outputs {
		if o.spent != nil {
			all[o.by.String()] = true
		}
	}
	for _, o := range n.outputs {
		delete(all, o.tx.String())
	}
	return all
}

func (o *output) byron() bool { return !address.IsShelley(o.address) }

// credential returns the hash of a credential of the address, in hex; empty: it has none.
func (o *output) credential(of func([]byte) ([]byte, bool)) string {
	cred, ok := of(o.address)
	if !ok {
		return ""
	}
	return hex.EncodeToString(cred[1:])
}

func (o *output) holds(id string) bool {
	return slices.ContainsFunc(o.assets, func(a model.Asset) bool { return strings.HasPrefix(hex.EncodeToString(a.ID), id) })
}

func (o *output) holdsExactly(id string) bool {
	return slices.ContainsFunc(o.assets, func(a model.Asset) bool { return hex.EncodeToString(a.ID) == id })
}

// scriptJSON returns a script, nil for none.
func scriptJSON(s model.ScriptDetails, ok bool) any {
	if !ok {
		return nil
	}
	return map[string]any{"language": strings.Replace(s.Language, "_", ":", 1), "script": s.Raw}
}

func orNull(text string) any {
	if text == "" {
		return nil
	}
	return text
}

func number[N int | uint32 | uint64](n N) json.Number {
	return json.Number(strconv.FormatUint(uint64(n), 10))
}

func pointJSON(p model.Point) map[string]any {
	return map[string]any{"slot_no": number(p.Slot), "header_hash": p.Hash.String()}
}

// match returns an output as the API does.
func (n *naive) match(o *output, resolve bool) map[string]any {
	assets := map[string]any{}
	for _, a := range o.assets {
		id := hex.EncodeToString(a.ID)
		key := id[:56]
		if len(id) > 56 {
			key += "." + id[56:]
		}
		assets[key] = number(a.Amount)
	}
	m := map[string]any{
		"transaction_index": number(o.place), "transaction_id": o.tx.String(), "output_index": number(o.index),
		"address": address.FormatAny(o.address), "value": map[string]any{"coins": number(o.value), "assets": assets},
		"datum_hash": orNull(o.details.DatumHash), "script_hash": nil, "created_at": pointJSON(o.created), "spent_at": nil,
	}
	switch {
	case o.details.Datum != nil:
		m["datum_type"] = "inline"
	case o.details.DatumHash != "":
		m["datum_type"] = "hash"
	}
	if s := o.details.ScriptRef; s != nil {
		m["script_hash"] = s.Hash
	}
	if resolve {
		m["datum"], m["script"] = orNull(n.datums[o.details.DatumHash]), nil
		if s := o.details.ScriptRef; s != nil {
			m["script"] = scriptJSON(*s, true)
		}
	}
	if o.spent != nil {
		spent := pointJSON(*o.spent)
		spent["transaction_id"], spent["input_index"], spent["redeemer"] = o.by.String(), number(o.input), orNull(o.redeemer)
		m["spent_at"] = spent
	}
	return m
}
