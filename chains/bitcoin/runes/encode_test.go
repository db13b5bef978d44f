package runes_test

import (
	"bytes"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"birthmark/chains/bitcoin/block"
	"birthmark/chains/bitcoin/runes"
	"birthmark/internal/testseed"
	"birthmark/model"
)

func option[T any](x T) runes.Option[T] { return runes.Some(x) }

// The messages and sizes are those of ord's tests (crates/ordinals/src/runestone.rs).
func TestMessagesAreWritten(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		stone runes.Runestone
		want  []any
	}{
		{runes.Runestone{}, nil},
		{runes.Runestone{
			Edicts: []runes.Edict{{ID: runes.ID{Block: 2, Tx: 3}, Amount: n(1)}, {ID: runes.ID{Block: 5, Tx: 6},
				Amount: n(4), Output: 1}},
			Etching: &runes.Etching{
				Name: option(runes.NameOf(9)), Divisibility: 7, Premine: n(8), Spacers: 10, Symbol: option('@'), Turbo: true,
				Terms: option(runes.Terms{
					Amount: option(n(14)), Cap: option(n(11)), Height: runes.Range{Start: option(uint64(12)), End: option(uint64(13))},
					Offset: runes.Range{Start: option(uint64(15)), End: option(uint64(16))},
				}),
			},
			Mint: option(runes.ID{Block: 17, Tx: 18}), Pointer: option(uint32(0)),
		}, []any{
			flags, isEtching | hasTerms | isTurbo, name, 9, divisibility, 7, spacers, 10, symbol, '@', premine, 8, amount,
			14, limit, 11,
			heightStart, 12, heightEnd, 13, offsetStart, 15, offsetEnd, 16, mint, 17, mint, 18, pointer, 0, body, 2, 3, 1, 0,
			3, 6, 4, 1,
		}},
		{runes.Runestone{Etching: &runes.Etching{Name: option(runes.NameOf(3))}}, []any{flags, isEtching, name, 3}},
		{runes.Runestone{Etching: &runes.Etching{}}, []any{flags, isEtching}},
	} {
		if got, want := c.stone.Script(), script(c.want...); !bytes.Equal(got, want) {
			t.Errorf("%+v: %x, expected %x", c.stone, got, want)
		}
	}
	edictsOf := func(count int, e runes.Edict) []runes.Edict { return slices.Repeat([]runes.Edict{e}, count) }
	far := runes.ID{Block: 1_000_000, Tx: math.MaxUint32}
	all := runes.Terms{
		Amount: option(n(math.MaxUint64)), Cap: option(n(math.MaxUint32)),
		Height: runes.Range{Start: option(uint64(math.MaxUint32)), End: option(uint64(math.MaxUint32))},
		Offset: runes.Range{Start: option(uint64(math.MaxUint32)), End: option(uint64(math.MaxUint32))},
	}
	highest := option(runes.Name(most))
	for _, c := range []struct {
		edicts  []runes.Edict
		etching *runes.Etching
		want    int
	}{
		{nil, nil, 2},
		{nil, &runes.Etching{Name: option(runes.Name{})}, 7},
		{nil, &runes.Etching{Name: option(runes.Name{}), Divisibility: runes.MaxDivisibility}, 9},
		{nil, &runes.Etching{
			Name: highest, Divisibility: runes.MaxDivisibility, Terms: option(all), Turbo: true, Premine: n(math.MaxUint64),
			Symbol: option(rune(0x10ffff)), Spacers: runes.MaxSpacers,
		}, 89},
		{nil, &runes.Etching{Name: highest}, 25},
		{edictsOf(1, runes.Edict{}), &runes.Etching{Name: highest, Divisibility: runes.MaxDivisibility}, 32},
		{edictsOf(1, runes.Edict{Amount: most}), &runes.Etching{Name: highest, Divisibility: runes.MaxDivisibility}, 50},
		{edictsOf(1, runes.Edict{ID: far}), nil, 14},
		{edictsOf(1, runes.Edict{ID: far, Amount: most}), nil, 32},
		{edictsOf(2, runes.Edict{ID: far, Amount: most}), nil, 54},
		{edictsOf(3, runes.Edict{ID: far, Amount: most}), nil, 76},
		{edictsOf(4, runes.Edict{ID: far, Amount: n(math.MaxUint64)}), nil, 62},
		{edictsOf(5, runes.Edict{ID: far, Amount: n(math.MaxUint64)}), nil, 75},
		{edictsOf(5, runes.Edict{ID: runes.ID{Tx: math.MaxUint32}, Amount: n(math.MaxUint64)}), nil, 73},
		{edictsOf(5, runes.Edict{ID: far, Amount: n(1_000_000_000_000_000_000)}), nil, 70},
	} {
		stone := runes.Runestone{Edicts: c.edicts, Etching: c.etching}
		if got := len(stone.Script()); got != c.want {
			t.Errorf("%+v: %d bytes, expected %d", stone, got, c.want)
		}
	}
	for _, count := range []int{1, 18, 19, 63, 64, 129, 130, 20_000} { // one push, whatever its form
		stone := runes.Runestone{Edicts: make([]runes.Edict, count)}
		pushes, _ := block.Pushes(nil, stone.Script())
		if got := runes.Decode([][]byte{stone.Script()}); len(pushes) != 1 || len(pushes[0]) != 4*count+1 || !equal(got,
			&stone) {
			t.Errorf("%d edicts: %d pushes", count, len(pushes))
		}
	}
}

