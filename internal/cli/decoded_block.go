package cli

import (
	"fmt"
	"slices"
	"strconv"

	"birthmark/core/query"
	"birthmark/core/schema"
	"birthmark/model"
)

// describeBlock describes a decoded block. Indexes are the names of the indexes that the block was decoded with.
func describeBlock(c model.Chain, indexes []string, b *model.Block) (*decodedBlock, error) {
	header, err := c.Header(b.Header)
	if err != nil {
		return nil, fmt.Errorf("header of block %d: %w", b.Height, err)
	}
	d := blockDescriber{c: c, coinbase: c.Traits().Coinbase}
	for _, name := range indexes {
		i := slices.IndexFunc(c.Indexes(), func(x model.Index) bool { return x.Name == name })
		if i < 0 {
			return nil, schema.UnknownIndex(c, name)
		}
		d.indexes = append(d.indexes, c.Indexes()[i])
	}
	a := &decodedBlock{
		Chain: c.Name(), Height: uint32(b.Height), Hash: c.FormatHash(b.Hash), PrevHash: query.FormatParent(c, b.Parent),
		Time: b.Time, Size: b.Size, Header: header, Txs: make([]decodedTx, len(b.Txs)),
	}
	for i := range b.Txs {
		a.Txs[i] = d.tx(i, &b.Txs[i])
	}
	return a, nil
}

type blockDescriber struct {
	c        model.Chain
	coinbase bool
	indexes  []model.Index
}

func (d *blockDescriber) tx(index int, t *model.Tx) decodedTx {
	a := decodedTx{
		Hash: d.c.FormatHash(t.Hash), Coinbase: d.coinbase && index == 0 && len(t.Inputs) == 0,
		Inputs: []decodedInput{}, Outputs: []decodedOutput{},
	}
	if t.Fee.Stated {
		a.Fee = strconv.FormatUint(t.Fee.Amount, 10)
	}
	for i := range t.Inputs {
		a.Inputs = append(a.Inputs, d.input(&t.Inputs[i]))
	}
	for i := range t.Outputs {
		a.Outputs = append(a.Outputs, d.output(t.OutputIndex(i), &t.Outputs[i]))
	}
	for _, m := range t.Mints {
		a.Mints = append(a.Mints, query.MintAnswer{Asset: d.c.FormatAsset(m.Asset), Amount: m.Amount.String()})
	}
	return a
}

func (d *blockDescriber) input(in *model.Input) decodedInput {
	if in.Value == nil {
		n := int(in.Index)
		return decodedInput{Tx: d.c.FormatHash(in.Tx), Index: &n}
	}
	for _, x := range d.c.Indexes() {
		if x.Name == d.c.Traits().SpendIndex {
			return decodedInput{Box: x.Format(in.Value)}
		}
	}
	return decodedInput{}
}

func (d *blockDescriber) output(i int, o *model.Output) decodedOutput {
	a := decodedOutput{Index: i, Value: strconv.FormatUint(o.Value, 10), Keys: map[string]any{}}
	for _, k := range o.Keys {
		x := &d.indexes[k.Index]
		text := x.Format(k.Value)
		if x.Kind == model.ManyValued {
			list, _ := a.Keys[x.Name].([]string)
			a.Keys[x.Name] = append(list, text)
		} else {
			a.Keys[x.Name] = text
		}
	}
	for _, asset := range o.Assets {
		a.Assets = append(a.Assets, query.MintAnswer{Asset: d.c.FormatAsset(asset.ID), Amount: strconv.FormatUint(asset.Amount, 10)})
	}
	return a
}

// decodedBlock is a block as its chain adapter decoded it, without a database: inputs are not resolved.
type decodedBlock struct {
	Chain    string      `json:"chain"`
	Height   uint32      `json:"height"`
	Hash     string      `json:"hash"`
	PrevHash string      `json:"prev_hash,omitempty"`
	Time     int64       `json:"time"`
	Size     int         `json:"size"`
	Header   any         `json:"header"`
	Txs      []decodedTx `json:"txs"`
}

// decodedTx is one transaction of a [decodedBlock].
type decodedTx struct {
	Hash     string             `json:"hash"`
	Coinbase bool               `json:"coinbase"`
	Fee      string             `json:"fee,omitempty"`
	Inputs   []decodedInput     `json:"inputs"`
	Outputs  []decodedOutput    `json:"outputs"`
	Mints    []query.MintAnswer `json:"mints,omitempty"`
}

// decodedInput identifies the output that it spends: by outpoint, or by box id on Ergo.
type decodedInput struct {
	Tx    string `json:"tx,omitempty"`
	Index *int   `json:"index,omitempty"`
	Box   string `json:"box,omitempty"`
}

// decodedOutput is one output of a [decodedTx].
type decodedOutput struct {
	Index  int                `json:"index"`
	Value  string             `json:"value"`
	Keys   map[string]any     `json:"keys"`
	Assets []query.MintAnswer `json:"assets,omitempty"`
}
