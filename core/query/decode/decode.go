package decode

import (
	"fmt"
	"slices"
	"strconv"

	"birthmark/core/query"
	"birthmark/core/schema"
	"birthmark/model"
)

// Of describes a decoded block. Indexes are the names of the indexes that the block was decoded with.
func Of(c model.Chain, indexes []string, b *model.Block) (*Block, error) {
	header, err := c.Header(b.Header)
	if err != nil {
		return nil, fmt.Errorf("header of block %d: %w", b.Height, err)
	}
	d := decoder{c: c, coinbase: c.Traits().Coinbase}
	for _, name := range indexes {
		i := slices.IndexFunc(c.Indexes(), func(x model.Index) bool { return x.Name == name })
		if i < 0 {
			return nil, schema.UnknownIndex(c, name)
		}
		d.indexes = append(d.indexes, c.Indexes()[i])
	}
	a := &Block{
		Chain: c.Name(), Height: uint32(b.Height), Hash: c.FormatHash(b.Hash), PrevHash: query.FormatParent(c, b.Parent),
		Time: b.Time, Size: b.Size, Header: header, Txs: make([]Tx, len(b.Txs)),
	}
	for i := range b.Txs {
		a.Txs[i] = d.tx(i, &b.Txs[i])
	}
	return a, nil
}

type decoder struct {
	c        model.Chain
	coinbase bool
	indexes  []model.Index
}

func (d *decoder) tx(index int, t *model.Tx) Tx {
	a := Tx{
		Hash: d.c.FormatHash(t.Hash), Coinbase: d.coinbase && index == 0 && len(t.Inputs) == 0,
		Inputs: []Input{}, Outputs: []Output{},
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

func (d *decoder) input(in *model.Input) Input {
	if in.Value == nil {
		n := int(in.Index)
		return Input{Tx: d.c.FormatHash(in.Tx), Index: &n}
	}
	for _, x := range d.c.Indexes() {
		if x.Name == d.c.Traits().SpendIndex {
			return Input{Box: x.Format(in.Value)}
		}
	}
	return Input{}
}

func (d *decoder) output(i int, o *model.Output) Output {
	a := Output{Index: i, Value: strconv.FormatUint(o.Value, 10), Keys: map[string]any{}}
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

// Block is a block as its chain adapter decoded it, without a database: inputs are not resolved.
type Block struct {
	Chain    string `json:"chain"`
	Height   uint32 `json:"height"`
	Hash     string `json:"hash"`
	PrevHash string `json:"prev_hash,omitempty"`
	Time     int64  `json:"time"`
	Size     int    `json:"size"`
	Header   any    `json:"header"`
	Txs      []Tx   `json:"txs"`
}

// Tx is one transaction of a [Block].
type Tx struct {
	Hash     string             `json:"hash"`
	Coinbase bool               `json:"coinbase"`
	Fee      string             `json:"fee,omitempty"`
	Inputs   []Input            `json:"inputs"`
	Outputs  []Output           `json:"outputs"`
	Mints    []query.MintAnswer `json:"mints,omitempty"`
}

// Input identifies the output that it spends: by outpoint, or by box id on Ergo.
type Input struct {
	Tx    string `json:"tx,omitempty"`
	Index *int   `json:"index,omitempty"`
	Box   string `json:"box,omitempty"`
}

// Output is one output of a [Tx].
type Output struct {
	Index  int                `json:"index"`
	Value  string             `json:"value"`
	Keys   map[string]any     `json:"keys"`
	Assets []query.MintAnswer `json:"assets,omitempty"`
}