// randomStone is a valid message of a transaction with that many outputs.
func randomStone(rng *rand.Rand, outputs int) *runes.Runestone {
	wide := func() model.Uint128 {
		return model.Uint128{Hi: rng.Uint64() >> rng.IntN(80), Lo: rng.Uint64() >> rng.IntN(65)}
	}
	number := func() uint64 { return rng.Uint64() >> rng.IntN(65) }
	maybe := func() bool { return rng.IntN(2) == 0 }
	id := func() runes.ID {
		if id := (runes.ID{Block: number(), Tx: uint32(number())}); id.Block > 0 {
			return id
		}
		return runes.ID{}
	}
	s := new(runes.Runestone)
	if maybe() {
		s.Mint = option(id())
	}
	if outputs > 0 && maybe() {
		s.Pointer = option(uint32(rng.IntN(outputs)))
	}
	for range rng.IntN(6) {
		s.Edicts = append(s.Edicts, runes.Edict{ID: id(), Amount: wide(), Output: uint32(rng.IntN(outputs + 1))})
	}
	slices.SortStableFunc(s.Edicts, func(a, b runes.Edict) int { return a.ID.Compare(b.ID) })
	if maybe() {
		return s
	}
	e := &runes.Etching{Spacers: rng.Uint32() & runes.MaxSpacers,
		Divisibility: uint8(rng.IntN(runes.MaxDivisibility + 1)), Turbo: maybe()}
	s.Etching = e
	if maybe() {
		e.Name = option(runes.Name(wide()))
	}
	if maybe() {
		e.Symbol = option([]rune{0, 'a', '⧉', 0xd7ff, 0xe000, 0x10ffff}[rng.IntN(6)])
	}
	if e.Premine = wide(); maybe() {
		e.Premine = model.Uint128{}
	}
	if maybe() {
		return s
	}
	heights := func() (r runes.Range) {
		if maybe() {
			r.Start = option(number())
		}
		if maybe() {
			r.End = option(number())
		}
		return r
	}
	terms := runes.Terms{Height: heights(), Offset: heights()}
	if maybe() {
		terms.Amount = option(wide())
	}
	if maybe() {
		terms.Cap = option(wide())
	}
	minted, ok1 := terms.Amount.Value.Mul(terms.Cap.Value)
	if _, ok2 := minted.Add(e.Premine); !ok1 || !ok2 {
		terms.Cap = option(n(0))
	}
	e.Terms = option(terms)
	return s
}

func TestWrittenMessagesAreReadBack(t *testing.T) {
	t.Parallel()
	rng := testseed.Rand(t)
	for range 20_000 {
		outputs := rng.IntN(5)
		want := randomStone(rng, outputs+1)
		scripts := append(make([][]byte, outputs), want.Script())
		if got := runes.Decode(scripts); !equal(got, want) {
			t.Fatalf("%+v, expected %+v", got, want)
		}
	}
}

