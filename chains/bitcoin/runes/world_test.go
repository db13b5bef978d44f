package runes_test

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"fmt"
	"slices"
	"testing"

	"birthmark/chains/bitcoin/block"
	"birthmark/chains/bitcoin/runes"
	"birthmark/model"
)

// spec is a transaction to be mined.
type spec struct {
	in  []spend
	out [][]byte // scripts
}

type outpoint struct {
	tx    model.Hash
	index uint32
}

type spend struct {
	outpoint
	witness [][]byte
}

// serialize returns the bytes of a transaction. Without inputs it is a coinbase, whose script has the height.
func (s *spec) serialize(height model.HeightPk) []byte {
	b := []byte{2, 0, 0, 0}
	witness := false
	for _, in := range s.in {
		witness = witness || len(in.witness) > 0
	}
	if witness {
		b = append(b, 0, 1)
	}
	if len(s.in) == 0 {
		b = append(append(b, 1), make([]byte, 32)...)
		b = append(b, 0xff, 0xff, 0xff, 0xff, 4)
		b = binary.LittleEndian.AppendUint32(b, uint32(height))
		b = append(b, 0xff, 0xff, 0xff, 0xff)
	} else {
		b = block.AppendCompactSize(b, uint64(len(s.in)))
	}
	for _, in := range s.in {
		b = binary.LittleEndian.AppendUint32(append(b, in.tx[:]...), in.index)
		b = append(b, 0, 0xff, 0xff, 0xff, 0xff)
	}
	b = block.AppendCompactSize(b, uint64(len(s.out)))
	for i, script := range s.out {
		b = binary.LittleEndian.AppendUint64(b, uint64(1000+i))
		b = append(block.AppendCompactSize(b, uint64(len(script))), script...)
	}
	for _, in := range s.in {
		if !witness {
			break
		}
		b = block.AppendCompactSize(b, uint64(len(in.witness)))
		for _, item := range in.witness {
			b = append(block.AppendCompactSize(b, uint64(len(item))), item...)
		}
	}
	return append(b, 0, 0, 0, 0)
}

// id returns the hash of a transaction that is not a coinbase.
func (s *spec) id(t testing.TB) model.Hash {
	t.Helper()
	return idOf(t, s.serialize(0))
}

// idOf returns the hash of a serialized transaction.
func idOf(t testing.TB, raw []byte) model.Hash {
	t.Helper()
	id, err := block.Bitcoin.TxID(raw)
	if err != nil {
		t.Fatal(err)
	}
	return id
}

// serializeBlock returns a block whose first transaction is a coinbase.
func serializeBlock(t testing.TB, height model.HeightPk, txs []*spec) []byte {
	t.Helper()
	var body []byte
	var ids []model.Hash
	for _, tx := range txs {
		raw := tx.serialize(height)
		id, err := block.Bitcoin.TxID(raw)
		if err != nil {
			t.Fatal(err)
		}
		body, ids = append(body, raw...), append(ids, id)
	}
	root, _ := block.MerkleRoot(ids)
	header := make([]byte, block.HeaderSize)
	copy(header[36:], root[:])
	return append(block.AppendCompactSize(header, uint64(len(txs))), body...)
}

// noIndexes is an emitter for decoders without indexes.
type noIndexes struct{}

func (noIndexes) MaxKeys() int                                                      { return 0 }
func (noIndexes) MaxBytes([]byte) int                                               { return 0 }
func (noIndexes) Begin(*model.Block, []byte, []byte)                                {}
func (noIndexes) BeginUnconfirmed([]byte, []byte)                                   {}
func (noIndexes) Transaction(int, block.Span)                                       {}
func (noIndexes) Keys(to []model.Key, _ int, _ uint64, _ []byte, _ int) []model.Key { return to }

