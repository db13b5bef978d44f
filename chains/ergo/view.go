package ergo

import (
	"encoding/hex"
	"math"
	"math/big"

	"birthmark/chains/ergo/sigma"
	"birthmark/chains/indexexpr"
	"birthmark/model"
)

// view has the values that expressions read of a block, one box at a time, and their sources. The functions below make
// one field each; fields that no expression uses stay empty. Values may point into the decoder's memory.
type view struct {
	environment
	d *decoder

	block  *model.Block // nil in the genesis
	tx     *model.Tx
	source *transaction
	box    *sigma.Box
	id     *sigma.ID // of the box

	scratch   []byte
	addresses map[string]string // of some trees: base 58 takes as long as the rest of a box
}

// The makers of fields by name.
var (
	blockMakers = map[string]func(*view){
		"height":     func(v *view) { v.Block.Height = int(v.block.Height) },
		"hash":       func(v *view) { v.Block.Hash = v.block.Hash[:] },
		"time":       func(v *view) { v.Block.Time = int(v.block.Time) },
		"size":       func(v *view) { v.Block.Size = v.block.Size },
		"version":    func(v *view) { v.Block.Version = int(v.d.header.Version) },
		"difficulty": func(v *view) { v.Block.Difficulty = fitting(v.d.header.Difficulty()) },
		"miner_key":  func(v *view) { v.Block.MinerKey = v.d.header.MinerKey[:] },
		"votes":      func(v *view) { v.Block.Votes = v.d.header.Votes[:] },
		"tx_count":   func(v *view) { v.Block.TxCount = len(v.d.txs) },
	}
	txMakers = map[string]func(*view){
		"hash":         func(v *view) { v.Tx.Hash = v.source.id[:] },
		"index":        func(*view) {}, // set with the transaction
		"size":         func(v *view) { v.Tx.Size = v.txSize() },
		"input_count":  func(v *view) { v.Tx.InputCount = len(v.source.Inputs) },
		"output_count": func(v *view) { v.Tx.OutputCount = len(v.source.Outputs) },
		"inputs":       func(v *view) { v.Tx.Inputs = v.inputs() },
		"data_inputs":  func(v *view) { v.Tx.DataInputs = v.dataInputs() },
		"mints":        func(v *view) { v.Tx.Mints = mints(v.tx.Mints) },
	}
	outputMakers = map[string]func(*view){
		"index":                   func(*view) {},                                      // set with the box
		"value":                   func(v *view) { v.Output.Value = int(v.box.Value) }, // of 63 bits, as amounts of tokens are
		"size":                    func(v *view) { v.Output.Size = v.boxSize() },
		"box_id":                  func(v *view) { v.Output.BoxID = v.id[:] },
		"address":                 func(v *view) { v.Output.Address = v.address() },
		"ergo_tree":               func(v *view) { v.Output.Tree = v.box.Tree },
		"ergo_tree_hash":          makeTreeHash,
		"ergo_tree_template_hash": makeTemplateHash,
		"creation_height":         func(v *view) { v.Output.CreationHeight = int(v.box.Height) },
		"assets":                  func(v *view) { v.Output.Assets = assets(v.box.Tokens) },
		"registers": func(v *view) {
			v.Output.Registers = registers(v.Output.Registers, v.box, func(raw []byte) []byte { return raw })
		},
		"values":         func(v *view) { v.Output.Values = registers(v.Output.Values, v.box, valueOf) },
		"register_texts": func(v *view) { v.Output.RegisterTexts = registerTexts(v.box) },
	}
)

// maxAddresses bounds the cache of addresses; only trees of at most maxTree bytes are cached. Most boxes share few
// scripts.
const (
	maxAddresses = 256
	maxTree      = 2 << 10
)

func (v *view) address() string {
	tree := v.box.Tree
	if text, ok := v.addresses[string(tree)]; ok {
		return text
	}
	v.scratch = appendAddress(v.scratch[:0], tree, &v.d.points)
	text := formatAddress(v.d.net, v.scratch)
	if len(tree) <= maxTree {
		if v.addresses == nil || len(v.addresses) >= maxAddresses {
			v.addresses = make(map[string]string, maxAddresses)
		}
		v.addresses[string(tree)] = text
	}
	return text
}

func makeTreeHash(v *view) {
	sum := treeHash(v.box.Tree)
	v.Output.TreeHash = sum[:]
}

func makeTemplateHash(v *view) {
	v.Output.TemplateHash = nil
	if sum, ok := templateHash(v.box.Tree); ok {
		v.Output.TemplateHash = sum[:]
	}
}

// fitting returns n, or the largest int64 if n exceeds it.
func fitting(n *big.Int) int {
	if !n.IsInt64() {
		return math.MaxInt64
	}
	return int(n.Int64())
}

func (v *view) txSize() int {
	if v.source.id == (sigma.ID{}) { // the genesis
		return 0
	}
	v.scratch = v.d.e.AppendTx(v.scratch[:0], &v.source.Tx, true)
	return len(v.scratch)
}

func (v *view) boxSize() int {
	v.scratch = v.box.AppendTo(v.scratch[:0], &v.source.id, v.Output.Index)
	return len(v.scratch)
}

func (v *view) inputs() [][]byte {
	ids := make([][]byte, len(v.source.Inputs))
	for i := range ids {
		ids[i] = v.source.Inputs[i].Box[:]
	}
	return ids
}

func (v *view) dataInputs() [][]byte {
	ids := make([][]byte, len(v.source.DataInputs))
	for i := range ids {
		ids[i] = v.source.DataInputs[i][:]
	}
	return ids
}

func mints(ms []model.Mint) []*mint {
	all := make([]mint, len(ms))
	for i, m := range ms {
		said := describeToken(m.Info)
		all[i] = mint{ID: m.Asset, Amount: fitting(m.Amount), Name: said.Name, Description: said.Description}
		if said.Decimals != nil {
			all[i].Decimals = *said.Decimals
		}
	}
	return indexexpr.Pointers(all)
}

func assets(tokens []sigma.Token) []*asset {
	all := make([]asset, len(tokens))
	for i := range tokens {
		all[i] = asset{ID: tokens[i].ID[:], Amount: int(tokens[i].Amount)}
	}
	return indexexpr.Pointers(all)
}

// registerNames are the names of the additional registers.
var registerNames = [...]string{"R4", "R5", "R6", "R7", "R8", "R9"}

// registers returns f of the additional registers of the box, in a map that is reused.
func registers[T any](was map[string]T, b *sigma.Box, f func(raw []byte) T) map[string]T {
	if was == nil {
		was = map[string]T{}
	}
	clear(was)
	for i, raw := range b.Registers {
		was[registerNames[i]] = f(raw)
	}
	return was
}

func registerTexts(b *sigma.Box) []string {
	texts := make([]string, len(b.Registers))
	for i, raw := range b.Registers {
		texts[i] = registerNames[i] + ":" + hex.EncodeToString(raw)
	}
	return texts
}

// valueOf returns a value as expressions see it: large numbers are text.
func valueOf(raw []byte) any {
	value, _ := sigma.Value(raw)
	return plain(value)
}

func plain(v any) any {
	switch v := v.(type) {
	case sigma.BigInt:
		return string(v)
	case []any:
		for i := range v {
			v[i] = plain(v[i])
		}
	}
	return v
}
