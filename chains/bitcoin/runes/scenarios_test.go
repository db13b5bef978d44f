package runes_test

import (
	"errors"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"testing"

	"birthmark/chains/bitcoin/block"
	"birthmark/chains/bitcoin/runes"
	"birthmark/model"
)

// The scenarios of this file are those of ord's tests of its index (src/runes.rs), and more of their kind.

// lowest is a name that can be chosen at every height: 13 letters A.
var lowest = runes.NameOf(99246114928149462)

// second is the name after lowest.
var second = runes.NameOf(99246114928149463)

// state is a rune with its state.
type state struct {
	runes.Entry
	mints  uint64
	burned model.Uint128
}

// expect compares all runes and all holdings of a world. Only outputs with runes are listed.
func (w *world) expect(what string, want map[runes.ID]state, holdings map[outpoint]string) {
	w.Helper()
	got := map[runes.ID]state{}
	for birth := range w.tokens {
		id := runes.IDOf(birth.Utxo.Tx())
		e, mints, burned, _ := w.entry(id)
		got[id] = state{e, mints, burned}
	}
	if !reflect.DeepEqual(got, want) && len(got)+len(want) > 0 {
		w.Fatalf("%s: runes\n%+v\nexpected\n%+v", what, got, want)
	}
	if got := w.all(); !maps.Equal(got, holdings) {
		w.Fatalf("%s: holdings\n%v\nexpected\n%v", what, got, holdings)
	}
}

// regtest is a world in which [world.etch] first creates a rune in block 8.
func regtest(t *testing.T) *world { return newWorld(t, runes.RulesOf(0, false), 2) }

// premined is an etching of all amounts.
func premined(name runes.Name, amount model.Uint128) *runes.Etching {
	return &runes.Etching{Name: option(name), Premine: amount}
}

func named(number uint64, name runes.Name, premine model.Uint128) runes.Entry {
	return runes.Entry{Number: number, Name: name, Premine: premine}
}

// minus subtracts a small number.
func minus(a model.Uint128, k uint64) model.Uint128 { a, _ = a.Sub(n(k)); return a }

// over divides by a small number.
func over(a model.Uint128, k uint64) model.Uint128 { a, _ = a.DivMod(k); return a }

func plus(a model.Uint128, k uint64) model.Uint128 { a, _ = a.Add(n(k)); return a }

func holds(id runes.ID, amount model.Uint128) string { return fmt.Sprintf("%s=%v", id, amount) }

