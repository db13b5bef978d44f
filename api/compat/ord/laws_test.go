package ord_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/btcsuite/btcd/wire/v2"

	"birthmark/chains/bitcoin/block"
	"birthmark/chains/bitcoin/runes"
	"birthmark/core"
	"birthmark/core/coretest"
	"birthmark/internal/testnode/bitcointest"
	"birthmark/internal/testrun"
	"birthmark/internal/testseed"
	"birthmark/model"
	"birthmark/storage/memory"
)

// minter mines random blocks with messages of runes, valid and invalid ones.
type minter struct {
	*rand.Rand
	w     *world
	coins []coin
	ids   []runes.ID // of transactions that may have created a rune
	named uint64     // names that were chosen
	past  [][]coin   // after each height
}

// coin is an unspent output.
type coin struct {
	tx    *wire.MsgTx
	index uint32
}

func (m *minter) id() runes.ID {
	if len(m.ids) == 0 || m.IntN(4) == 0 {
		return runes.ID{}
	}
	return m.ids[m.IntN(len(m.ids))]
}

func (m *minter) amount() model.Uint128 {
	return []model.Uint128{{}, model.Uint128Of(1 + m.Uint64N(100)), {Hi: m.Uint64() >> m.IntN(64), Lo: m.Uint64()}}[m.IntN(3)]
}

// message returns the script of a message, of a transaction with that many outputs.
func (m *minter) message(outputs int) []byte {
	if m.IntN(10) == 0 {
		return []byte{block.OpReturn, block.OpRunestone, block.OpReturn}
	}
	stone := runes.Runestone{}
	if m.IntN(3) == 0 {
		e := &runes.Etching{Divisibility: uint8(m.IntN(39)), Premine: m.amount(), Turbo: m.IntN(2) == 0}
		if m.IntN(2) == 0 {
			e.Terms = runes.Some(runes.Terms{Amount: runes.Some(model.Uint128Of(m.Uint64N(1000))), Cap: runes.Some(model.Uint128Of(m.Uint64N(5)))})
		}
		stone.Etching = e
	}
	if id := m.id(); id.Block > 0 {
		stone.Mint = runes.Some(id)
	}
	for range m.IntN(4) {
		stone.Edicts = append(stone.Edicts, runes.Edict{ID: m.id(), Amount: m.amount(), Output: m.Uint32N(uint32(outputs) + 1)})
	}
	slices.SortStableFunc(stone.Edicts, func(a, b runes.Edict) int { return a.ID.Compare(b.ID) })
	if m.IntN(4) == 0 {
		stone.Pointer = runes.Some(m.Uint32N(uint32(outputs)))
	}
	return stone.Script()
}

// tx spends random coins.
func (m *minter) tx() *wire.MsgTx {
	var tx *wire.MsgTx
	value := int64(0)
	for range 1 + m.IntN(3) {
		if len(m.coins) == 0 {
			break
		}
		at := m.IntN(len(m.coins))
		c := m.coins[at]
		m.coins = slices.Delete(m.coins, at, at+1)
		value += c.tx.TxOut[c.index].Value
		if tx == nil {
			tx = bitcointest.Spend(c.tx, c.index)
			continue
		}
		hash := c.tx.TxHash()
		tx.AddTxIn(wire.NewTxIn(wire.NewOutPoint(&hash, c.index), nil, nil))
	}
	n := m.IntN(4)
	for range n {
		tx.AddTxOut(out(value/4, [][]byte{payKeyHash, payTaproot}[m.IntN(2)]))
	}
	if n == 0 || m.IntN(4) > 0 {
		tx.TxOut = slices.Insert(tx.TxOut, m.IntN(n+1), out(0, m.message(n+1)))
	}
	return tx
}

// next mines a block, or those of a rune whose name is chosen.
func (m *minter) next() {
	if m.IntN(12) == 0 {
		m.named++
		lowest, _, _ := runes.ParseSpaced("BAAAAAAAAAAAAA")
		name, _ := model.Uint128(lowest).Add(model.Uint128Of(m.named))
		tx := m.w.etch(&runes.Runestone{Etching: &runes.Etching{Name: runes.Some(runes.Name(name)), Premine: m.amount()}})
		for len(m.past) < m.w.chain.Height() {
			m.past = append(m.past, slices.Clone(m.coins))
		}
		m.mined(tx)
		return
	}
	var txs []*wire.MsgTx
	for range m.IntN(6) {
		if len(m.coins) == 0 {
			break
		}
		tx := m.tx()
		txs = append(txs, tx)
		m.add(tx)
	}
	m.add(m.w.chain.Mine(txs...).Transactions[0])
	m.mined(txs...)
}

// add adds the outputs of a transaction.
func (m *minter) add(tx *wire.MsgTx) {
	for i, o := range tx.TxOut {
		if len(o.PkScript) > 0 && o.PkScript[0] != block.OpReturn {
			m.coins = append(m.coins, coin{tx, uint32(i)})
		}
	}
}

