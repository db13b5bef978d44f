package runes_test

import (
	"bytes"
	"math"
	"reflect"
	"strings"
	"testing"

	"birthmark/chains/bitcoin/runes"
	"birthmark/model"
)

// The tags of a message.
const (
	body, divisibility, flags, spacers, name, symbol, premine     = 0, 1, 2, 3, 4, 5, 6
	limit, amount, heightStart, heightEnd, offsetStart, offsetEnd = 8, 10, 12, 14, 16, 18
	mint, pointer, unknownEven, unknownOdd                        = 20, 22, 126, 127
	isEtching, hasTerms, isTurbo                                  = 1, 2, 4
)

// opReturn and magic are the beginning of a message, pushSize and the numbers below it push that many bytes.
const opReturn, magic, opVerify, opOne = 0x6a, 0x5d, 0x69, 0x51

func n(x uint64) model.Uint128 { return model.Uint128Of(x) }

// payload is a payload of integers: numbers, or amounts of 128 bits.
func payload(integers ...any) (b []byte) {
	for _, x := range integers {
		switch x := x.(type) {
		case int:
			b = n(uint64(x)).AppendUvarint(b)
		case rune:
			b = n(uint64(x)).AppendUvarint(b)
		case uint64:
			b = n(x).AppendUvarint(b)
		case model.Uint128:
			b = x.AppendUvarint(b)
		}
	}
	return b
}

func script(integers ...any) []byte { return runes.ScriptOf(payload(integers...)) }

// list concatenates lists of integers.
func list(lists ...[]any) (all []any) {
	for _, l := range lists {
		all = append(all, l...)
	}
	return all
}

var (
	one     = runes.ID{Block: 1, Tx: 1}
	edict   = []any{body, 1, 1, 2, 0}
	edicts  = []runes.Edict{{ID: one, Amount: n(2), Output: 0}}
	most    = model.MaxUint128
	above64 = model.Uint128{Hi: 1}
)

func cenotaph(f runes.Flaw) *runes.Runestone { return &runes.Runestone{Flaw: f} }

// etched is a message with an edict and an etching.
func etched(e runes.Etching) *runes.Runestone { return &runes.Runestone{Edicts: edicts, Etching: &e} }