// An etching with edicts: what its outputs hold.
func TestEtchingsAreAllocated(t *testing.T) {
	t.Parallel()
	type edict = runes.Edict
	fourth := over(most, 4)
	rest := over(minus(most, 1000), 4)
	for _, c := range []struct {
		what    string
		etching runes.Etching
		edicts  []edict
		outputs int
		want    map[int]model.Uint128
		burned  model.Uint128
	}{
		{"no supply", runes.Etching{}, nil, 1, nil, n(0)},
		{"everything", runes.Etching{Premine: most}, []edict{{Amount: most}}, 1, map[int]model.Uint128{0: most}, n(0)},
		{"without an edict", runes.Etching{Premine: most}, nil, 1, map[int]model.Uint128{0: most}, n(0)},
		{"divisibility", runes.Etching{Premine: most, Divisibility: 1}, []edict{{Amount: most}}, 1,
			map[int]model.Uint128{0: most}, n(0)},
		{"symbol", runes.Etching{Premine: most, Symbol: option('$')}, []edict{{Amount: most}}, 1,
			map[int]model.Uint128{0: most}, n(0)},
		{"everything twice", runes.Etching{Premine: most}, []edict{{Amount: most}, {Amount: most}}, 1,
			map[int]model.Uint128{0: most}, n(0)},
		{"half, and everything", runes.Etching{Premine: most}, []edict{{Amount: over(most, 2)}, {Amount: most}}, 1,
			map[int]model.Uint128{0: most}, n(0)},
		{"less than the highest supply", runes.Etching{Premine: n(100)}, []edict{{Amount: n(100)}}, 1,
			map[int]model.Uint128{0: n(100)}, n(0)},
		{"to the message", runes.Etching{Premine: n(200)}, []edict{{Amount: n(100)}, {Amount: n(100), Output: 1}}, 1,
			map[int]model.Uint128{0: n(100)}, n(100)},
		{"everything to the message", runes.Etching{Premine: most}, []edict{{Amount: most, Output: 1}}, 1, nil, most},
		{"nothing to the message", runes.Etching{Premine: most}, []edict{{Amount: most}, {Output: 1}}, 1,
			map[int]model.Uint128{0: most}, n(0)},
		{"split", runes.Etching{Premine: most}, []edict{{Output: 5}}, 4,
			map[int]model.Uint128{0: plus(fourth, 1), 1: plus(fourth, 1), 2: plus(fourth, 1), 3: fourth}, n(0)},
		{"split after an edict", runes.Etching{Premine: most}, []edict{{Amount: n(1000)}, {Output: 5}}, 4,
			map[int]model.Uint128{0: plus(rest, 1001), 1: plus(rest, 1), 2: plus(rest, 1), 3: rest}, n(0)},
		{"split before an edict", runes.Etching{Premine: most}, []edict{{Output: 5}, {Amount: n(1000)}}, 4,
			map[int]model.Uint128{0: plus(fourth, 1), 1: plus(fourth, 1), 2: plus(fourth, 1), 3: fourth}, n(0)},
		{"split with an amount", runes.Etching{Premine: n(4000)}, []edict{{Amount: n(1000), Output: 5}}, 4,
			map[int]model.Uint128{0: n(1000), 1: n(1000), 2: n(1000), 3: n(1000)}, n(0)},
		{"split with an amount after an edict", runes.Etching{Premine: most},
			[]edict{{Amount: minus(most, 3000)}, {Amount: n(1000), Output: 5}}, 4,
			map[int]model.Uint128{0: minus(most, 2000), 1: n(1000), 2: n(1000)}, n(0)},
		{"split with an amount before an edict", runes.Etching{Premine: most},
			[]edict{{Amount: n(1000), Output: 5}, {Amount: most}}, 4,
			map[int]model.Uint128{0: minus(most, 3000), 1: n(1000), 2: n(1000), 3: n(1000)}, n(0)},
		{"split of less than one each", runes.Etching{Premine: n(3)}, []edict{{Output: 5}}, 4,
			map[int]model.Uint128{0: n(1), 1: n(1), 2: n(1)}, n(0)},
		{"splits with amounts, as long as there are enough", runes.Etching{Premine: n(100)},
			[]edict{{Amount: n(7), Output: 5}, {Amount: n(7), Output: 5}, {Amount: n(20), Output: 5}, {Amount: n(1),
				Output: 5}}, 4,
			map[int]model.Uint128{0: n(34), 1: n(34), 2: n(18), 3: n(14)}, n(0)},
		{"split with an amount whose product exceeds 128 bits", runes.Etching{Premine: most}, []edict{{Amount: over(most,
			2), Output: 5}}, 4,
			map[int]model.Uint128{0: over(most, 2), 1: over(most, 2), 2: n(1)}, n(0)},
		{"edict after the split", runes.Etching{Premine: n(9)}, []edict{{Amount: n(2), Output: 4}, {Output: 1}}, 3,
			map[int]model.Uint128{0: n(2), 1: n(5), 2: n(2)}, n(0)},
		{"premine and terms", runes.Etching{Premine: n(2000), Terms: option(runes.Terms{Amount: option(n(1000))})},
			[]edict{{Amount: n(2000)}}, 1, map[int]model.Uint128{0: n(2000)}, n(0)},
		{"premine above a mint", runes.Etching{Premine: n(2000), Terms: option(runes.Terms{Amount: option(n(1000)),
			Cap: option(n(1))})},
			[]edict{{Amount: n(2000)}}, 1, map[int]model.Uint128{0: n(2000)}, n(0)},
		{"terms without an amount",
			runes.Etching{Terms: option(runes.Terms{Offset: runes.Range{End: option(uint64(1))}})}, nil, 1, nil, n(0)},
	} {
		w := regtest(t)
		c.etching.Name = option(lowest)
		tx, id := w.etch(runes.Runestone{Etching: &c.etching, Edicts: c.edicts}, c.outputs)
		want := map[outpoint]string{}
		for i, amount := range c.want {
			want[outpoint{tx, uint32(i)}] = holds(id, amount)
		}
		e := c.etching
		w.expect(c.what, map[runes.ID]state{id: {runes.Entry{
			Name: lowest, Premine: e.Premine, Divisibility: e.Divisibility, Symbol: e.Symbol, Terms: e.Terms,
		}, 0, c.burned}}, want)
	}
}