// entryOf is the entry of a rune that a message creates.
func entryOf(rng *rand.Rand, s *runes.Runestone) *runes.Entry {
	e := &runes.Entry{Number: rng.Uint64() >> rng.IntN(65), Cenotaph: rng.IntN(5) == 0, Builtin: rng.IntN(5) == 0}
	if s.Etching != nil {
		x := s.Etching
		e.Name, e.Spacers, e.Symbol, e.Divisibility = x.Name.Value, x.Spacers, x.Symbol, x.Divisibility
		e.Premine, e.Terms, e.Turbo = x.Premine, x.Terms, x.Turbo
	}
	return e
}

func TestEntriesAreReadBack(t *testing.T) {
	t.Parallel()
	rng := testseed.Rand(t)
	for range 20_000 {
		want := entryOf(rng, randomStone(rng, 3))
		info := want.Info()
		got, err := runes.ParseEntry(info)
		if err != nil || *got != *want {
			t.Fatalf("%+v, %v, expected %+v", got, err, want)
		}
		for cut := range info {
			if got, err := runes.ParseEntry(info[:cut]); err == nil {
				t.Fatalf("%d of %d bytes are %+v", cut, len(info), got)
			}
		}
		if got, err := runes.ParseEntry(append(info, 0)); err == nil {
			t.Fatalf("a byte after an entry: %+v", got)
		}
	}
}

func TestDescriptions(t *testing.T) {
	t.Parallel()
	bounds := runes.Range{Start: option(uint64(840_000)), End: option(uint64(1_050_000))}
	for want, e := range map[string]runes.Entry{
		"rune number 7; no mints":                                      {Number: 7, Symbol: option(rune(0))},
		"rune number 7; symbol ⧉; premine 5; no mints":                 {Number: 7, Symbol: option('⧉'), Premine: n(5)},
		"rune number 1; created by an invalid message, without supply": {Number: 1, Cenotaph: true},
		"rune number 0; 1 per mint, at most 0 mints":                   {Terms: option(runes.Terms{Amount: option(n(1))})},
		"rune number 0; 0 per mint, at most 3 mints; mints from height 840000; mints before height 1050000; " +
			"mints from block 2 after its creation; mints before block 9 after its creation": {Terms: option(runes.Terms{
			Cap: option(n(3)), Height: bounds, Offset: runes.Range{Start: option(uint64(2)), End: option(uint64(9))},
		})},
	} {
		if got := e.Description(); got != want {
			t.Errorf("%s, expected %s", got, want)
		}
	}
}

// Decoding does not panic, and each decoded message is read back after it was written.
func FuzzDecode(f *testing.F) {
	f.Add(uint8(1), script(edict...))
	f.Add(uint8(0), script(flags, isEtching|hasTerms|isTurbo, name, 4, premine, most, mint, 1, mint, 2, pointer, 0,
		body, 1, 1, most, 1))
	f.Add(uint8(3), []byte{opReturn, magic, 0x4d, 1, 0, 128})
	f.Fuzz(func(t *testing.T, outputs uint8, raw []byte) {
		scripts := append(make([][]byte, outputs), raw)
		got := runes.Decode(scripts)
		if got == nil {
			return
		}
		if got.Flaw != runes.NoFlaw {
			if len(got.Edicts) > 0 || got.Pointer.OK || got.Flaw.String() == "" {
				t.Fatalf("cenotaph %+v", got)
			}
			return
		}
		slices.SortStableFunc(got.Edicts, func(a, b runes.Edict) int { return a.ID.Compare(b.ID) })
		scripts[outputs] = got.Script()
		if again := runes.Decode(scripts); !equal(again, got) {
			t.Fatalf("%+v, expected %+v", again, got)
		}
	})
}

func FuzzEntry(f *testing.F) {
	rng := rand.New(rand.NewPCG(1, 1))
	for range 10 {
		f.Add(entryOf(rng, randomStone(rng, 1)).Info())
	}
	f.Fuzz(func(t *testing.T, info []byte) {
		e, err := runes.ParseEntry(info)
		if err != nil {
			return
		}
		if again, err := runes.ParseEntry(e.Info()); err != nil || *again != *e {
			t.Fatalf("%+v, %v, expected %+v", again, err, e)
		}
	})
}
