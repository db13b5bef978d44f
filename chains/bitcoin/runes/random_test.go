package runes_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"
	"testing"

	"birthmark/chains/bitcoin/runes"
	"birthmark/internal/testrun"
	"birthmark/internal/testseed"
	"birthmark/model"
)

// generator makes random transactions of a world: valid, invalid and hostile ones.
type generator struct {
	*rand.Rand
	w       *world
	unspent []outpoint // in the order in which they appeared
	ids     []runes.ID // of runes
	names   []runes.Name
	next    uint64 // added to the minimum for the next name
	oneEnd  bool   // no rune has two ends of its mints
}

func (g *generator) chance(percent int) bool { return g.IntN(100) < percent }

// number is a small or a large number.
func (g *generator) number(bits int) uint64 { return g.Uint64() >> (64 - g.IntN(bits+1)) }

func (g *generator) amount() model.Uint128 {
	switch g.IntN(6) {
	case 0:
		return model.Uint128{}
	case 1:
		return model.Uint128{Hi: g.Uint64() >> g.IntN(65), Lo: g.Uint64()}
	case 2:
		return most
	}
	return n(g.number(20))
}

func (g *generator) id() runes.ID {
	if len(g.ids) > 0 && g.chance(85) {
		return g.ids[g.IntN(len(g.ids))]
	}
	return []runes.ID{{}, {Block: uint64(g.w.height), Tx: uint32(g.IntN(6))}, {Block: g.number(64) | 1,
		Tx: uint32(g.number(32))}}[g.IntN(3)]
}

// name is a new name, one that is used, or one that cannot be chosen.
func (g *generator) name() runes.Name {
	minimum := model.Uint128(g.w.rules.Minimum(g.w.height))
	switch g.IntN(12) {
	case 0:
		return runes.Name(minus(minimum, g.number(3)))
	case 1:
		return runes.Name(plus(model.Uint128(runes.Reserved), g.number(40)))
	case 2:
		return runes.Name(minus(model.Uint128(runes.Reserved), 1+g.number(4)))
	case 3, 4:
		if len(g.names) > 0 {
			return g.names[g.IntN(len(g.names))]
		}
	}
	g.next++
	name := runes.Name(plus(model.Uint128(lowest), g.next))
	g.names = append(g.names, name)
	return name
}

func (g *generator) bounds(base uint64) (r runes.Range) {
	if g.chance(25) {
		r.Start = option(base + g.number(4))
	}
	if g.chance(25) {
		r.End = option(base + g.number(6))
	}
	if g.chance(2) {
		r.End = option(g.number(64))
	}
	return r
}

func (g *generator) etching() *runes.Etching {
	e := &runes.Etching{
		Divisibility: uint8(g.IntN(39)), Spacers: g.Uint32() & runes.MaxSpacers, Turbo: g.chance(50),
		Symbol: runes.Option[rune]{Value: rune(g.IntN(0xd800)), OK: true},
	}
	if g.chance(80) {
		e.Name = option(g.name())
	}
	if g.chance(70) {
		e.Premine = g.amount()
	}
	if g.chance(70) {
		t := runes.Terms{Height: g.bounds(uint64(g.w.height)), Offset: g.bounds(0)}
		if g.oneEnd && t.Height.End.OK {
			t.Offset.End = runes.Option[uint64]{}
		}
		if g.chance(95) {
			t.Amount = option(n(g.number(16)))
		}
		if g.chance(90) {
			t.Cap = option(n(g.number(6)))
		}
		if g.chance(5) {
			t.Amount, t.Cap = option(g.amount()), option(g.amount())
		}
		e.Terms = option(t)
	}
	if e.Symbol.Value == 0 {
		e.Symbol.OK = g.chance(50)
	}
	return e
}

// stone is a message for a transaction with that many outputs.
func (g *generator) stone(outputs int) *runes.Runestone {
	s := new(runes.Runestone)
	if g.chance(25) {
		s.Etching = g.etching()
	}
	if g.chance(45) {
		s.Mint = option(g.id())
	}
	if g.chance(30) {
		s.Pointer = option(uint32(g.IntN(outputs + 1)))
	}
	for range g.IntN(5) {
		e := runes.Edict{ID: g.id(), Amount: g.amount(), Output: uint32(g.IntN(outputs + 1))}
		if g.chance(3) {
			e.Output++
		}
		s.Edicts = append(s.Edicts, e)
	}
	if s.Etching != nil && g.chance(60) {
		s.Edicts = append(s.Edicts, runes.Edict{Amount: g.amount(), Output: uint32(g.IntN(outputs + 1))})
	}
	return s
}

