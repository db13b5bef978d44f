// Package cardanotest makes Cardano blocks of every era by hand, from the transactions of a test, and applies the events
// of a source to a chain.
package cardanotest

import (
	"bytes"
	"encoding/binary"
	"testing"

	"github.com/fxamacker/cbor/v2"
	"golang.org/x/crypto/blake2b"

	"birthmark/chains/cardano/genesis"
	"birthmark/chains/cardano/ledger"
	"birthmark/internal/testnode/ouroborostest"
)

// Raw marshals v with fxamacker/cbor, maps in bytewise order of their keys.
func Raw(t testing.TB, v any) cbor.RawMessage {
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

// CBOR arrays and maps.
type (
	List = []any
	Dict = map[any]any
)

// Endless returns an array (head 9f) or a map (head bf) of indefinite length.
func Endless(t testing.TB, head byte, items ...any) cbor.RawMessage {
	b := []byte{head}
	for _, i := range items {
		b = append(b, Raw(t, i)...)
	}
	return append(b, 0xff)
}

// Tagged returns an item with a tag.
func Tagged(n uint64, v any) cbor.Tag { return cbor.Tag{Number: n, Content: v} }

// Filled returns n bytes of one value.
func Filled(n int, with byte) []byte { return bytes.Repeat([]byte{with}, n) }

// Block returns block 100 of an era since Shelley with these segments: bodies, witnesses, auxiliary data, failed ones.
func Block(t testing.TB, era int, segments ...any) []byte {
	t.Helper()
	encoded := make([]cbor.RawMessage, len(segments))
	for i, s := range segments {
		encoded[i] = Raw(t, s)
	}
	return BlockOf(t, era, encoded...)
}

// BlockOf is Block for encoded segments.
func BlockOf(t testing.TB, era int, segments ...cbor.RawMessage) []byte {
	t.Helper()
	return BlockAt(t, era, 100, 7000, Filled(32, 1), segments...)
}

// BlockAt is BlockOf with a number, a slot and a parent.
func BlockAt(t testing.TB, era int, number, slot uint64, parent []byte, segments ...cbor.RawMessage) []byte {
	t.Helper()
	var sums []byte
	block := List{nil}
	for _, s := range segments {
		sum := blake2b.Sum256(s)
		sums = append(sums, sum[:]...)
		block = append(block, s)
	}
	bodyHash := blake2b.Sum256(sums)
	body := List{number, slot, parent, Filled(32, 2), Filled(32, 3)}
	result := List{Filled(64, 4), Filled(80, 5)}
	if era < ledger.EraBabbage {
		body = append(body, result, result, 999, bodyHash[:], Filled(32, 6), 1, 2, Filled(64, 7), 6, 0)
	} else {
		body = append(body, result, 999, bodyHash[:], List{Filled(32, 6), 1, 2, Filled(64, 7)}, List{9, 1})
	}
	block[0] = List{body, Filled(448, 8)}
	return Raw(t, List{era, block})
}

// TxBody returns a transaction body with the required fields, and those of more.
func TxBody(more Dict) Dict {
	body := Dict{
		0: List{List{Filled(32, 0xaa), 1}},
		1: List{List{Address, 5}},
		2: 170_000,
	}
	for k, v := range more {
		body[k] = v
	}
	return body
}

// Values for outputs.
var (
	Address = append([]byte{0x11}, append(Filled(28, 0x0a), Filled(28, 0x0b)...)...)
	PolicyA = Filled(28, 0x0c)
	PolicyB = Filled(28, 0x0d)
)

// ByronTx returns a transaction with an input and an output.
func ByronTx(to any, amount uint64) func(t testing.TB) cbor.RawMessage {
	return func(t testing.TB) cbor.RawMessage {
		input := List{0, Tagged(24, []byte(Raw(t, List{Filled(32, 0xaa), 3})))}
		return Raw(t, List{Endless(t, 0x9f, input), Endless(t, 0x9f, List{to, amount}), Dict{}})
	}
}

// ByronBlock returns a block of mainnet in slot 21,605.
func ByronBlock(t testing.TB, txs ...func(t testing.TB) cbor.RawMessage) []byte {
	t.Helper()
	return ByronBlockAt(t, 764824073, 21_604, 21_605, Filled(32, 3), txs...)
}

// ByronBlockAt returns a block of at most three transactions with a magic, a number, a slot and a parent.
func ByronBlockAt(t testing.TB, magic, number, slot uint64, parent []byte, txs ...func(t testing.TB) cbor.RawMessage) []byte {
	t.Helper()
	leaf := func(tx []byte) []byte { h := blake2b.Sum256(append([]byte{0}, tx...)); return h[:] }
	node := func(l, r []byte) []byte {
		h := blake2b.Sum256(append(append([]byte{1}, l...), r...))
		return h[:]
	}
	var payload, witnesses List
	var leaves [][]byte
	for _, made := range txs {
		tx := made(t)
		leaves = append(leaves, leaf(tx))
		payload = append(payload, List{tx, List{}})
		witnesses = append(witnesses, List{})
	}
	empty := blake2b.Sum256(nil)
	root := empty[:]
	switch len(leaves) {
	case 1:
		root = leaves[0]
	case 2:
		root = node(leaves[0], leaves[1])
	case 3:
		root = node(node(leaves[0], leaves[1]), leaves[2])
	}
	witness := blake2b.Sum256(Endless(t, 0x9f, witnesses...))
	proof := List{List{len(txs), root, witness[:]}, List{}, Filled(32, 1), Filled(32, 2)}
	header := List{magic, parent, proof,
		List{List{slot / genesis.ByronEpochSlots, slot % genesis.ByronEpochSlots}, Filled(64, 4), List{number}, List{2, Filled(64, 5)}},
		List{List{1, 0, 0}, List{"cardano-sl", 1}, Dict{}, Filled(32, 6)}}
	return Raw(t, List{ledger.EraByron, List{header, List{Endless(t, 0x9f, payload...), List{}, List{}, List{}}, List{Dict{}}}})
}

// BoundaryAt returns the boundary block before an epoch.
func BoundaryAt(t testing.TB, number, epoch uint64, parent []byte) []byte {
	t.Helper()
	body := Raw(t, Endless(t, 0x9f, Filled(28, 1)))
	sum := blake2b.Sum256(body)
	return Raw(t, List{ledger.EraByronBoundary, List{List{764824073, parent, sum[:], List{epoch, List{number}}, List{Dict{}}}, body, List{Dict{}}}})
}

// Branch returns blocks that come after others. Branches of different salts have no block in common.
func Branch(t testing.TB, after []ouroborostest.Block, count int, salt byte) []ouroborostest.Block {
	t.Helper()
	number, slot, parent := uint64(0), uint64(0), []byte(nil)
	if n := len(after); n > 0 {
		last := after[n-1]
		number, slot, parent = last.Number+1, last.Slot, last.Hash[:]
	}
	var blocks []ouroborostest.Block
	for i := range uint64(count) {
		slot += 20
		from := Filled(32, salt)
		binary.BigEndian.PutUint64(from, number+i)
		body := TxBody(Dict{0: List{List{from, 0}}})
		Raw := BlockAt(t, ledger.EraBabbage, number+i, slot, parent, Raw(t, List{body}), Raw(t, List{Dict{}}), Raw(t, Dict{}), Raw(t, List{}))
		made, err := ouroborostest.Blocks(Raw)
		if err != nil {
			t.Fatal(err)
		}
		blocks = append(blocks, made[0])
		parent = made[0].Hash[:]
	}
	return blocks
}