// An output with all of a rune is spent: what the outputs hold. The message is after the outputs; nil: there is none.
func TestRunesOfInputsAreAllocated(t *testing.T) {
	t.Parallel()
	half := over(most, 2)
	halfOfRest := over(minus(most, 1000), 2)
	for _, c := range []struct {
		what    string
		message func(id runes.ID) *runes.Runestone
		outputs int
		want    map[int]model.Uint128
		burned  model.Uint128
	}{
		{"edict", func(id runes.ID) *runes.Runestone {
			return &runes.Runestone{Edicts: []runes.Edict{{ID: id, Amount: most}}}
		}, 1,
			map[int]model.Uint128{0: most}, n(0)},
		{"empty message", func(runes.ID) *runes.Runestone { return &runes.Runestone{} }, 1,
			map[int]model.Uint128{0: most}, n(0)},
		{"no message", func(runes.ID) *runes.Runestone { return nil }, 1, map[int]model.Uint128{0: most}, n(0)},
		{"no output but the message", func(runes.ID) *runes.Runestone { return &runes.Runestone{} }, 0, nil, most},
		{"pointer", func(runes.ID) *runes.Runestone { return &runes.Runestone{Pointer: option(uint32(1))} }, 2,
			map[int]model.Uint128{1: most}, n(0)},
		{"pointer to the message",
			func(runes.ID) *runes.Runestone { return &runes.Runestone{Pointer: option(uint32(2))} }, 2, nil, most},
		{"pointer to no output", func(runes.ID) *runes.Runestone { return &runes.Runestone{Pointer: option(uint32(10))} },
			1, nil, most},
		{"edict of id 0:0", func(id runes.ID) *runes.Runestone {
			return &runes.Runestone{Edicts: []runes.Edict{{Amount: n(100), Output: 1}, {ID: id, Amount: most}}}
		}, 1, map[int]model.Uint128{0: most}, n(0)},
		{"edict above the balance", func(id runes.ID) *runes.Runestone {
			return &runes.Runestone{Edicts: []runes.Edict{{ID: id, Amount: half, Output: 1}, {ID: id, Amount: most}}}
		}, 2, map[int]model.Uint128{0: plus(half, 1), 1: half}, n(0)},
		{"split", func(id runes.ID) *runes.Runestone {
			return &runes.Runestone{Edicts: []runes.Edict{{ID: id, Output: 3}}}
		}, 2,
			map[int]model.Uint128{0: plus(half, 1), 1: half}, n(0)},
		{"split after an edict", func(id runes.ID) *runes.Runestone {
			return &runes.Runestone{Edicts: []runes.Edict{{ID: id, Amount: n(1000)}, {ID: id, Output: 3}}}
		}, 2, map[int]model.Uint128{0: plus(halfOfRest, 1001), 1: halfOfRest}, n(0)},
		{"split before an edict", func(id runes.ID) *runes.Runestone {
			return &runes.Runestone{Edicts: []runes.Edict{{ID: id, Output: 3}, {ID: id, Amount: n(1000), Output: 1}}}
		}, 2, map[int]model.Uint128{0: plus(half, 1), 1: half}, n(0)},
		{"split with an amount", func(id runes.ID) *runes.Runestone {
			return &runes.Runestone{Edicts: []runes.Edict{{ID: id, Amount: n(1000), Output: 3}}}
		}, 2, map[int]model.Uint128{0: minus(most, 1000), 1: n(1000)}, n(0)},
		{"split with an amount after an edict", func(id runes.ID) *runes.Runestone {
			return &runes.Runestone{Edicts: []runes.Edict{{ID: id, Amount: minus(most, 2000)}, {ID: id, Amount: n(1000),
				Output: 5}}}
		}, 4, map[int]model.Uint128{0: minus(most, 1000), 1: n(1000)}, n(0)},
		{"split with an amount before an edict", func(id runes.ID) *runes.Runestone {
			return &runes.Runestone{Edicts: []runes.Edict{{ID: id, Amount: n(1000), Output: 5}, {ID: id, Amount: most}}}
		}, 4, map[int]model.Uint128{0: minus(most, 3000), 1: n(1000), 2: n(1000), 3: n(1000)}, n(0)},
		{"all that is left", func(id runes.ID) *runes.Runestone {
			return &runes.Runestone{Edicts: []runes.Edict{{ID: id, Output: 1}}}
		}, 2,
			map[int]model.Uint128{1: most}, n(0)},
		{"split without destinations", func(id runes.ID) *runes.Runestone {
			return &runes.Runestone{Edicts: []runes.Edict{{ID: id, Output: 1}}}
		},
			0, nil, most},
		{"split with an amount without destinations", func(id runes.ID) *runes.Runestone {
			return &runes.Runestone{Edicts: []runes.Edict{{ID: id, Amount: n(1), Output: 1}}}
		}, 0, nil, most},
		{"edict of a rune that does not exist", func(id runes.ID) *runes.Runestone {
			return &runes.Runestone{Edicts: []runes.Edict{{ID: runes.ID{Block: 1 << 63, Tx: 1}, Amount: n(1), Output: 1},
				{ID: id, Output: 1}}}
		}, 2, map[int]model.Uint128{1: most}, n(0)},
	} {
		w := regtest(t)
		tx, id := w.etch(runes.Runestone{Etching: premined(lowest, most)}, 1)
		if got, want := w.holdings(outpoint{tx, 0}), holds(id, most); got != want {
			t.Fatalf("%s, expected %s", got, want)
		}
		moved := w.send(c.message(id), c.outputs, outpoint{tx, 0})
		want := map[outpoint]string{}
		for i, amount := range c.want {
			want[outpoint{moved, uint32(i)}] = holds(id, amount)
		}
		w.expect(c.what, map[runes.ID]state{id: {named(0, lowest, most), 0, c.burned}}, want)
	}
}

// An output before the others is OP_RETURN.
func TestTheFirstOutputThatIsNotAReturnGetsTheRest(t *testing.T) {
	t.Parallel()
	w := regtest(t)
	tx, id := w.etch(runes.Runestone{Etching: premined(lowest, most)}, 1)
	made := &spec{in: []spend{{outpoint: outpoint{tx, 0}}}, out: [][]byte{{opReturn}, keyHash}}
	w.mine(made)
	w.expect("moved", map[runes.ID]state{id: {Entry: named(0, lowest, most)}}, map[outpoint]string{{made.id(t),
		1}: holds(id, most)})

	made = &spec{in: []spend{{outpoint: outpoint{made.id(t), 1}}}, out: [][]byte{{opReturn, 4}, {opReturn}}}
	w.mine(made)
	w.expect("burned", map[runes.ID]state{id: {named(0, lowest, most), 0, most}}, map[outpoint]string{})
}