// The cases are those of ord's tests (crates/ordinals/src/runestone.rs) with one output, and more of their kind.
func TestMessagesAreRead(t *testing.T) {
	t.Parallel()
	even, flag := cenotaph(runes.UnrecognizedEvenTag), cenotaph(runes.UnrecognizedFlag)
	named := runes.Some(runes.NameOf(4))
	for _, c := range []struct {
		what string
		in   []any
		want *runes.Runestone
	}{
		{"nothing", nil, &runes.Runestone{}},
		{"edict", edict, &runes.Runestone{Edicts: edicts}},
		{"two edicts of ids in one block", []any{body, 1, 1, 2, 0, 0, 3, 5, 0}, &runes.Runestone{
			Edicts: []runes.Edict{edicts[0], {ID: runes.ID{Block: 1, Tx: 4}, Amount: n(5)}},
		}},
		{"etching", list([]any{flags, isEtching}, edict), etched(runes.Etching{})},
		{"name", list([]any{flags, isEtching, name, 4}, edict), etched(runes.Etching{Name: named})},
		{"name 0", []any{flags, isEtching, name, 0},
			&runes.Runestone{Etching: &runes.Etching{Name: runes.Some(runes.NameOf(0))}}},
		{"highest name", []any{flags, isEtching, name, most},
			&runes.Runestone{Etching: &runes.Etching{Name: runes.Some(runes.Name(most))}}},
		{"terms without etching", list([]any{flags, hasTerms}, []any{body, 0, 0, 0, 0}), flag},
		{"turbo without etching", []any{flags, isTurbo}, flag},
		{"premine without flag", []any{premine, 0}, even},
		{"name without flag", []any{name, 4}, even},
		{"cap without flag", []any{limit, 0}, even},
		{"amount without flag", []any{amount, 0}, even},
		{"offset start without flag", []any{offsetStart, 0}, even},
		{"offset end without flag", []any{offsetEnd, 0}, even},
		{"height start without flag", []any{heightStart, 0}, even},
		{"height end without flag", []any{heightEnd, 0}, even},
		{"cap without terms", []any{flags, isEtching, limit, 0}, even},
		{"amount without terms", []any{flags, isEtching, amount, 0}, even},
		{"offset start without terms", []any{flags, isEtching, offsetStart, 0}, even},
		{"offset end without terms", []any{flags, isEtching, offsetEnd, 0}, even},
		{"height start without terms", []any{flags, isEtching, heightStart, 0}, even},
		{"height end without terms", []any{flags, isEtching, heightEnd, 0}, even},
		{"offset end", list([]any{flags, isEtching | hasTerms, offsetEnd, 4}, edict),
			etched(runes.Etching{Terms: runes.Some(runes.Terms{Offset: runes.Range{End: runes.Some(uint64(4))}})})},
		{"amount", list([]any{flags, isEtching | hasTerms, amount, 4}, edict),
			etched(runes.Etching{Terms: runes.Some(runes.Terms{Amount: runes.Some(n(4))})})},
		{"two names", list([]any{flags, isEtching, name, 4, name, 5}, edict),
			&runes.Runestone{Flaw: runes.UnrecognizedEvenTag, Etching: &runes.Etching{Name: named}}},
		{"two divisibilities", list([]any{flags, isEtching, divisibility, 4, divisibility, 5}, edict),
			etched(runes.Etching{Divisibility: 4})},
		{"unknown odd tag", list([]any{unknownOdd, 100}, edict), &runes.Runestone{Edicts: edicts}},
		{"unknown even tag", list([]any{unknownEven, 0}, edict), even},
		{"even tag above 64 bits", []any{above64, 0}, even},
		{"odd tag above 64 bits", []any{model.Uint128{Hi: 1, Lo: 1}, 0}, &runes.Runestone{}},
		{"unknown flag", list([]any{flags, model.Uint128{Hi: 1 << 63}}, edict), flag},
		{"two flags", []any{flags, isEtching, flags, 0}, &runes.Runestone{Flaw: runes.UnrecognizedEvenTag}},
		{"edict of block 0 and transaction 1", []any{body, 0, 1, 2, 0}, cenotaph(runes.EdictID)},
		{"block above 64 bits", []any{body, 1, 0, 0, 0, uint64(math.MaxUint64), 0, 0, 0}, cenotaph(runes.EdictID)},
		{"transaction above 32 bits", []any{body, 1, 1, 0, 0, 0, uint64(math.MaxUint64), 0, 0}, cenotaph(runes.EdictID)},
		{"transaction one above 32 bits", []any{body, 1, 1, 0, 0, 0, uint64(math.MaxUint32), 0, 0}, cenotaph(runes.EdictID)},
		{"block of 128 bits", []any{body, 1, 1, 2, 0, most, 1, 0, 0}, cenotaph(runes.EdictID)},
		{"transaction of 128 bits", []any{body, 1, 1, 2, 0, 1, most, 0, 0}, cenotaph(runes.EdictID)},
		{"output above the number of outputs", []any{body, 1, 1, 2, 2}, cenotaph(runes.EdictOutput)},
		{"output above 32 bits", []any{body, 1, 1, 1, uint64(math.MaxUint32) + 1}, cenotaph(runes.EdictOutput)},
		{"all outputs", []any{body, 1, 1, 2, 1}, &runes.Runestone{Edicts: []runes.Edict{{ID: one, Amount: n(2), Output: 1}}}},
		{"tag without a value", []any{flags, isEtching, flags}, cenotaph(runes.TruncatedField)},
		{"one integer too many", list(edict, []any{0}), cenotaph(runes.TrailingIntegers)},
		{"two integers too many", list(edict, []any{0, 0}), cenotaph(runes.TrailingIntegers)},
		{"three integers too many", list(edict, []any{0, 0, 0}), cenotaph(runes.TrailingIntegers)},
		{"name and divisibility", list([]any{flags, isEtching, name, 4, divisibility, 5}, edict),
			etched(runes.Etching{Name: named, Divisibility: 5})},
		{"divisibility 39", list([]any{flags, isEtching, name, 4, divisibility, 39}, edict),
			etched(runes.Etching{Name: named})},
		{"divisibility of 128 bits", []any{divisibility, most}, &runes.Runestone{}},
		{"symbol", list([]any{flags, isEtching, name, 4, symbol, 'a'}, edict), etched(runes.Etching{Name: named,
			Symbol: runes.Some('a')})},
		{"symbol above Unicode", list([]any{flags, isEtching, symbol, 0x110000}, edict), etched(runes.Etching{})},
		{"surrogate", list([]any{flags, isEtching, symbol, 0xd800}, edict), etched(runes.Etching{})},
		{"highest symbol", list([]any{flags, isEtching, symbol, 0x10ffff}, edict),
			etched(runes.Etching{Symbol: runes.Some(rune(0x10ffff))})},
		{"symbol of 128 bits", []any{symbol, most}, &runes.Runestone{}},
		{"spacers of 128 bits", []any{spacers, most}, &runes.Runestone{}},
		{"highest spacers", []any{flags, isEtching, spacers, 1<<27 - 1},
			&runes.Runestone{Etching: &runes.Etching{Spacers: 1<<27 - 1}}},
		{"spacers above the highest", []any{flags, isEtching, spacers, 1 << 27}, &runes.Runestone{Etching: &runes.Etching{}}},
		{"everything", list([]any{
			flags, isEtching | hasTerms | isTurbo, name, 4, divisibility, 1, spacers, 5, symbol, 'a', offsetEnd, 2,
			amount, 3, premine, 8, limit, 9, pointer, 0, mint, 1, mint, 1,
		}, edict), &runes.Runestone{
			Edicts: edicts, Pointer: runes.Some(uint32(0)), Mint: runes.Some(one),
			Etching: &runes.Etching{
				Name: named, Divisibility: 1, Premine: n(8), Spacers: 5, Symbol: runes.Some('a'), Turbo: true,
				Terms: runes.Some(runes.Terms{
					Cap: runes.Some(n(9)), Amount: runes.Some(n(3)), Offset: runes.Range{End: runes.Some(uint64(2))},
				}),
			},
		}},
		{"values that look like tags", list([]any{flags, isEtching, divisibility, body}, edict), etched(runes.Etching{})},
		{"offset above 64 bits without terms", []any{flags, isEtching, offsetEnd, above64}, even},
		{"offset above 64 bits", []any{flags, isEtching | hasTerms, offsetEnd, above64}, even},
		{"height above 64 bits", []any{flags, isEtching | hasTerms, heightStart, most}, even},
		{"offset without etching", []any{offsetEnd, most}, even},
		{"half a mint", []any{mint, 1}, even},
		{"mint of block 0 and transaction 1", []any{mint, 0, mint, 1}, even},
		{"mint of block 0 and transaction 0", []any{mint, 0, mint, 0}, &runes.Runestone{Mint: runes.Some(runes.ID{})}},
		{"mint above 64 bits", []any{mint, above64, mint, 1}, even},
		{"mint of a transaction above 32 bits", []any{mint, 1, mint, 1 << 32}, even},
		{"three values of a mint", []any{mint, 1, mint, 1, mint, 1},
			&runes.Runestone{Flaw: runes.UnrecognizedEvenTag, Mint: runes.Some(one)}},
		{"pointer to no output", []any{pointer, 1}, even},
		{"pointer of 128 bits", []any{pointer, most}, even},
		{"highest supply", []any{flags, isEtching | hasTerms, limit, 1, amount, most}, &runes.Runestone{
			Etching: &runes.Etching{Terms: runes.Some(runes.Terms{Cap: runes.Some(n(1)), Amount: runes.Some(most)})},
		}},
		{"twice the highest supply", []any{flags, isEtching | hasTerms, limit, 2, amount, most},
			cenotaph(runes.SupplyOverflow)},
		{"supply of 129 bits", []any{flags, isEtching | hasTerms, limit, 2, amount, model.Uint128{Hi: 1 << 63}},
			cenotaph(runes.SupplyOverflow)},
		{"supply with premine", []any{flags, isEtching | hasTerms, premine, 1, limit, 1, amount, most},
			cenotaph(runes.SupplyOverflow)},
		{"the first flaw counts", []any{flags, isEtching | hasTerms | 8, limit, 2, amount, most, unknownEven, 1, body, 1},
			cenotaph(runes.TrailingIntegers)},
		{"supply before flags", []any{flags, isEtching | hasTerms | 8, limit, 2, amount, most, unknownEven, 1},
			cenotaph(runes.SupplyOverflow)},
		{"flags before tags", []any{flags, 8, unknownEven, 1}, flag},
		{"a cenotaph keeps name and mint", []any{flags, isEtching | hasTerms, name, 4, premine, 5, symbol, 'a', mint, 1,
			mint, 1, pointer, 0, unknownEven, 1},
			&runes.Runestone{Flaw: runes.UnrecognizedEvenTag, Etching: &runes.Etching{Name: named}, Mint: runes.Some(one)}},
	} {
		if got := runes.Decode([][]byte{script(c.in...)}); !reflect.DeepEqual(got, c.want) && !equal(got, c.want) {
			t.Errorf("%s: %+v, expected %+v", c.what, got, c.want)
		}
	}
}