// world is a chain whose runes the rules derive. It is the state that the core keeps in the database.
type world struct {
	testing.TB
	rules   *runes.Rules
	decoder *block.Decoder
	height  model.HeightPk // of the next block
	unspent map[outpoint]*output
	scripts map[model.UtxoPk][]byte // of all outputs
	tokens  map[model.AssetBirthPk]*token
	names   map[string]model.AssetBirthPk
	err     error // of every read of the state

	needed map[string]bool // assets and names that the current transaction may read
}

type output struct {
	pk     model.UtxoPk
	assets []model.TokenAmount
}

type token struct {
	model.TokenBirth
	supplies       uint64
	minted, burned model.Uint128
}

func newWorld(t testing.TB, rules *runes.Rules, first model.HeightPk) *world {
	w := &world{
		TB: t, rules: rules, decoder: block.NewDecoder(&block.Bitcoin, noIndexes{}), height: first,
		unspent: map[outpoint]*output{},
		scripts: map[model.UtxoPk][]byte{},
		tokens:  map[model.AssetBirthPk]*token{}, names: map[string]model.AssetBirthPk{},
	}
	w.decoder.Tokens = new(runes.Reader)
	return w
}

// Token implements [model.TokenState].
func (w *world) Token(birth model.AssetBirthPk) (*model.Token, error) {
	k := w.tokens[birth]
	if !w.needed[birth.String()] {
		w.Fatalf("Needs does not return the asset %v", birth)
	}
	if k == nil || w.err != nil {
		return nil, w.err
	}
	info, err := w.rules.Parse(k.Info)
	return &model.Token{Info: info, Mints: k.supplies}, err
}

// Named implements [model.TokenState].
func (w *world) Named(name []byte) (model.AssetBirthPk, bool, error) {
	birth, ok := w.names[string(name)]
	if !w.needed[string(name)] {
		w.Fatalf("Needs does not return the name %x", name)
	}
	return birth, ok, w.err
}

// Count implements [model.TokenState].
func (w *world) Count() (uint64, error) { return uint64(len(w.tokens)), w.err }

// Value implements [model.TokenState].
func (w *world) Value(pk model.UtxoPk) ([]byte, error) {
	if w.err != nil {
		return nil, w.err
	}
	if version, program, ok := block.WitnessProgram(w.scripts[pk]); ok {
		return append([]byte{version}, program...), nil
	}
	return nil, nil
}

var (
	taproot = append([]byte{opOne, 32}, make([]byte, 32)...)
	keyHash = append([]byte{0, 20}, make([]byte, 20)...)
)

// mine adds a block with a coinbase and transactions, and returns its height.
func (w *world) mine(txs ...*spec) model.HeightPk {
	return w.mineAfter(&spec{out: [][]byte{keyHash}}, txs...)
}

func (w *world) mineAfter(coinbase *spec, txs ...*spec) model.HeightPk {
	w.Helper()
	height := w.height
	raw := serializeBlock(w, height, append([]*spec{coinbase}, txs...))
	b, err := w.decoder.Block(raw, height)
	if err != nil {
		w.Fatal(err)
	}
	clear(raw) // messages do not reference it
	for i := range b.Txs {
		scripts := coinbase.out
		if i > 0 {
			scripts = txs[i-1].out
		}
		if err := w.add(b, i, scripts); err != nil {
			w.Fatal(err)
		}
	}
	w.height++
	return height
}

