package model

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"birthmark/internal/testseed"
)

// places returns a part of a pointer, often at a bound.
func places(rng *rand.Rand, most int) int {
	switch rng.IntN(4) {
	case 0:
		return 0
	case 1:
		return most
	case 2:
		return rng.IntN(3)
	}
	return rng.IntN(most + 1)
}

// made is one pointer of each type from the same numbers.
type made struct {
	numbers [4]int // height, transaction, input or output, entry
	height  HeightPk
	tx      TxPk
	input   InputPk
	utxo    UtxoPk
	asset   AssetPk
	wide    BirthPk
}

func makeAll(t testing.TB, form Pointers, numbers [4]int) (m made) {
	t.Helper()
	fits := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatalf("%v: %v", numbers, err)
		}
	}
	var err error
	m.numbers = numbers
	m.height, err = NewHeightPk(uint64(numbers[0]))
	fits(err)
	m.tx, err = form.Tx(m.height, numbers[1])
	fits(err)
	m.input, err = m.tx.Input(numbers[2])
	fits(err)
	m.utxo, err = m.tx.Utxo(numbers[2])
	fits(err)
	n, err := NewOrdinal(numbers[3])
	fits(err)
	m.asset, m.wide = AssetPk{m.utxo, n}, BirthPk{m.utxo, n}
	return m
}

// encoded returns the encoded pointers and the number of parts of each.
func (m *made) encoded() map[string]struct {
	b     []byte
	parts int
} {
	type encoding = struct {
		b     []byte
		parts int
	}
	return map[string]encoding{
		"height_pk":      {m.height.AppendTo(nil), 1},
		"tx_pk":          {m.tx.AppendTo(nil), 2},
		"input_pk":       {m.input.AppendTo(nil), 3},
		"utxo_pk":        {m.utxo.AppendTo(nil), 3},
		"birth_pk":       {BirthPk{Utxo: m.utxo}.AppendTo(nil, false), 3},
		"asset_pk":       {m.asset.AppendTo(nil), 4},
		"asset_birth_pk": {AssetBirthPk(m.asset).AppendTo(nil), 4},
		"wide birth_pk":  {m.wide.AppendTo(nil, true), 4},
	}
}

// eachForm runs a test for both forms of pointers.
func eachForm(t *testing.T, test func(t *testing.T, form Pointers, numbers func(rng *rand.Rand) [4]int)) {
	for name, form := range map[string]Pointers{"narrow": NarrowPointers, "wide": WidePointers} {
		height, tx, index := form.Limits()
		t.Run(name, func(t *testing.T) {
			test(t, form, func(rng *rand.Rand) [4]int {
				return [4]int{places(rng, int(height)), places(rng, tx), places(rng, index), places(rng, math.MaxUint16)}
			})
		})
	}
}

// Byte order is chain order for every type of pointer, and AppendTo keeps the prefix.
func TestPointersAreOrderedLikeTheChain(t *testing.T) { eachForm(t, orderedLikeTheChain) }

func orderedLikeTheChain(t *testing.T, form Pointers, numbers func(rng *rand.Rand) [4]int) {
	rng := rand.New(rand.NewPCG(testseed.Of(t, 1), 0))
	for range 20_000 {
		a, b := makeAll(t, form, numbers(rng)), makeAll(t, form, numbers(rng))
		others := b.encoded()
		for name, e := range a.encoded() {
			want := 0
			for i := range e.parts {
				if want == 0 {
					want = cmp.Compare(a.numbers[i], b.numbers[i])
				}
			}
			if got := bytes.Compare(e.b, others[name].b); got != want {
				t.Fatalf("%s of %v and %v compare as %d, expected %d", name, a.numbers, b.numbers, got, want)
			}
		}
		if got, want := cmp.Compare(a.utxo, b.utxo), bytes.Compare(a.utxo.AppendTo(nil), b.utxo.AppendTo(nil)); got != want {
			t.Fatalf("as numbers %v and %v compare as %d, as bytes as %d", a.utxo, b.utxo, got, want)
		}
		if got := a.utxo.AppendTo([]byte("before")); !bytes.HasPrefix(got, []byte("before")) || len(got) != 6+PkSize {
			t.Fatalf("appended to: %x", got)
		}
	}
}

// Trap 9: parsing an encoded pointer returns the same pointer, with the same parts.
func TestPointersTellWhatTheyAreMadeOf(t *testing.T) { eachForm(t, tellWhatTheyAreMadeOf) }