// equal compares messages. An empty list of edicts equals none.
func equal(a, b *runes.Runestone) bool {
	if a == nil || b == nil {
		return a == b
	}
	x, y := *a, *b
	if len(x.Edicts) == 0 && len(y.Edicts) == 0 {
		x.Edicts, y.Edicts = nil, nil
	}
	return reflect.DeepEqual(x, y)
}

// The cases are those of ord's tests of scripts (crates/ordinals/src/runestone.rs), and more of their kind.
func TestScriptsOfMessages(t *testing.T) {
	t.Parallel()
	start := []byte{opReturn, magic}
	push := func(data ...byte) []byte { return append([]byte{byte(len(data))}, data...) }
	join := func(parts ...[]byte) []byte { return bytes.Join(parts, nil) }
	pushed := &runes.Runestone{Edicts: edicts, Etching: &runes.Etching{Divisibility: 5}}
	type test struct {
		what    string
		scripts [][]byte
		want    *runes.Runestone
	}
	cases := []test{
		{"no outputs", nil, nil},
		{"push that is cut off", [][]byte{{4}}, nil},
		{"push", [][]byte{{0}}, nil},
		{"empty script", [][]byte{{}}, nil},
		{"OP_RETURN alone", [][]byte{{opReturn}}, nil},
		{"OP_RETURN with data", [][]byte{join([]byte{opReturn}, push([]byte("FOOO")...))}, nil},
		{"OP_RETURN with a push that is cut off", [][]byte{{opReturn, 4}}, nil},
		{"magic number as data", [][]byte{{opReturn, 1, magic}}, nil},
		{"push that is cut off after the beginning", [][]byte{join(start, []byte{4})}, cenotaph(runes.InvalidScript)},
		{"length that is cut off", [][]byte{join(start, []byte{0x4d, 1})}, cenotaph(runes.InvalidScript)},
		{"beginning alone", [][]byte{start}, &runes.Runestone{}},
		{"integer that is cut off", [][]byte{join(start, push(128))}, cenotaph(runes.Varint)},
		{"integer that is cut off after edicts", [][]byte{join(start, push(join(payload(edict...), []byte{128})...))},
			cenotaph(runes.Varint)},
		{"integer that is cut off after a flaw", [][]byte{join(start, push(join(payload(body, 0, 1, 1, 1),
			[]byte{128})...))}, cenotaph(runes.Varint)},
		{"opcode", [][]byte{join(start, []byte{opVerify}, push(0), push(1), push(1), push(2, 0)),
			join(start, push(0), push(1), push(2), push(3, 0))}, cenotaph(runes.Opcode)},
		{"opcode of a small number", [][]byte{join(start, []byte{opOne})}, cenotaph(runes.Opcode)},
		{"opcode before an invalid push", [][]byte{join(start, []byte{opOne, 4})}, cenotaph(runes.Opcode)},
		{"invalid script before a message", [][]byte{{opReturn, 9, magic, 4}, script(mint, 1, mint, 1)},
			&runes.Runestone{Mint: runes.Some(one)}},
		{"invalid OP_RETURN before an empty message", [][]byte{{opReturn, 4}, start}, &runes.Runestone{}},
		{"pushes are joined", [][]byte{join(start, push(flags), push(isEtching), push(divisibility), push(5), push(body),
			push(1), push(1), push(2), push(0))}, pushed},
		{"an integer in two pushes", [][]byte{join(start, push(20, 129), []byte{0}, push(1, 20, 1))},
			&runes.Runestone{Mint: runes.Some(runes.ID{Block: 129, Tx: 1})}},
		{"message in the second output", [][]byte{{}, script(edict...)}, &runes.Runestone{Edicts: edicts}},
		{"message after another OP_RETURN", [][]byte{join([]byte{opReturn}, push([]byte("FOO")...)), script(edict...)},
			&runes.Runestone{Edicts: edicts}},
		{"the first of two messages", [][]byte{script(mint, 1, mint, 1), script(edict...)},
			&runes.Runestone{Mint: runes.Some(one)}},
		{"integer of 19 bytes", [][]byte{join(start, push(append(bytes.Repeat([]byte{128}, 18), 0)...))}, &runes.Runestone{}},
		{"integer of 20 bytes", [][]byte{join(start, push(append(bytes.Repeat([]byte{128}, 19), 0)...))},
			cenotaph(runes.Varint)},
	}
	// Of the 19th byte, two bits count.
	for _, last := range []byte{1, 2, 3, 4, 8, 16, 32, 64} {
		want := cenotaph(runes.TruncatedField)
		if last > 3 {
			want = cenotaph(runes.Varint)
		}
		cases = append(cases, test{"last byte of an integer", [][]byte{join(start, push(append(bytes.Repeat([]byte{128},
			18), last)...))}, want})
	}
	for op := range 0x4f {
		data := bytes.Repeat([]byte{1, 0}, op/2+1)[:op]
		if op%2 == 1 {
			data = append(data, 1, 1)
		}
		if op >= 0x4c {
			data = make([]byte, 1<<(op-0x4c))
		}
		cases = append(cases, test{"push opcode", [][]byte{join(start, []byte{byte(op)}, data)}, &runes.Runestone{}})
	}
	for op := 0x4f; op < 0x100; op++ {
		cases = append(cases, test{"opcode that does not push", [][]byte{join(start, []byte{byte(op)})},
			cenotaph(runes.Opcode)})
	}
	for _, c := range cases {
		if got := runes.Decode(c.scripts); !equal(got, c.want) {
			t.Errorf("%s %x: %+v, expected %+v", c.what, c.scripts, got, c.want)
		}
	}
}

// Every flaw has the name that ord's JSON gives it.
func TestFlawsHaveNames(t *testing.T) {
	t.Parallel()
	seen := map[string]bool{}
	for f := runes.EdictOutput; f <= runes.Varint; f++ {
		if name := f.String(); name == "" || seen[name] || strings.ToLower(name) != name {
			t.Errorf("flaw %d is %q", f, name)
		}
		seen[f.String()] = true
	}
}