// add derives the runes of a transaction and changes the state.
func (w *world) add(b *model.Block, index int, scripts [][]byte) error {
	tx := &b.Txs[index]
	pk, err := model.NarrowPointers.Tx(b.Height, index)
	if err != nil {
		return err
	}
	t := model.TokenTx{Tx: tx, Pk: pk, Block: b}
	holds := false
	for _, in := range tx.Inputs {
		o := w.unspent[outpoint{in.Tx, in.Index}]
		if o == nil {
			return fmt.Errorf("%v spends the unknown output %v:%d", pk, in.Tx, in.Index)
		}
		t.Spent = append(t.Spent, model.TokenInput{Utxo: o.pk, Assets: o.assets})
		holds = holds || len(o.assets) > 0
	}
	if tx.Message != nil || holds || w.rules.Begins(pk) {
		w.needed = map[string]bool{}
		assets, names := w.rules.Needs(tx.Message)
		for _, asset := range assets {
			w.needed[asset.String()] = true
		}
		for _, name := range names {
			w.needed[string(name)] = true
		}
		if err := w.rules.Derive(&t, w); err != nil {
			return err
		}
		w.check(&t, scripts)
	}
	for _, in := range tx.Inputs {
		delete(w.unspent, outpoint{in.Tx, in.Index})
	}
	for i, script := range scripts {
		utxo, _ := pk.Utxo(i)
		w.unspent[outpoint{tx.Hash, uint32(i)}] = &output{pk: utxo}
		w.scripts[utxo] = script
	}
	for _, birth := range t.Births {
		w.tokens[birth.Asset] = &token{TokenBirth: birth}
		w.names[string(birth.Name)] = birth.Asset
	}
	for _, s := range t.Supplies {
		k, ok := w.tokens[s.Asset], false
		if s.Mints {
			k.supplies++
		}
		if k.minted, ok = k.minted.Add(s.Minted); !ok {
			w.Fatalf("%v: more was minted than 128 bits", s.Asset)
		}
		if k.burned, ok = k.burned.Add(s.Burned); !ok || k.burned.Cmp(k.minted) > 0 {
			w.Fatalf("%v: %v minted, %v burned", s.Asset, k.minted, k.burned)
		}
	}
	for _, h := range t.Held {
		o := w.unspent[outpoint{tx.Hash, uint32(h.Output)}]
		o.assets = append(o.assets, h.TokenAmount)
	}
	return nil
}

// check compares the results of a transaction with what the core expects, and checks that no amount appears or
// disappears.
func (w *world) check(t *model.TokenTx, scripts [][]byte) {
	w.Helper()
	sums := map[model.AssetBirthPk]model.Uint128{}
	add := func(asset model.AssetBirthPk, amount model.Uint128, minus bool) {
		var ok bool
		if sums[asset], ok = sums[asset].Add(amount); minus {
			sums[asset], _ = sums[asset].Sub(amount)
			sums[asset], ok = sums[asset].Sub(amount)
		}
		if !ok {
			w.Fatalf("%v: the amounts of %v do not add up", t.Pk, asset)
		}
	}
	for _, in := range t.Spent {
		for _, a := range in.Assets {
			add(a.Asset, a.Amount, false)
		}
	}
	births := map[model.AssetBirthPk]bool{}
	for _, b := range t.Births {
		_, used := w.names[string(b.Name)]
		if births[b.Asset] || w.tokens[b.Asset] != nil || used || b.Asset.Utxo.Tx() != t.Pk || len(b.Name) != 16 || len(b.Info) == 0 {
			w.Fatalf("%v: birth %+v", t.Pk, b)
		}
		if id, ok := runes.ParseAssetID(b.ID); !ok || id != runes.IDOf(t.Pk) {
			w.Fatalf("%v has the asset %x", t.Pk, b.ID)
		}
		births[b.Asset] = true
	}
	known := func(asset model.AssetBirthPk) bool { return births[asset] || w.tokens[asset] != nil }
	for i, s := range t.Supplies {
		if again := slices.IndexFunc(t.Supplies, func(o model.TokenSupply) bool { return o.Asset == s.Asset }); again != i ||
			!known(s.Asset) || !s.Mints && (s.Burned.IsZero() || !s.Minted.IsZero()) {
			w.Fatalf("%v: supply %+v", t.Pk, s)
		}
		add(s.Asset, s.Minted, false)
	}
	for _, s := range t.Supplies {
		add(s.Asset, s.Burned, true)
	}
	for i, h := range t.Held {
		ordered := i == 0 || cmp.Or(
			cmp.Compare(t.Held[i-1].Output, h.Output), cmp.Compare(t.Held[i-1].Asset.Utxo, h.Asset.Utxo)) < 0
		if !ordered || h.Amount.IsZero() || h.Output >= len(scripts) || bytes.HasPrefix(scripts[h.Output],
			[]byte{opReturn}) || !known(h.Asset) {
			w.Fatalf("%v: held %+v", t.Pk, h)
		}
		add(h.Asset, h.Amount, true)
	}
	for asset, rest := range sums {
		if !rest.IsZero() {
			w.Fatalf("%v: %v of %v disappears", t.Pk, rest, asset)
		}
	}
}