func tellWhatTheyAreMadeOf(t *testing.T, form Pointers, numbers func(rng *rand.Rand) [4]int) {
	rng := rand.New(rand.NewPCG(testseed.Of(t, 1), 0))
	for range 20_000 {
		n := numbers(rng)
		m := makeAll(t, form, n)
		got := [][]int{
			{int(m.tx.Height()), m.tx.TxIndex()},
			{int(m.input.Height()), m.input.TxIndex(), m.input.Index()},
			{int(m.utxo.Height()), m.utxo.TxIndex(), m.utxo.Index()},
		}
		want := [][]int{n[:2], n[:3], n[:3]}
		if fmt.Sprint(got) != fmt.Sprint(want) {
			t.Fatalf("made of %v, tells %v", n, got)
		}
		if m.input.Tx() != m.tx || m.utxo.Tx() != m.tx {
			t.Fatalf("%v: input %v and output %v belong to other transactions than %v", n, m.input, m.utxo, m.tx)
		}
		first, last := form.First(m.height), form.Last(m.height)
		if first > m.tx || last < m.utxo || first.Height() != m.height || last.Height() != m.height {
			t.Fatalf("%v is not between %v and %v", m.utxo, first, last)
		}
		if last+1 != form.First(m.height+1).First() {
			t.Fatalf("%v is the last one of block %d, and %v the first one of the next", last, n[0], form.First(m.height+1))
		}
		if m.tx.First() > m.utxo || m.tx.Last() < m.utxo || m.tx.Last().Tx() != m.tx || m.tx.Next().First() != m.tx.Last()+1 {
			t.Fatalf("%v is not between %v and %v, before %v", m.utxo, m.tx.First(), m.tx.Last(), m.tx.Next())
		}
		if m.tx.Pointers() != form {
			t.Fatalf("%v has form %d, expected %d", m.tx, m.tx.Pointers(), form)
		}
		if s := m.asset.String(); s != fmt.Sprintf("%d/%d/%d/%d", n[0], n[1], n[2], n[3]) || m.wide.String() != s || AssetBirthPk(m.asset).String() != s {
			t.Fatalf("%v is formatted as %s", n, s)
		}
		for name, e := range m.encoded() {
			if again, err := reread(name, e.b); err != nil || !bytes.Equal(again, e.b) {
				t.Fatalf("%s of %v: encoded %x, parsed and encoded %x, %v", name, n, e.b, again, err)
			}
		}
	}
}

// reread parses a pointer and encodes it again.
func reread(name string, b []byte) (again []byte, err error) {
	switch name {
	case "height_pk":
		p, err := ParseHeightPk(b)
		return p.AppendTo(nil), err
	case "tx_pk":
		p, err := ParseTxPk(b)
		return p.AppendTo(nil), err
	case "input_pk":
		p, err := ParseInputPk(b)
		return p.AppendTo(nil), err
	case "utxo_pk":
		p, err := ParseUtxoPk(b)
		return p.AppendTo(nil), err
	case "birth_pk":
		p, err := ParseBirthPk(b, false)
		return p.AppendTo(nil, false), err
	case "wide birth_pk":
		p, err := ParseBirthPk(b, true)
		return p.AppendTo(nil, true), err
	case "asset_pk":
		p, err := ParseAssetPk(b)
		return p.AppendTo(nil), err
	case "asset_birth_pk":
		p, err := ParseAssetBirthPk(b)
		return p.AppendTo(nil), err
	}
	return nil, fmt.Errorf("no pointer is called %s", name)
}

// Trap 10: a part that is too large is an error that names the limit, never a different pointer.
func TestWhatDoesNotFitIsAnError(t *testing.T) {
	eachForm(t, func(t *testing.T, form Pointers, _ func(*rand.Rand) [4]int) {
		height, txs, index := form.Limits()
		tx, err := form.Tx(height, txs)
		if err != nil {
			t.Fatal(err)
		}
		for what, of := range map[string]struct {
			most int
			try  func(n int) error
		}{
			"height":      {MaxHeight, func(n int) error { _, err := NewHeightPk(uint64(n)); return err }},
			"tx height":   {int(height), func(n int) error { _, err := form.Tx(HeightPk(n), 0); return err }},
			"transaction": {txs, func(n int) error { _, err := form.Tx(0, n); return err }},
			"input":       {index, func(n int) error { _, err := tx.Input(n); return err }},
			"output":      {index, func(n int) error { _, err := tx.Utxo(n); return err }},
			"entry":       {math.MaxUint16, func(n int) error { _, err := NewOrdinal(n); return err }},
		} {
			for _, n := range []int{0, 1, of.most - 1, of.most} {
				if err := of.try(n); err != nil {
					t.Errorf("%s %d: %v", what, n, err)
				}
			}
			for _, n := range []int{-1, of.most + 1, 2*of.most + 1, math.MaxUint32, math.MinInt32} {
				if err := of.try(n); !errors.Is(err, ErrPointer) || !strings.HasSuffix(err.Error(), fmt.Sprint(of.most)) {
					t.Errorf("%s %d: %v", what, n, err)
				}
			}
		}
	})
}