func TestOutputsHoldSeveralRunes(t *testing.T) {
	t.Parallel()
	w := regtest(t)
	tx0, id0 := w.etch(runes.Runestone{Etching: premined(lowest, most)}, 1)
	tx1, id1 := w.etch(runes.Runestone{Etching: premined(second, most)}, 1)
	entries := map[runes.ID]state{id0: {Entry: named(0, lowest, most)}, id1: {Entry: named(1, second, most)}}
	w.expect("etched", entries, map[outpoint]string{{tx0, 0}: holds(id0, most), {tx1, 0}: holds(id1, most)})

	both := w.send(nil, 1, outpoint{tx1, 0}, outpoint{tx0, 0})
	w.expect("merged", entries, map[outpoint]string{{both, 0}: holds(id0, most) + " " + holds(id1, most)})

	half := over(most, 2)
	split := w.send(&runes.Runestone{Edicts: []runes.Edict{{ID: id0, Amount: half, Output: 1}, {ID: id1, Amount: half,
		Output: 1}}}, 2,
		outpoint{both, 0})
	first := holds(id0, plus(half, 1)) + " " + holds(id1, plus(half, 1))
	w.expect("split", entries, map[outpoint]string{{split, 0}: first, {split, 1}: holds(id0, half) + " " + holds(id1,
		half)})

	// One input has no balance of the second rune.
	w = regtest(t)
	tx0, id0 = w.etch(runes.Runestone{Etching: premined(lowest, most)}, 1)
	tx1, id1 = w.etch(runes.Runestone{Etching: premined(second, most)}, 1)
	moved := w.send(&runes.Runestone{Edicts: []runes.Edict{{ID: id0, Amount: most}, {ID: id1, Amount: most}}}, 1,
		outpoint{tx0, 0})
	w.expect("no balance", entries, map[outpoint]string{{tx1, 0}: holds(id1, most), {moved, 0}: holds(id0, most)})
	both = w.send(&runes.Runestone{Edicts: []runes.Edict{{ID: id0, Amount: most}, {ID: id1, Amount: most}}}, 1,
		outpoint{moved, 0}, outpoint{tx1, 0})
	w.expect("two inputs", entries, map[outpoint]string{{both, 0}: holds(id0, most) + " " + holds(id1, most)})

	// Both are in one block, and a third transaction of that block spends them.
	w = regtest(t)
	at0, at1 := w.commit(taproot, 6), w.commit(taproot, 6)
	etching := func(at outpoint, name runes.Name) *spec {
		stone := runes.Runestone{Etching: premined(name, n(5))}
		return &spec{in: []spend{{at, revealing(name)}}, out: [][]byte{keyHash, stone.Script()}}
	}
	a, b := etching(at0, lowest), etching(at1, second)
	c := &spec{in: []spend{{outpoint: outpoint{b.id(t), 0}}, {outpoint: outpoint{a.id(t), 0}}}, out: [][]byte{keyHash}}
	height := uint64(w.mine(a, b, c))
	id0, id1 = runes.ID{Block: height, Tx: 1}, runes.ID{Block: height, Tx: 2}
	w.expect("one block", map[runes.ID]state{id0: {Entry: named(0, lowest, n(5))}, id1: {Entry: named(1, second, n(5))}},
		map[outpoint]string{{c.id(t), 0}: holds(id0, n(5)) + " " + holds(id1, n(5))})
}

func TestCenotaphs(t *testing.T) {
	t.Parallel()
	entry := runes.Entry{Name: lowest, Cenotaph: true}
	everything := &runes.Etching{
		Name: option(lowest), Premine: most, Divisibility: 1, Symbol: option('$'), Spacers: 1, Turbo: true,
		Terms: option(runes.Terms{Amount: option(n(1)), Cap: option(n(0)), Offset: runes.Range{Start: option(uint64(1)),
			End: option(uint64(1))}}),
	}
	for what, stone := range map[string]runes.Runestone{
		"edict to no output": {Etching: &runes.Etching{Name: option(lowest)}, Edicts: []runes.Edict{{Amount: n(100)},
			{Amount: n(100), Output: 3}}},
		"pointer": {Etching: &runes.Etching{Name: option(lowest)}, Edicts: []runes.Edict{{Amount: most}},
			Pointer: option(uint32(10))},
		"everything": {Etching: everything, Edicts: []runes.Edict{{Amount: most}}, Pointer: option(uint32(10))},
	} {
		w := regtest(t)
		_, id := w.etch(stone, 1)
		w.expect(what, map[runes.ID]state{id: {Entry: entry}}, map[outpoint]string{})
	}
	// Without a name, it creates no rune.
	w := regtest(t)
	w.send(&runes.Runestone{Etching: &runes.Etching{}, Edicts: []runes.Edict{{Amount: most}},
		Pointer: option(uint32(10))}, 1, w.fund())
	w.expect("reserved", map[runes.ID]state{}, map[outpoint]string{})
}

func TestRunesWithoutANameGetAReservedOne(t *testing.T) {
	t.Parallel()
	w := regtest(t)
	stone := runes.Runestone{Etching: &runes.Etching{Premine: most}, Edicts: []runes.Edict{{Amount: most}}}
	tx0 := w.send(&stone, 2, w.fund())
	id0 := runes.ID{Block: uint64(w.height) - 1, Tx: 1}
	tx1 := w.send(&stone, 1, w.fund())
	id1 := runes.ID{Block: uint64(w.height) - 1, Tx: 1}
	w.expect("etched", map[runes.ID]state{
		id0: {Entry: named(0, runes.ReservedFor(id0), most)}, id1: {Entry: named(1, runes.ReservedFor(id1), most)},
	}, map[outpoint]string{{tx0, 0}: holds(id0, most), {tx1, 0}: holds(id1, most)})

	// A coinbase can have a message too. It has no inputs, so it cannot commit to a name.
	w = regtest(t)
	w.mineAfter(&spec{out: [][]byte{keyHash, stone.Script()}})
	id := runes.ID{Block: 2}
	coinbase := &spec{out: [][]byte{keyHash, stone.Script()}}
	hash, err := block.Bitcoin.TxID(coinbase.serialize(2))
	if err != nil {
		t.Fatal(err)
	}
	w.expect("coinbase", map[runes.ID]state{id: {Entry: named(0, runes.ReservedFor(id), most)}},
		map[outpoint]string{{hash, 0}: holds(id, most)})
}

