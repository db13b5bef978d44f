package cardano

import (
	"bytes"
	"encoding/hex"
	"strings"
	"sync"
	"testing"

	"github.com/fxamacker/cbor/v2"
	"golang.org/x/crypto/blake2b"

	"birthmark/chains/cardano/address"
	"birthmark/chains/cardano/ledger"
	"birthmark/model"
)

// raw marshals with the encoder of another project, maps in the order of their keys.
func raw(t testing.TB, v any) cbor.RawMessage {
	t.Helper()
	mode, err := cbor.EncOptions{Sort: cbor.SortBytewiseLexical}.EncMode()
	if err != nil {
		t.Fatal(err)
	}
	b, err := mode.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

type (
	list = []any
	dict = map[any]any
)

// endless is a list or map that ends with a break: head is 9f or bf.
func endless(t testing.TB, head byte, items ...any) cbor.RawMessage {
	b := []byte{head}
	for _, i := range items {
		b = append(b, raw(t, i)...)
	}
	return append(b, 0xff)
}

func tagged(n uint64, v any) cbor.Tag { return cbor.Tag{Number: n, Content: v} }

// filled is so many bytes of one value.
func filled(n int, with byte) []byte { return bytes.Repeat([]byte{with}, n) }

// handmade is a block of an era since Shelley around its segments.
func handmade(t testing.TB, era int, segments ...any) []byte {
	t.Helper()
	encoded := make([]cbor.RawMessage, len(segments))
	for i, s := range segments {
		encoded[i] = raw(t, s)
	}
	return assembled(t, era, encoded...)
}

// assembled is a block of segments that are encoded.
func assembled(t testing.TB, era int, segments ...cbor.RawMessage) []byte {
	t.Helper()
	return placedAt(t, era, 100, 7000, filled(32, 1), segments...)
}

// placedAt is a block with a number, a slot and a parent.
func placedAt(t testing.TB, era int, number, slot uint64, parent []byte, segments ...cbor.RawMessage) []byte {
	t.Helper()
	var sums []byte
	block := list{nil}
	for _, s := range segments {
		sum := blake2b.Sum256(s)
		sums = append(sums, sum[:]...)
		block = append(block, s)
	}
	bodyHash := blake2b.Sum256(sums)
	body := list{number, slot, parent, filled(32, 2), filled(32, 3)}
	result := list{filled(64, 4), filled(80, 5)}
	if era < ledger.EraBabbage {
		body = append(body, result, result, 999, bodyHash[:], filled(32, 6), 1, 2, filled(64, 7), 6, 0)
	} else {
		body = append(body, result, 999, bodyHash[:], list{filled(32, 6), 1, 2, filled(64, 7)}, list{9, 1})
	}
	block[0] = list{body, filled(448, 8)}
	return raw(t, list{era, block})
}

// txBody is the least a transaction body must have, and what is added to it.
func txBody(more dict) dict {
	body := dict{
		0: list{list{filled(32, 0xaa), 1}},
		1: list{list{someAddress, 5}},
		2: 170_000,
	}
	for k, v := range more {
		body[k] = v
	}
	return body
}

var (
	someAddress = append([]byte{0x11}, append(filled(28, 0x0a), filled(28, 0x0b)...)...)
	policyA     = filled(28, 0x0c)
	policyB     = filled(28, 0x0d)
)

func decoded(t testing.TB, raw []byte, indexes ...string) *model.Block {
	t.Helper()
	b, _, err := decodedAs(t, "mainnet", indexes...).Block(raw)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// A transaction whose scripts failed spends its collateral and makes what the collateral returns, as the output after
// its regular ones. It mints nothing, and its fee is the collateral it says it gives.
func TestFailedTransactionsSpendTheirCollateral(t *testing.T) {
	failing := txBody(dict{
		1:  list{list{someAddress, 5}, dict{0: someAddress, 1: 6}, list{someAddress, list{7, dict{}}}},
		9:  dict{cbor.ByteString(policyA): dict{cbor.ByteString("x"): 1}},
		13: list{list{filled(32, 0xbb), 2}, list{filled(32, 0xbc), 3}},
		16: dict{0: someAddress, 1: 1_000_000},
		17: 300_000,
	})
	plain := txBody(dict{13: list{list{filled(32, 0xbb), 9}}, 16: list{someAddress, 3}, 17: 4})
	unstated := txBody(dict{13: list{list{filled(32, 0xdd), 0}}})
	for _, era := range []int{ledger.EraAlonzo, ledger.EraBabbage, ledger.EraConway} {
		for _, failed := range []any{list{1, 2}, endless(t, 0x9f, 1, 2)} {
			b := decoded(t, handmade(t, era, list{plain, failing, unstated}, list{dict{}, dict{}, dict{}}, dict{}, failed), indexAddress)
			got, want := ours(b), ""
			header := strings.SplitAfterN(got, "\n", 2)
			for i, body := range []dict{plain, failing, unstated} {
				want += "tx " + model.Hash(blake2b.Sum256(raw(t, body))).String() + []string{
					" fee 170000\n  in " + strings.Repeat("aa", 32) + ":1\n  out 0 5 to " + hex.EncodeToString(someAddress) + "\n",
					" fee 300000\n  in " + strings.Repeat("bb", 32) + ":2\n  in " + strings.Repeat("bc", 32) + ":3\n  out 3 1000000 to " + hex.EncodeToString(someAddress) + "\n",
					" fee none\n  in " + strings.Repeat("dd", 32) + ":0\n",
				}[i]
			}
			if header[1] != want {
				t.Errorf("%s:\n got %s\nwant %s", ledger.EraNames[era], header[1], want)
			}
		}
	}
}

// What the oracle has no real block of: sets as Conway tags them, lengths that end with a break, numbers that are
// longer than need be, inputs and assets that stand twice.
func TestEveryFormOfATransactionIsRead(t *testing.T) {
	in1, in2 := list{filled(32, 1), 1}, list{filled(32, 2), 0}
	held := endless(t, 0xbf,
		policyB, dict{cbor.ByteString(""): 5, cbor.ByteString("zero"): 0},
		policyA, endless(t, 0xbf, []byte("b"), 1, []byte("a"), 2, []byte("b"), 3),
		policyB, dict{cbor.ByteString("z"): tagged(2, []byte{1, 0})})
	inline := []byte{0x01}
	body := txBody(dict{
		0: tagged(258, endless(t, 0x9f, in2, in1, in2, endless(t, 0x9f, filled(32, 1), 1))),
		1: endless(t, 0x9f, endless(t, 0xbf,
			3, tagged(24, []byte(raw(t, list{2, []byte("script")}))),
			2, list{1, tagged(24, inline)},
			1, endless(t, 0x9f, 17, held),
			0, cbor.RawMessage(append(append([]byte{0x5f}, append(raw(t, someAddress[:20]), raw(t, someAddress[20:])...)...), 0xff)))),
		9: dict{
			cbor.ByteString(policyA): dict{cbor.ByteString("x"): -7, cbor.ByteString("y"): 0},
			cbor.ByteString(policyB): dict{cbor.ByteString("x"): uint64(1<<63 - 1)},
		},
	})
	// A key of the body that is longer than need be.
	encoded := raw(t, body)
	long := append([]byte{encoded[0] + 1, 0x18, 0x03, 0x1a, 0, 0, 0, 5}, encoded[1:]...)
	bodies := endless(t, 0x9f, cbor.RawMessage(long))
	b := decoded(t, handmade(t, ledger.EraConway, bodies, endless(t, 0x9f, dict{}), endless(t, 0xbf), list{}), oracleIndexes...)
	datum, script := blake2b.Sum256(inline), address.Hash224([]byte("\x02script"))
	want := "tx " + model.Hash(blake2b.Sum256(long)).String() + " fee 170000\n" +
		"  in " + strings.Repeat("02", 32) + ":0\n  in " + strings.Repeat("01", 32) + ":1\n" +
		"  out 0 17 to " + hex.EncodeToString(someAddress) + " datum " + hex.EncodeToString(datum[:]) + " script " + hex.EncodeToString(script) + "\n" +
		"    asset " + hex.EncodeToString(policyA) + "61 2\n    asset " + hex.EncodeToString(policyA) + "62 3\n    asset " + hex.EncodeToString(policyB) + "7a 256\n" +
		"  mint " + hex.EncodeToString(policyA) + "78 -7\n  mint " + hex.EncodeToString(policyB) + "78 9223372036854775807\n"
	if got := strings.SplitAfterN(ours(b), "\n", 2)[1]; got != want {
		t.Errorf("\n got %s\nwant %s", got, want)
	}
}

// Nothing in a block points into the bytes it was read from, nor is written by the next one.
func TestBlocksOwnTheirMemory(t *testing.T) {
	first := handmade(t, ledger.EraConway, list{txBody(dict{1: list{list{someAddress, list{5, dict{cbor.ByteString(policyA): dict{cbor.ByteString("x"): 1}}}}}, 9: dict{cbor.ByteString(policyA): dict{cbor.ByteString("x"): 1}}})}, list{dict{}}, dict{}, list{})
	second := handmade(t, ledger.EraConway, list{txBody(dict{1: list{list{filled(57, 9), list{6, dict{cbor.ByteString(policyB): dict{cbor.ByteString("y"): 2}}}}}})}, list{dict{}}, dict{}, list{})
	d := decodedAs(t, "mainnet", valueNames...)
	b, _, err := d.Block(first)
	if err != nil {
		t.Fatal(err)
	}
	before := text(t, b)
	clear(first)
	if _, _, err := d.Block(second); err != nil {
		t.Fatal(err)
	}
	if after := text(t, b); after != before {
		t.Errorf("\n was %s\n  is %s", before, after)
	}
}

// Clones decode at the same time, each with memory of its own.
func TestClonesDecodeAtTheSameTime(t *testing.T) {
	block := oneOutput(t, list{someAddress, list{1, dict{cbor.ByteString(policyA): dict{cbor.ByteString("x"): 1}}}})
	d := decodedAs(t, "mainnet", valueNames...)
	want := text(t, decoded(t, block, valueNames...))
	var all sync.WaitGroup
	for _, c := range []*ledger.Decoder{d, d.Clone(), d.Clone()} {
		all.Go(func() {
			for range 50 {
				if b, _, err := c.Block(block); err != nil || text(t, b) != want {
					t.Errorf("%v: %+v", err, b)
				}
			}
		})
	}
	all.Wait()
}