// mined ends a block with these transactions after the coinbase.
func (m *minter) mined(txs ...*wire.MsgTx) {
	for i := range txs {
		m.ids = append(m.ids, runes.ID{Block: uint64(m.w.chain.Height()), Tx: uint32(i + 1)})
	}
	m.past = append(m.past, slices.Clone(m.coins))
}

// fork removes blocks.
func (m *minter) fork(n int) {
	height := max(1, m.w.chain.Height()-n)
	m.w.chain = m.w.chain.Fork(height)
	m.past = m.past[:height+1]
	m.coins = slices.Clone(m.past[height])
	m.ids = slices.DeleteFunc(m.ids, func(id runes.ID) bool { return id.Block > uint64(height) })
}

func newMinter(t *testing.T) *minter {
	m := &minter{Rand: testseed.Rand(t), w: newWorld(t)}
	for range m.w.chain.Height() + 1 {
		m.past = append(m.past, nil)
	}
	return m
}

// decoded returns the blocks of the chain.
func (m *minter) decoded() (blocks []*model.Block) {
	m.w.Helper()
	file := bitcointest.BlockFile(wire.TestNet, m.w.chain.Blocks()...)
	for b, err := range m.w.db.Chain().Decode(m.w.Context(), bytes.NewReader(file), m.w.db.Indexes(), 0) {
		if err != nil {
			m.w.Fatal(err)
		}
		b.Height = model.HeightPk(len(blocks))
		blocks = append(blocks, b)
	}
	return blocks
}

// The rows are a function of the chain: batches, caches and reorganizations do not change them, and a rollback undoes an
// append.
func TestRowsAreAFunctionOfTheChain(t *testing.T) {
	t.Parallel()
	m := newMinter(t)
	for range testrun.Amount(50, 25) {
		m.next()
	}
	blocks := m.decoded()
	open := func(cache int64) *core.DB {
		db, err := core.Open(t.Context(), memory.New(), core.Options{
			Chain: m.w.db.Chain(), Indexes: m.w.db.Indexes(), CacheBytes: cache,
			Keep: map[string]model.IndexOptions{"address": {Balance: true, Unspent: true, History: true}},
		})
		if err != nil {
			t.Fatal(err)
		}
		return db
	}
	db := open(1 << 20)
	states := []coretest.Dumped{coretest.Dump(t, db)}
	for _, b := range blocks {
		coretest.AppendAll(t, db, []*model.Block{b}, 1)
		states = append(states, coretest.Dump(t, db))
	}
	coretest.Consistent(t, db)
	for _, cut := range []struct {
		batch int
		cache int64
	}{{7, 2 << 10}, {500, 0}} {
		other := open(cut.cache)
		coretest.AppendAll(t, other, blocks, cut.batch)
		coretest.Same(t, "other batches and caches", coretest.Dump(t, other), states[len(blocks)])
		coretest.Consistent(t, other)
	}
	half := len(blocks) / 2
	for i := len(blocks) - 1; i >= half; i-- {
		coretest.Rollback(t, db, blocks[i-1].Point())
		coretest.Same(t, "rolled back", coretest.Dump(t, db), states[i])
	}
	coretest.Consistent(t, db)
	coretest.AppendAll(t, db, blocks[half:], 3)
	coretest.Same(t, "appended again", coretest.Dump(t, db), states[len(blocks)])
}

// ledger is the state of runes after all blocks, as a list of transactions gives it.
type ledger struct {
	rules   *runes.Rules
	tokens  map[model.AssetBirthPk]*model.Token
	burned  map[model.AssetBirthPk]model.Uint128
	names   map[string]model.AssetBirthPk
	outputs map[string]*held // unspent
	scripts map[model.UtxoPk][]byte
}

type held struct {
	pk     model.UtxoPk
	assets []model.TokenAmount
}

func (l *ledger) Token(birth model.AssetBirthPk) (*model.Token, error) { return l.tokens[birth], nil }
func (l *ledger) Count() (uint64, error)                               { return uint64(len(l.tokens)), nil }

func (l *ledger) Named(name []byte) (model.AssetBirthPk, bool, error) {
	birth, ok := l.names[string(name)]
	return birth, ok, nil
}

func (l *ledger) Value(pk model.UtxoPk) ([]byte, error) {
	if version, program, ok := block.WitnessProgram(l.scripts[pk]); ok {
		return append([]byte{version}, program...), nil
	}
	return nil, nil
}