func TestNamesThatCannotBeChosen(t *testing.T) {
	t.Parallel()
	lowestAt := runes.RulesOf(0, false).Minimum(8)
	before := func(name runes.Name) runes.Name { return runes.Name(minus(model.Uint128(name), 1)) }
	for _, c := range []struct {
		name runes.Name
		ok   bool
	}{{before(lowestAt), false}, {lowestAt, true}, {runes.Reserved, false}, {before(runes.Reserved), true},
		{runes.Name(most), false}} {
		w := regtest(t)
		tx, id := w.etch(runes.Runestone{Etching: premined(c.name, most), Edicts: []runes.Edict{{Amount: most}}}, 1)
		if id.Block != 8 {
			t.Fatalf("etched in block %d", id.Block)
		}
		entries, holdings := map[runes.ID]state{}, map[outpoint]string{}
		if c.ok {
			entries[id], holdings[outpoint{tx, 0}] = state{Entry: named(0, c.name, most)}, holds(id, most)
		}
		w.expect(c.name.String(), entries, holdings)
	}

	// A name is used once; the rest of the message counts.
	w := regtest(t)
	tx, id := w.etch(runes.Runestone{Etching: premined(lowest, most)}, 1)
	at := w.commit(taproot, 6)
	again := runes.Runestone{
		Etching: premined(lowest, n(7)), Pointer: option(uint32(1)), Edicts: []runes.Edict{{Amount: n(1)}, {ID: id,
			Amount: n(9)}},
	}
	made := &spec{in: []spend{{at, revealing(lowest)}, {outpoint: outpoint{tx, 0}}}, out: [][]byte{keyHash, keyHash,
		again.Script()}}
	w.mine(made)
	w.expect("again", map[runes.ID]state{id: {Entry: named(0, lowest, most)}},
		map[outpoint]string{{made.id(t), 0}: holds(id, n(9)), {made.id(t), 1}: holds(id, minus(most, 9))})

	// A cenotaph uses a name.
	w = regtest(t)
	_, id = w.etch(runes.Runestone{Etching: premined(lowest, most), Pointer: option(uint32(9))}, 1)
	w.etch(runes.Runestone{Etching: premined(lowest, most)}, 1)
	w.expect("after a cenotaph", map[runes.ID]state{id: {Entry: runes.Entry{Name: lowest, Cenotaph: true}}},
		map[outpoint]string{})
}

func TestCommitments(t *testing.T) {
	t.Parallel()
	valid := revealing(lowest)
	data := lowest.Commitment()
	annex := []byte{0x50, 1, 2, 3}
	join := func(parts ...[]byte) []byte { return slices.Concat(parts...) }
	for _, c := range []struct {
		what    string
		script  []byte // of the committed output
		blocks  int
		witness [][]byte
		ok      bool
	}{
		{"six confirmations", taproot, 6, valid, true},
		{"five confirmations", taproot, 5, valid, false},
		{"more confirmations", taproot, 20, valid, true},
		{"no taproot output", keyHash, 6, valid, false},
		{"later witness version", append([]byte{opOne + 1, 32}, make([]byte, 32)...), 6, valid, false},
		{"taproot version with a short program", append([]byte{opOne, 20}, make([]byte, 20)...), 6, valid, false},
		{"no witness", taproot, 6, nil, false},
		{"key path", taproot, 6, [][]byte{make([]byte, 64)}, false},
		{"empty push", taproot, 6, [][]byte{{0}, {}}, false},
		{"script that is cut off", taproot, 6, [][]byte{{0x4e}, {}}, false},
		{"script that is cut off before the push", taproot, 6, [][]byte{join([]byte{0x4e, 1}, valid[0]), {}}, false},
		{"script that is cut off after the push", taproot, 6, [][]byte{join(valid[0], []byte{0x4e}), {}}, true},
		{"after other operations", taproot, 6, [][]byte{join([]byte{opVerify, 1, 7}, valid[0], []byte{opVerify}), {}}, true},
		{"in a longer form", taproot, 6, [][]byte{join([]byte{0x4c, byte(len(data))}, data), {}}, true},
		{"with a zero more", taproot, 6, [][]byte{join([]byte{byte(len(data) + 1)}, data, []byte{0}), {}}, false},
		{"with a byte less", taproot, 6, [][]byte{join([]byte{byte(len(data) - 1)}, data[:len(data)-1]), {}}, false},
		{"annex", taproot, 6, append(slices.Clone(valid), annex), true},
		{"other items before", taproot, 6, append([][]byte{{1}, {2}, {3}}, valid...), true},
		{"in the last item", taproot, 6, [][]byte{{}, valid[0]}, false},
		{"annex instead of the control block", taproot, 6, [][]byte{valid[0], annex}, false},
		{"empty annex", taproot, 6, append(slices.Clone(valid), []byte{}), false},
	} {
		w := regtest(t)
		at := w.commit(c.script, c.blocks)
		stone := runes.Runestone{Etching: premined(lowest, n(5))}
		made := &spec{in: []spend{{outpoint: w.fund()}}, out: [][]byte{keyHash, stone.Script()}}
		made.in = []spend{{at, c.witness}}
		w.height-- // fund added a block
		id := runes.ID{Block: uint64(w.mine(made)), Tx: 1}
		entries, holdings := map[runes.ID]state{}, map[outpoint]string{}
		if c.ok {
			entries[id], holdings[outpoint{made.id(t), 0}] = state{Entry: named(0, lowest, n(5))}, holds(id, n(5))
		}
		w.expect(c.what, entries, holdings)
	}

	// Any input can have the commitment, and each name needs its own.
	w := regtest(t)
	early, late := w.commit(taproot, 6), w.commit(taproot, 2)
	stone := runes.Runestone{Etching: premined(second, n(5))}
	made := &spec{
		in:  []spend{{late, revealing(second)}, {outpoint: w.fund()}, {early, append(revealing(second), annex)}},
		out: [][]byte{keyHash, stone.Script()},
	}
	id := runes.ID{Block: uint64(w.mine(made)), Tx: 1}
	w.expect("third input", map[runes.ID]state{id: {Entry: named(0, second, n(5))}}, map[outpoint]string{{made.id(t),
		0}: holds(id, n(5))})
	wrong := &spec{in: []spend{{w.commit(taproot, 6), revealing(second)}}, out: made.out[:1]}
	stone.Etching.Name = option(lowest)
	wrong.out = [][]byte{keyHash, stone.Script()}
	w.mine(wrong)
	if len(w.tokens) != 1 {
		t.Error("an etching with the commitment to another name is valid")
	}
}

