package boxestest

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"slices"

	"golang.org/x/crypto/blake2b"

	"birthmark/chains/ergo"
	"birthmark/chains/ergo/sigma"
	"birthmark/internal/testnode/ergotest"
)

// Naive is a chain with its unconfirmed transactions, in lists.
type Naive struct {
	Blocks []*Block
	Txs    []*Tx  // of the chain
	Boxes  []*Box // of the chain, the genesis first
	Pool   []*Tx
	Fresh  []*Box // that unconfirmed transactions create

	GenesisBoxes int
	byID         map[string]*Box
}

// Block is a block.
type Block struct {
	ID, Parent string
	Height     int
	Timestamp  int64
	Version    int
	Header     map[string]any
	Txs        []*Tx
	JSON       map[string]any
}

// Tx is a transaction.
type Tx struct {
	ID      string
	Block   *Block // nil: unconfirmed
	Index   int
	Global  int
	Inputs  []*Box
	Outputs []*Box
	JSON    map[string]any
}

// Box is a box. Global does not count the genesis, and is 0 in its boxes.
type Box struct {
	ID      string
	Tx      *Tx // nil: genesis
	Index   int
	Global  int
	Value   uint64
	Tree    string
	Tokens  []Token
	JSON    map[string]any
	Spender *Tx            // nil: unspent in the chain
	Proof   map[string]any // the spendingProof of Spender
	Pending *Tx            // the unconfirmed transaction that spends it

	nodeTemplate, template string // hashes, once they were computed
}

// Token is an entry of a box.
type Token struct {
	ID     string
	Amount uint64
}

// Height returns the height of the box.
func (b *Box) Height() int {
	if b.Tx == nil || b.Tx.Block == nil {
		return 0
	}
	return b.Tx.Block.Height
}

// Genesis reports whether the box existed before block 1.
func (b *Box) Genesis() bool { return b.Tx == nil }

// Parse parses JSON with exact numbers. It panics on invalid JSON.
func Parse(raw []byte) (v any) {
	d := json.NewDecoder(bytes.NewReader(raw))
	d.UseNumber()
	if err := d.Decode(&v); err != nil {
		panic(err)
	}
	return v
}

func object(v any) map[string]any { return v.(map[string]any) }

func number(v any) int64 {
	n, err := v.(json.Number).Int64()
	if err != nil {
		panic(err)
	}
	return n
}

// NewNaive makes the model of a chain from the JSON of its genesis boxes, its full blocks and its unconfirmed
// transactions.
func NewNaive(genesis []byte, blocks, pool [][]byte) *Naive {
	n := &Naive{byID: map[string]*Box{}}
	for _, v := range Parse(genesis).([]any) {
		n.Boxes = append(n.Boxes, n.box(object(v), nil, 0, 0))
	}
	n.GenesisBoxes = len(n.Boxes)
	for _, raw := range blocks {
		n.addBlock(object(Parse(raw)))
	}
	for _, raw := range pool {
		t := n.tx(object(Parse(raw)), nil, 0)
		n.Pool = append(n.Pool, t)
		n.Fresh = append(n.Fresh, t.Outputs...)
	}
	return n
}

func (n *Naive) addBlock(j map[string]any) {
	h := object(j["header"])
	b := &Block{
		ID: h["id"].(string), Parent: h["parentId"].(string), Height: int(number(h["height"])), Timestamp: number(h["timestamp"]),
		Version: int(number(h["version"])), Header: h, JSON: j,
	}
	n.Blocks = append(n.Blocks, b)
	for i, v := range object(j["blockTransactions"])["transactions"].([]any) {
		t := n.tx(object(v), b, i)
		t.Global = len(n.Txs)
		b.Txs = append(b.Txs, t)
		n.Txs = append(n.Txs, t)
		n.Boxes = append(n.Boxes, t.Outputs...)
	}
}

func (n *Naive) tx(j map[string]any, b *Block, index int) *Tx {
	t := &Tx{ID: j["id"].(string), Block: b, Index: index, JSON: j}
	for _, v := range j["inputs"].([]any) {
		spent := n.byID[object(v)["boxId"].(string)]
		if spent == nil {
			panic("an input spends an unknown box: " + object(v)["boxId"].(string))
		}
		readableVariables(object(object(object(v)["spendingProof"])["extension"]))
		t.Inputs = append(t.Inputs, spent)
		if b == nil {
			spent.Pending = t
			continue
		}
		spent.Spender, spent.Proof = t, object(object(v)["spendingProof"])
	}
	for i, v := range j["outputs"].([]any) {
		t.Outputs = append(t.Outputs, n.box(object(v), t, i, len(n.Boxes)-n.GenesisBoxes+i))
	}
	return t
}