// apply adds a transaction of a block.
func (l *ledger) apply(t *testing.T, b *model.Block, at int, msg *wire.MsgTx) {
	t.Helper()
	pk, err := model.NarrowPointers.Tx(b.Height, at)
	if err != nil {
		t.Fatal(err)
	}
	tx := model.TokenTx{Tx: &b.Txs[at], Pk: pk, Block: b}
	for _, in := range msg.TxIn {
		if at > 0 {
			ref := in.PreviousOutPoint.String()
			tx.Spent = append(tx.Spent, model.TokenInput{Utxo: l.outputs[ref].pk, Assets: l.outputs[ref].assets})
			delete(l.outputs, ref)
		}
	}
	if err := l.rules.Derive(&tx, l); err != nil {
		t.Fatal(err)
	}
	for i, o := range msg.TxOut {
		utxo, _ := pk.Utxo(i)
		l.outputs[fmt.Sprintf("%s:%d", msg.TxHash(), i)] = &held{pk: utxo}
		l.scripts[utxo] = o.PkScript
	}
	for _, birth := range tx.Births {
		info, err := l.rules.Parse(birth.Info)
		if err != nil {
			t.Fatal(err)
		}
		l.tokens[birth.Asset], l.names[string(birth.Name)] = &model.Token{Info: info}, birth.Asset
	}
	for _, s := range tx.Supplies {
		if s.Mints {
			l.tokens[s.Asset].Mints++
		}
		l.burned[s.Asset], _ = l.burned[s.Asset].Add(s.Burned)
	}
	for _, h := range tx.Held {
		o := l.outputs[fmt.Sprintf("%s:%d", msg.TxHash(), h.Output)]
		o.assets = append(o.assets, h.TokenAmount)
	}
}

// compare compares the answers about all outputs and runes with the ledger.
func (m *minter) compare() (runesHeld int) {
	w := m.w
	w.Helper()
	l := &ledger{
		runes.RulesOf(0, false), map[model.AssetBirthPk]*model.Token{}, map[model.AssetBirthPk]model.Uint128{}, map[string]model.AssetBirthPk{},
		map[string]*held{}, map[model.UtxoPk][]byte{},
	}
	mined := w.chain.Blocks()
	for h, b := range m.decoded() {
		for i := range b.Txs {
			l.apply(w.T, b, i, mined[h].Transactions[i])
		}
	}
	refs := slices.Sorted(maps.Keys(l.outputs))
	body, err := json.Marshal(refs)
	if err != nil {
		w.Fatal(err)
	}
	var outputs []struct {
		Indexed bool
		Runes   map[string]struct{ Amount json.Number }
	}
	code, text := w.ask("outputs", string(body))
	if err := json.Unmarshal([]byte(text), &outputs); err != nil || len(outputs) != len(refs) {
		w.Fatalf("%d %.200s: %v", code, text, err)
	}
	for i, ref := range refs {
		want, got := map[string]string{}, map[string]string{}
		for _, a := range l.outputs[ref].assets {
			e := l.tokens[a.Asset].Info.(*runes.Entry)
			want[e.Name.Spaced(e.Spacers)] = a.Amount.String()
		}
		for name, of := range outputs[i].Runes {
			got[name] = of.Amount.String()
		}
		if !maps.Equal(got, want) || !outputs[i].Indexed {
			w.Fatalf("height %d, output %s: %v, expected %v", w.chain.Height(), ref, got, want)
		}
		runesHeld += len(want)
	}
	for birth, token := range l.tokens {
		e := token.Info.(*runes.Entry)
		var answer struct {
			Entry struct {
				Mints           uint64
				Number          uint64
				Burned, Premine json.Number
			}
		}
		code, text := w.ask("rune/"+runes.IDOf(birth.Utxo.Tx()).String(), "")
		err := json.Unmarshal([]byte(text), &answer)
		if got := answer.Entry; err != nil || got.Mints != e.Mints(token.Mints) || got.Number != e.Number ||
			got.Burned.String() != l.burned[birth].String() || got.Premine.String() != e.Premine.String() {
			w.Fatalf("height %d: %d %s, expected %+v with %d supplies and %v burned", w.chain.Height(), code, text, e, token.Mints, l.burned[birth])
		}
	}
	code, text = w.ask("status", "")
	var status struct{ Runes int }
	if err := json.Unmarshal([]byte(text), &status); err != nil || status.Runes != len(l.tokens) {
		w.Fatalf("%d %s, expected %d runes", code, text, len(l.tokens))
	}
	return runesHeld
}

// Over random chains with reorganizations, the runes of every output, and the mints and the burned amount of every rune,
// are those of a slow model that applies the rules to a list of all transactions.
func TestRunesEqualTheModel(t *testing.T) {
	t.Parallel()
	m := newMinter(t)
	most := 0
	for range testrun.Amount(12, 6) {
		for range 4 + m.IntN(8) {
			m.next()
		}
		m.w.sync()
		most = max(most, m.compare())
		m.fork(m.IntN(10))
		for range 12 { // more work than the removed blocks
			m.next()
		}
		m.w.sync()
		most = max(most, m.compare())
	}
	t.Logf("%d blocks, up to %d holdings", m.w.chain.Height(), most)
	if most == 0 {
		t.Error("no output ever held runes")
	}
}