// Mints by their heights and caps. Mint is tried in the blocks after the etching.
func TestTermsOfMints(t *testing.T) {
	t.Parallel()
	at := func(k uint64) runes.Option[uint64] { return option(k) }
	for _, c := range []struct {
		what  string
		terms runes.Terms
		want  string // by the number of blocks after the etching: m mints, . does not
	}{
		{"cap", runes.Terms{Amount: option(n(1000)), Cap: option(n(2))}, "mm...."},
		{"no cap", runes.Terms{Amount: option(n(1000))}, "......"},
		{"no amount", runes.Terms{Cap: option(n(3))}, "mmm..."},
		{"offset end", runes.Terms{Amount: option(n(1000)), Cap: option(n(100)), Offset: runes.Range{End: at(2)}}, "m....."},
		{"offset end 0", runes.Terms{Amount: option(n(1000)), Cap: option(n(100)), Offset: runes.Range{End: at(0)}},
			"......"},
		{"offset start", runes.Terms{Amount: option(n(1000)), Cap: option(n(100)), Offset: runes.Range{Start: at(2)}},
			".mmmmm"},
		{"offset start above 64 bits", runes.Terms{Amount: option(n(1)), Cap: option(n(100)),
			Offset: runes.Range{Start: at(1<<64 - 1)}}, "......"},
		{"offset end above 64 bits", runes.Terms{Amount: option(n(1)), Cap: option(n(100)),
			Offset: runes.Range{End: at(1<<64 - 1)}}, "mmmmmm"},
		{"height start", runes.Terms{Amount: option(n(1000)), Cap: option(n(100)), Height: runes.Range{Start: at(10)}},
			".mmmmm"},
		{"height end", runes.Terms{Amount: option(n(1000)), Cap: option(n(100)), Height: runes.Range{End: at(10)}}, "m....."},
		{"the earlier end counts", runes.Terms{
			Amount: option(n(1000)), Cap: option(n(100)), Height: runes.Range{End: at(100)}, Offset: runes.Range{End: at(2)},
		}, "m....."},
		{"the earlier end counts, a height", runes.Terms{
			Amount: option(n(1000)), Cap: option(n(100)), Height: runes.Range{End: at(10)}, Offset: runes.Range{End: at(100)},
		}, "m....."},
		{"the later start counts, a height", runes.Terms{
			Amount: option(n(1000)), Cap: option(n(100)), Height: runes.Range{Start: at(11)}, Offset: runes.Range{Start: at(1)},
		}, "..mmmm"},
		{"the later start counts", runes.Terms{
			Amount: option(n(1000)), Cap: option(n(100)), Height: runes.Range{Start: at(9)}, Offset: runes.Range{Start: at(3)},
		}, "..mmmm"},
		{"a window", runes.Terms{
			Amount: option(n(7)), Cap: option(n(100)), Height: runes.Range{Start: at(10), End: at(12)},
			Offset: runes.Range{Start: at(0), End: at(4)},
		}, ".mm..."},
	} {
		for _, premine := range []uint64{0, 1111} {
			w := regtest(t)
			funds := make([]outpoint, len(c.want))
			stone := runes.Runestone{Etching: &runes.Etching{Name: option(lowest), Premine: n(premine), Terms: option(c.terms)}}
			tx, id := w.etch(stone, 1)
			if id.Block != 8 {
				t.Fatalf("etched in block %d", id.Block)
			}
			holdings := map[outpoint]string{}
			if premine > 0 {
				holdings[outpoint{tx, 0}] = holds(id, n(premine))
			}
			e := named(0, lowest, n(premine))
			e.Terms = option(c.terms)
			now := state{Entry: e}
			// The funds of a mint are the coinbase of the block before.
			funds[0] = outpoint{coinbaseOf(t, w.height-1), 0}
			for i, mints := range c.want {
				funds[i] = outpoint{coinbaseOf(t, w.height-1), 0}
				minting := w.send(&runes.Runestone{Mint: option(id)}, 1, funds[i])
				if mints == 'm' {
					now.mints++
					if amount := c.terms.Amount.Value; !amount.IsZero() {
						holdings[outpoint{minting, 0}] = holds(id, amount)
					}
				}
				w.expect(fmt.Sprintf("%s, %d blocks after the etching", c.what, i+1), map[runes.ID]state{id: now}, holdings)
			}
		}
	}
}