// The forms do not overlap: a wide pointer is after every narrow one. Heights above the limit of a form are after all
// of its pointers, and a pointer after all blocks has the largest height in either form.
func TestTheFormsOfPointersDoNotOverlap(t *testing.T) {
	if NarrowPointers.Last(MaxHeight)+1 != WidePointers.First(0).First() {
		t.Errorf("the last narrow pointer is %v, the first wide one %v", NarrowPointers.Last(MaxHeight), WidePointers.First(0))
	}
	for _, form := range []Pointers{NarrowPointers, WidePointers} {
		height, _, _ := form.Limits()
		for _, h := range []HeightPk{height + 1, height + 2, MaxHeight + 1, math.MaxUint32 - 1} {
			if form.First(h) <= form.Last(height).Tx() {
				t.Errorf("block %d begins at %v, before the end of block %d", h, form.First(h), height)
			}
		}
	}
	for _, p := range []TxPk{math.MaxUint64, WidePointers.First(MaxWideHeight + 1)} {
		if p.Height() != MaxHeight {
			t.Errorf("%016x has height %d", uint64(p), p.Height())
		}
	}
}

func TestBytesThatAreNoPointerAreRefused(t *testing.T) {
	m := makeAll(t, NarrowPointers, [4]int{1, 2, 3, 4})
	for name, e := range m.encoded() {
		for _, b := range [][]byte{nil, {}, e.b[:len(e.b)-1], append(bytes.Clone(e.b), 0), make([]byte, 64)} {
			if again, err := reread(name, b); !errors.Is(err, ErrPointer) {
				t.Errorf("%d bytes were read as %s %x, %v", len(b), name, again, err)
			}
		}
	}
	if _, err := ParseHeightPk([]byte{0xff, 0, 0, 0}); !errors.Is(err, ErrPointer) {
		t.Errorf("a height of 32 bits: %v", err)
	}
	if _, err := ParseTxPk(m.utxo.AppendTo(nil)); !errors.Is(err, ErrPointer) {
		t.Errorf("an output as a transaction: %v", err)
	}
}

// FuzzPointers: parsing never panics, and encoding a parsed pointer returns the same bytes.
func FuzzPointers(f *testing.F) {
	m := makeAll(f, NarrowPointers, [4]int{MaxHeight, MaxTxIndex, MaxIndex, math.MaxUint16})
	for _, e := range m.encoded() {
		f.Add(e.b)
	}
	f.Add([]byte{})
	f.Fuzz(func(t *testing.T, b []byte) {
		taken := 0
		for name := range m.encoded() {
			again, err := reread(name, b)
			switch {
			case err == nil && !bytes.Equal(again, b):
				t.Errorf("%s: %x was read, %x is written", name, b, again)
			case err != nil && !errors.Is(err, ErrPointer):
				t.Errorf("%s: %x: %v", name, b, err)
			case err == nil:
				taken++
			}
		}
		if (len(b) == PkSize && taken < 3) || (len(b) == PkOrdinalSize && taken != 3) {
			t.Errorf("%x is %d pointers", b, taken)
		}
	})
}

func TestKindsHaveNames(t *testing.T) {
	names := map[string]bool{}
	for k := Kind(0); k.Valid(); k++ {
		names[k.String()] = true
		if k.HasOrdinal() != (k == ManyValued) {
			t.Errorf("%s is wide: %t", k, k.HasOrdinal())
		}
	}
	if len(names) != 3 || Kind(3).Valid() || Kind(200).String() != "unknown kind" {
		t.Errorf("kinds are %v", names)
	}
}

func TestAnErrorHasTheKindOfItsOutermost(t *testing.T) {
	cause := errors.New("no route to host")
	inner := Errorf(BadSource, "unreachable", "node: %w", cause)
	outer := Errorf(Refused, "wrong_chain", "sync: %w", fmt.Errorf("first block: %w", inner))
	for _, c := range []struct {
		err  error
		kind ErrorKind
		code string
	}{
		{cause, Internal, "internal"}, {nil, Internal, "internal"},
		{inner, BadSource, "unreachable"}, {fmt.Errorf("sync: %w", inner), BadSource, "unreachable"}, {outer, Refused, "wrong_chain"},
	} {
		if kind, code := KindOf(c.err); kind != c.kind || code != c.code {
			t.Errorf("%v: %d %s, expected %d %s", c.err, kind, code, c.kind, c.code)
		}
	}
	if !errors.Is(outer, cause) || outer.Error() != "sync: first block: node: no route to host" {
		t.Errorf("%q does not tell its cause", outer)
	}
}