func (n *Naive) box(j map[string]any, t *Tx, index, global int) *Box {
	b := &Box{
		ID: j["boxId"].(string), Tx: t, Index: index, Global: global, Value: uint64(number(j["value"])), Tree: j["ergoTree"].(string), JSON: j,
	}
	readableRegisters(object(j["additionalRegisters"]))
	for _, v := range j["assets"].([]any) {
		b.Tokens = append(b.Tokens, Token{object(v)["tokenId"].(string), uint64(number(object(v)["amount"]))})
	}
	n.byID[b.ID] = b
	return b
}

// Possible returns the transactions that can be unconfirmed: their inputs and data inputs are unspent boxes of the chain
// or of others among them.
func (n *Naive) Possible(txs []ergotest.Tx) (possible []ergotest.Tx) {
	made := map[string]bool{}
	for _, t := range txs {
		ok, tx := true, object(Parse(t.JSON))
		there := func(id string) bool { b := n.byID[id]; return made[id] || b != nil && b.Spender == nil }
		for _, in := range t.Inputs {
			ok = ok && there(in)
		}
		for _, v := range tx["dataInputs"].([]any) {
			ok = ok && there(object(v)["boxId"].(string))
		}
		if !ok {
			continue
		}
		possible = append(possible, t)
		for _, v := range tx["outputs"].([]any) {
			made[object(v)["boxId"].(string)] = true
		}
	}
	return possible
}

// PendingIDs returns the ids of transactions, boxes and tokens that only unconfirmed transactions have.
func (n *Naive) PendingIDs() map[string]bool {
	ids := map[string]bool{}
	for _, id := range append(append(TxIDs(n.Pool), IDs(n.Fresh)...), Tokens(n.Fresh)...) {
		ids[id] = true
	}
	for _, id := range Tokens(n.Boxes) {
		delete(ids, id)
	}
	return ids
}

// Box returns a box by its id; nil if it does not exist.
func (n *Naive) Box(id string) *Box { return n.byID[id] }

// Tip returns the height of the last block.
func (n *Naive) Tip() int { return len(n.Blocks) }

// Has reports whether the box has a token.
func (b *Box) Has(id string) bool {
	return slices.ContainsFunc(b.Tokens, func(t Token) bool { return t.ID == id && t.Amount > 0 })
}

// Template returns the script of a tree without header and constants; ok is false if it cannot be parsed.
func (b *Box) Template() (template []byte, ok bool) {
	raw, err := hex.DecodeString(b.Tree)
	if err != nil {
		panic(err)
	}
	tree, err := sigma.ParseTree(raw)
	return tree.Template, err == nil
}

// NodeTemplate returns the node's hash of the template of the box.
func (b *Box) NodeTemplate() string {
	if b.nodeTemplate == "" {
		template, ok := b.Template()
		if !ok {
			template, _ = hex.DecodeString(b.Tree)
		}
		sum := blake2b.Sum256(template)
		b.nodeTemplate = hex.EncodeToString(sum[:])
	}
	return b.nodeTemplate
}

// HasTemplate reports whether the box has a template with a hash of the explorer.
func (b *Box) HasTemplate(hash string) bool {
	_, ok := b.Template()
	return ok && b.ExplorerTemplate() == hash
}

// Payable returns the tree that payments to the address of the box have: not every tree with the form of a key is the tree
// of its address.
func (b *Box) Payable() string {
	raw, err := hex.DecodeString(b.Tree)
	if err != nil {
		panic(err)
	}
	return hex.EncodeToString(ergo.AddressTree(ergo.StoredAddress(raw)))
}

// Address returns the address of a box. format writes a stored one.
func Address(format func(stored []byte) string, b *Box) string {
	raw, err := hex.DecodeString(b.Tree)
	if err != nil {
		panic(err)
	}
	return format(ergo.StoredAddress(raw))
}

// ExplorerTemplate returns the explorer's hash of the template of the box: zeros if the tree cannot be parsed.
func (b *Box) ExplorerTemplate() string {
	if b.template == "" {
		var sum [sha256.Size]byte
		if template, ok := b.Template(); ok {
			sum = sha256.Sum256(template)
		}
		b.template = hex.EncodeToString(sum[:])
	}
	return b.template
}

// Where returns the boxes of the chain for which f is true, oldest first.
func (n *Naive) Where(f func(*Box) bool) []*Box { return Filter(n.Boxes, f) }

// TxsWhere returns the transactions of the chain with an input or output for which f is true, oldest first.
func (n *Naive) TxsWhere(f func(*Box) bool) []*Tx { return Touching(n.Txs, f) }

// Page returns the items of a window.
func Page[T any](items []T, offset, limit int) []T {
	items = items[min(offset, len(items)):]
	return items[:min(limit, len(items))]
}

// Reverse returns items in the opposite order.
func Reverse[T any](items []T) []T {
	items = slices.Clone(items)
	slices.Reverse(items)
	return items
}