// coinbaseOf returns the hash of the coinbase that mine adds.
func coinbaseOf(t *testing.T, height model.HeightPk) model.Hash {
	t.Helper()
	id, err := block.Bitcoin.TxID((&spec{out: [][]byte{keyHash}}).serialize(height))
	if err != nil {
		t.Fatal(err)
	}
	return id
}

func TestMints(t *testing.T) {
	t.Parallel()
	terms := runes.Terms{Amount: option(n(1000)), Cap: option(n(100))}
	for _, c := range []struct {
		what    string
		message func(runes.ID) *runes.Runestone
		outputs int
		want    map[int]uint64
		mints   uint64
		burned  uint64
	}{
		{"no edict", func(id runes.ID) *runes.Runestone { return &runes.Runestone{Mint: option(id)} }, 1,
			map[int]uint64{0: 1000}, 1, 0},
		{"edict of less", func(id runes.ID) *runes.Runestone {
			return &runes.Runestone{Mint: option(id), Edicts: []runes.Edict{{ID: id, Amount: n(111)}}}
		}, 2, map[int]uint64{0: 1000}, 1, 0},
		{"edict of more", func(id runes.ID) *runes.Runestone {
			return &runes.Runestone{Mint: option(id), Edicts: []runes.Edict{{ID: id, Amount: n(2000)}}}
		}, 1, map[int]uint64{0: 1000}, 1, 0},
		{"several edicts", func(id runes.ID) *runes.Runestone {
			return &runes.Runestone{Mint: option(id), Edicts: slices.Repeat([]runes.Edict{{ID: id, Amount: n(500)}}, 3)}
		}, 1, map[int]uint64{0: 1000}, 1, 0},
		{"split", func(id runes.ID) *runes.Runestone {
			return &runes.Runestone{Mint: option(id), Edicts: []runes.Edict{{ID: id, Output: 3}}}
		}, 2, map[int]uint64{0: 500, 1: 500}, 1, 0},
		{"cenotaph", func(id runes.ID) *runes.Runestone {
			return &runes.Runestone{Mint: option(id), Pointer: option(uint32(10))}
		}, 1, nil, 1, 1000},
		{"no output", func(id runes.ID) *runes.Runestone { return &runes.Runestone{Mint: option(id)} }, 0, nil, 1, 1000},
		{"another rune", func(id runes.ID) *runes.Runestone {
			return &runes.Runestone{Mint: option(runes.ID{Block: id.Block, Tx: 2})}
		}, 1, nil, 0, 0},
		{"a rune that cannot exist",
			func(runes.ID) *runes.Runestone { return &runes.Runestone{Mint: option(runes.ID{Block: 1 << 40})} }, 1, nil, 0, 0},
	} {
		w := regtest(t)
		_, id := w.etch(runes.Runestone{Etching: &runes.Etching{Name: option(lowest), Terms: option(terms)}}, 1)
		e := runes.Entry{Name: lowest, Terms: option(terms)}
		minted := w.send(c.message(id), c.outputs, w.fund())
		want := map[outpoint]string{}
		for i, amount := range c.want {
			want[outpoint{minted, uint32(i)}] = holds(id, n(amount))
		}
		w.expect(c.what, map[runes.ID]state{id: {e, c.mints, n(c.burned)}}, want)
	}

	// In the block of the etching, a later transaction can mint; the etching itself cannot.
	w := regtest(t)
	at, funds := w.commit(taproot, 6), w.fund()
	id := runes.ID{Block: uint64(w.height), Tx: 1}
	self := runes.Runestone{Etching: &runes.Etching{Name: option(lowest), Terms: option(terms)}, Mint: option(id)}
	etching := &spec{in: []spend{{at, revealing(lowest)}}, out: [][]byte{keyHash, self.Script()}}
	mint := runes.Runestone{Mint: option(id)}
	minting := &spec{in: []spend{{outpoint: funds}}, out: [][]byte{keyHash, mint.Script()}}
	w.mine(etching, minting)
	w.expect("one block", map[runes.ID]state{id: {Entry: runes.Entry{Name: lowest, Terms: option(terms)}, mints: 1}},
		map[outpoint]string{{minting.id(t), 0}: holds(id, n(1000))})

	// A message can mint one rune and create another, and move both.
	at = w.commit(taproot, 6)
	both := runes.Runestone{
		Mint: option(id), Etching: premined(second, n(10)),
		Edicts: []runes.Edict{{Amount: n(4), Output: 1}, {ID: id, Amount: n(1), Output: 1}},
	}
	made := &spec{in: []spend{{at, revealing(second)}}, out: [][]byte{keyHash, keyHash, both.Script()}}
	other := runes.ID{Block: uint64(w.mine(made)), Tx: 1}
	if got, want := w.holdings(outpoint{made.id(t), 0}), holds(id, n(999))+" "+holds(other, n(6)); got != want {
		t.Errorf("%s, expected %s", got, want)
	}
	if got, want := w.holdings(outpoint{made.id(t), 1}), holds(id, n(1))+" "+holds(other, n(4)); got != want {
		t.Errorf("%s, expected %s", got, want)
	}
}