// hostile is a payload of integers that look like a message.
func (g *generator) hostile() []byte {
	var b []byte
	for range g.IntN(12) {
		b = n([]uint64{0, 1, 2, 2, 3, 4, 5, 6, 8, 10, 12, 14, 16, 18, 20, 20, 22, 24, 127, 126}[g.IntN(20)]).AppendUvarint(b)
		b = []model.Uint128{n(g.number(3)), n(1), n(3), n(7), g.amount(), n(g.number(64)),
			n(uint64(g.w.height))}[g.IntN(7)].AppendUvarint(b)
	}
	if g.chance(30) {
		b = append(b, body)
		for range g.IntN(20) {
			b = n(g.number(5)).AppendUvarint(b)
		}
	}
	if g.chance(10) {
		b = append(b, 128)
	}
	return b
}

// message is the script of a message, perhaps a damaged one, and the name to which the transaction should commit.
func (g *generator) message(outputs int) (script []byte, name runes.Option[runes.Name]) {
	if g.chance(15) {
		return runes.ScriptOf(g.hostile()), name
	}
	s := g.stone(outputs)
	if s.Etching != nil {
		name = s.Etching.Name
	}
	script = s.Script()
	switch g.IntN(25) {
	case 0:
		script = script[:1+g.IntN(len(script))]
	case 1:
		script = append(script, byte(g.IntN(256)))
	case 2:
		script[g.IntN(len(script))] ^= 1 << g.IntN(8)
	}
	return script, name
}

func (g *generator) plainScript() []byte {
	switch g.IntN(12) {
	case 0:
		return [][]byte{{opReturn}, {opReturn, 4}, {opReturn, 1, 7}, {}, {opVerify}}[g.IntN(5)]
	case 1, 2, 3:
		return keyHash
	}
	return taproot
}

// witness is the witness of an input of a transaction that commits to a name.
func (g *generator) witness(name runes.Option[runes.Name]) [][]byte {
	if !name.OK || g.chance(10) {
		return [][][]byte{nil, {{1}}, {{1}, {2}}}[g.IntN(3)]
	}
	w := revealing(name.Value)
	switch g.IntN(20) {
	case 0:
		w[0] = append([]byte{opVerify}, w[0]...)
	case 1:
		w[0] = w[0][1:]
	case 2:
		w = append([][]byte{{3}}, w...)
	case 3, 4:
		w = append(w, []byte{0x50, 1})
	}
	return w
}

// transaction makes a transaction of unspent outputs, which it removes from g.unspent. It has at least one input.
func (g *generator) transaction() *spec {
	tx := &spec{}
	for range g.IntN(5) {
		tx.out = append(tx.out, g.plainScript())
	}
	var name runes.Option[runes.Name]
	if g.chance(70) {
		var script []byte
		script, name = g.message(len(tx.out) + 1)
		tx.out = slices.Insert(tx.out, g.IntN(len(tx.out)+1), script)
	}
	if g.chance(3) {
		script, _ := g.message(len(tx.out) + 1)
		tx.out = append(tx.out, script)
	}
	if len(tx.out) == 0 {
		tx.out = [][]byte{taproot}
	}
	for range 1 + g.IntN(3) {
		if len(g.unspent) == 0 {
			break
		}
		i := g.IntN(len(g.unspent)) // old outputs often
		if g.chance(50) {
			i = max(0, len(g.unspent)-1-g.IntN(40))
		}
		tx.in = append(tx.in, spend{g.unspent[i], g.witness(name)})
		g.unspent = slices.Delete(g.unspent, i, i+1)
	}
	return tx
}

// block mines a block of random transactions. It returns the coinbase and the transactions.
func (g *generator) block(t testing.TB, o *oracle, most int) []*spec {
	t.Helper()
	coinbase := &spec{out: [][]byte{taproot, taproot}}
	if g.chance(10) {
		script, _ := g.message(2)
		coinbase.out[g.IntN(2)] = script
	}
	txs := []*spec{coinbase}
	height := g.w.height
	raw := [][]byte{coinbase.serialize(height)}
	for range g.IntN(most + 1) {
		if len(g.unspent) == 0 {
			break
		}
		tx := g.transaction()
		txs, raw = append(txs, tx), append(raw, tx.serialize(height))
		id := tx.id(t)
		for i := range tx.out {
			g.unspent = append(g.unspent, outpoint{id, uint32(i)})
		}
	}
	g.w.mineAfter(coinbase, txs[1:]...)
	for i, tx := range txs {
		id := idOf(t, raw[i])
		if i == 0 {
			for k := range tx.out {
				g.unspent = append(g.unspent, outpoint{id, uint32(k)})
			}
		}
		if o != nil {
			o.add(uint64(height), i, id, tx)
		}
		rune := runes.ID{Block: uint64(height), Tx: uint32(i)}
		if _, _, _, ok := g.w.entry(rune); ok {
			g.ids = append(g.ids, rune)
		}
	}
	return txs
}