// rune returns the entry of a rune with its state.
func (w *world) entry(id runes.ID) (e runes.Entry, mints uint64, burned model.Uint128, ok bool) {
	birth, _ := id.Asset()
	k := w.tokens[birth]
	if k == nil {
		return e, 0, burned, false
	}
	parsed, err := runes.ParseEntry(k.Info)
	if err != nil {
		w.Fatal(err)
	}
	return *parsed, parsed.Mints(k.supplies), k.burned, true
}

// holdings returns the runes of an output as text.
func (w *world) holdings(at outpoint) string {
	o := w.unspent[at]
	if o == nil {
		return "spent"
	}
	var b []byte
	for _, a := range o.assets {
		b = fmt.Appendf(b, "%s=%v ", runes.IDOf(a.Asset.Utxo.Tx()), a.Amount)
	}
	return string(bytes.TrimSpace(b))
}

// all returns the holdings of all outputs that have some.
func (w *world) all() map[outpoint]string {
	all := map[outpoint]string{}
	for at, o := range w.unspent {
		if len(o.assets) > 0 {
			all[at] = w.holdings(at)
		}
	}
	return all
}

// commit mines an output that an etching can spend, and the confirmations that it needs.
func (w *world) commit(script []byte, blocks int) outpoint {
	w.Helper()
	funds := w.fund()
	tx := &spec{in: []spend{{outpoint: funds}}, out: [][]byte{script}}
	w.mine(tx)
	for range blocks - 2 {
		w.mine()
	}
	return outpoint{tx.id(w), 0}
}

// fund returns an output without runes.
func (w *world) fund() outpoint {
	w.Helper()
	height := w.mine()
	coinbase := &spec{out: [][]byte{keyHash}}
	id, err := block.Bitcoin.TxID(coinbase.serialize(height))
	if err != nil {
		w.Fatal(err)
	}
	return outpoint{id, 0}
}

// revealing is the witness of an input that commits to a name.
func revealing(name runes.Name) [][]byte {
	data := name.Commitment()
	return [][]byte{append([]byte{byte(len(data))}, data...), {}}
}

// etch commits to the name of an etching and mines it, with that many outputs before the message.
func (w *world) etch(s runes.Runestone, outputs int) (tx model.Hash, id runes.ID) {
	w.Helper()
	at := w.commit(taproot, 6)
	var witness [][]byte
	if s.Etching != nil {
		witness = revealing(s.Etching.Name.Value)
	}
	made := &spec{in: []spend{{at, witness}}, out: append(slices.Repeat([][]byte{keyHash}, outputs), s.Script())}
	height := w.mine(made)
	return made.id(w), runes.ID{Block: uint64(height), Tx: 1}
}

// send mines a transaction that spends outputs, with that many outputs before the message.
func (w *world) send(s *runes.Runestone, outputs int, in ...outpoint) model.Hash {
	w.Helper()
	made := &spec{out: slices.Repeat([][]byte{keyHash}, outputs)}
	for _, at := range in {
		made.in = append(made.in, spend{outpoint: at})
	}
	if s != nil {
		made.out = append(made.out, s.Script())
	}
	w.mine(made)
	return made.id(w)
}