// Mainnet has one rune from block 1 on, and no message counts before the first height.
func TestTheRuneOfMainnet(t *testing.T) {
	t.Parallel()
	goods, _, _ := runes.ParseSpaced("UNCOMMON•GOODS")
	id := runes.ID{Block: 1}
	entry := runes.Entry{
		Name: goods, Spacers: 128, Symbol: option('⧉'), Turbo: true, Builtin: true,
		Terms: option(runes.Terms{
			Amount: option(n(1)), Cap: option(most), Height: runes.Range{Start: option(uint64(840_000)),
				End: option(uint64(1_050_000))},
		}),
	}
	w := newWorld(t, runes.RulesOf(840_000, true), 0)
	w.mine()
	w.expect("block 0", map[runes.ID]state{}, map[outpoint]string{})
	w.mine()
	want := map[runes.ID]state{id: {Entry: entry}}
	w.expect("block 1", want, map[outpoint]string{})
	minting := &runes.Runestone{Mint: option(id), Etching: &runes.Etching{Premine: n(5)}}
	for _, height := range []model.HeightPk{1000, 839_998} {
		w.height = height
		w.send(minting, 1, w.fund())
		w.expect("before the first height", want, map[outpoint]string{})
	}
	first := w.send(minting, 1, w.fund())
	other := runes.ID{Block: 840_001, Tx: 1}
	want[id] = state{Entry: entry, mints: 1}
	want[other] = state{Entry: named(1, runes.ReservedFor(other), n(5))}
	both := holds(id, n(1)) + " " + holds(other, n(5))
	w.expect("after it", want, map[outpoint]string{{first, 0}: both})

	minting.Etching = nil
	w.height = 1_049_998
	last := w.send(minting, 1, w.fund())
	w.send(minting, 1, w.fund())
	want[id] = state{Entry: entry, mints: 2}
	w.expect("at the end", want, map[outpoint]string{{first, 0}: both, {last, 0}: holds(id, n(1))})

	if !runes.RulesOf(0, true).Begins(w.pk(1, 0)) || runes.RulesOf(0, true).Begins(w.pk(1, 1)) || runes.RulesOf(0,
		false).Begins(w.pk(1, 0)) {
		t.Error("the rune begins with another transaction")
	}
}

func (w *world) pk(height model.HeightPk, index int) model.TxPk {
	pk, err := model.NarrowPointers.Tx(height, index)
	if err != nil {
		w.Fatal(err)
	}
	return pk
}

// The error of a read is returned: Derive does not decide without the state.
func TestErrorsOfReads(t *testing.T) {
	t.Parallel()
	w := regtest(t)
	_, id := w.etch(runes.Runestone{Etching: premined(lowest, n(5))}, 1)
	at := w.commit(taproot, 6)
	etching := runes.Runestone{Etching: premined(second, n(5))}
	minting, unnamed := runes.Runestone{Mint: option(id)}, runes.Runestone{Etching: new(runes.Etching)}
	w.err = errors.New("broken")
	for _, made := range []*spec{
		{in: []spend{{at, revealing(second)}}, out: [][]byte{keyHash, etching.Script()}},
		{in: []spend{{at, nil}}, out: [][]byte{keyHash, minting.Script()}},
		{in: []spend{{at, nil}}, out: [][]byte{keyHash, unnamed.Script()}},
	} {
		raw := serializeBlock(t, w.height, []*spec{{out: [][]byte{keyHash}}, made})
		b, err := w.decoder.Block(raw, w.height)
		if err != nil {
			t.Fatal(err)
		}
		if err := w.add(b, 1, made.out); !errors.Is(err, w.err) {
			t.Errorf("%v, expected %v", err, w.err)
		}
	}
	// Damaged rows: more than 128 bits.
	asset, _ := id.Asset()
	held := []model.TokenAmount{{Asset: asset, Amount: most}}
	tx := model.Tx{Outputs: make([]model.Output, 1)}
	damaged := model.TokenTx{Tx: &tx, Pk: w.pk(100, 1), Spent: []model.TokenInput{{Assets: held}, {Assets: held}}}
	if err := w.rules.Derive(&damaged, w); err == nil {
		t.Error("a sum above 128 bits is no error")
	}
}

// Only blocks at these heights can have runes.
func TestHeightsWithRunes(t *testing.T) {
	for _, c := range []struct {
		rules *runes.Rules
		next  map[model.HeightPk]model.HeightPk
	}{
		{runes.RulesOf(840_000, true), map[model.HeightPk]model.HeightPk{0: 1, 1: 1, 2: 840_000, 839_999: 840_000, 840_000: 840_000, 900_000: 900_000}},
		{runes.RulesOf(2_520_000, false), map[model.HeightPk]model.HeightPk{0: 2_520_000, 2_520_000: 2_520_000, 2_520_001: 2_520_001}},
		{runes.RulesOf(0, false), map[model.HeightPk]model.HeightPk{0: 0, 1: 1, 7: 7}},
	} {
		for h, want := range c.next {
			if got := c.rules.NextHeight(h); got != want {
				t.Errorf("from %d: %d, expected %d", h, got, want)
			}
		}
	}
}