// chainLength is the length of random chains: in transactions, or in blocks if BIRTHMARK_ROUNDS is set, which are smaller.
type chainLength struct {
	blocks, txs int
	most        int // transactions of a block
	every       int // blocks after which the state is compared
}

func lengthOf(t *testing.T, usual chainLength) chainLength {
	t.Helper()
	n := testrun.Rounds(t, 0)
	if n == 0 {
		return usual
	}
	return chainLength{blocks: n, most: 6, every: max(1, n/50)}
}

// Over random chains the rules and the oracle agree: balances of every output, entries, mints and burned amounts.
func TestRulesEqualTheOracle(t *testing.T) {
	t.Parallel()
	rng := testseed.Rand(t)
	length := lengthOf(t, chainLength{txs: 2_500, most: 40, every: 1})
	for _, start := range []struct{ first, height model.HeightPk }{{0, 0}, {840_000, 839_980}, {840_000, 857_490},
		{2_520_000, 2_729_950}} {
		w := newWorld(t, runes.RulesOf(start.first, false), start.height)
		g := &generator{Rand: rng, w: w}
		o := newOracle(uint64(start.first))
		count, blocks, seen := 0, 0, tallies{}
		for count < length.txs || blocks < length.blocks {
			for _, tx := range g.block(t, o, length.most) {
				count++
				seen.add(tx)
			}
			if blocks++; blocks%length.every == 0 {
				compare(t, w, o)
			}
		}
		compare(t, w, o)
		seen.etched, seen.held = len(w.tokens), len(w.all())
		for _, k := range w.tokens {
			if e, err := runes.ParseEntry(k.Info); err == nil {
				seen.mints += e.Mints(k.supplies)
			}
			if !k.burned.IsZero() {
				seen.burned++
			}
		}
		t.Logf("from height %d: %d blocks with %d transactions, %+v", start.height, blocks, count, seen)
		if seen.etched < 40 || seen.mints < 30 || seen.held < 20 || seen.burned < 20 || seen.valid < 500 || seen.cenotaphs < 100 {
			t.Errorf("from height %d: the chain has too little: %+v", start.height, seen)
		}
	}
}

// tallies count what a random chain contains.
type tallies struct {
	valid, cenotaphs, etched, held, burned int
	mints                                  uint64
}

func (c *tallies) add(tx *spec) {
	switch stone := runes.Decode(tx.out); {
	case stone == nil:
	case stone.Flaw == runes.NoFlaw:
		c.valid++
	default:
		c.cenotaphs++
	}
}

func compare(t *testing.T, w *world, o *oracle) {
	t.Helper()
	if len(w.unspent) != len(o.outputs) || len(w.tokens) != len(o.entries) {
		t.Fatalf("height %d: %d outputs and %d runes, expected %d and %d", w.height, len(w.unspent), len(w.tokens),
			len(o.outputs), len(o.entries))
	}
	for at := range w.unspent {
		if got, want := w.holdings(at), o.holdings(at); got != want {
			t.Fatalf("height %d, output %v: %s, expected %s", w.height, at, got, want)
		}
	}
	for id, want := range o.entries {
		known, _ := runes.ParseID(id)
		e, mints, burned, ok := w.entry(known)
		if got := entryText(e, mints, burned); !ok || got != want.text() {
			t.Fatalf("height %d, rune %s:\n%s, expected\n%s", w.height, id, got, want.text())
		}
	}
}

// entryText is the text of an entry in the form of the oracle.
func entryText(e runes.Entry, mints uint64, burned model.Uint128) string {
	show := func(x runes.Option[uint64]) string {
		if !x.OK {
			return "-"
		}
		return strconv.FormatUint(x.Value, 10)
	}
	wide := func(x runes.Option[model.Uint128]) string {
		if !x.OK {
			return "-"
		}
		return x.Value.String()
	}
	symbol := "none"
	if e.Symbol.OK {
		symbol = strconv.Itoa(int(e.Symbol.Value))
	}
	t := e.Terms.Value
	return fmt.Sprint(e.Number, model.Uint128(e.Name).Big(), strconv.Itoa(int(e.Spacers)), symbol,
		strconv.Itoa(int(e.Divisibility)),
		e.Premine.Big(), e.Terms.OK, e.Turbo, wide(t.Amount), wide(t.Cap), show(t.Height.Start), show(t.Height.End),
		show(t.Offset.Start),
		show(t.Offset.End), " ", strconv.FormatUint(mints, 10), " ", burned.Big())
}
