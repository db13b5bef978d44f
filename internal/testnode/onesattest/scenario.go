package onesattest

import (
	"bytes"
	"fmt"
	"slices"

	"github.com/btcsuite/btcd/wire/v2"

	"birthmark/chains/bitcoin/block"
	"birthmark/internal/testnode/bitcointest"
)

// Lock returns a script that pays to a key hash of 20 equal bytes.
func Lock(n byte) []byte {
	return slices.Concat([]byte{block.OpDup, block.OpHash160, 20}, bytes.Repeat([]byte{n}, 20), []byte{block.OpEqualVerify, block.OpCheckSig})
}

// Cosign returns a lock of a key hash of 20 equal bytes that also needs a signature of another key.
func Cosign(n byte) []byte {
	key := append([]byte{0xad, 33, 2}, bytes.Repeat([]byte{n}, 32)...)
	return slices.Concat(Lock(n)[:24], key, []byte{block.OpCheckSig})
}

// push returns a push of data.
func push(data []byte) []byte {
	switch n := len(data); {
	case n < 0x4c:
		return append([]byte{byte(n)}, data...)
	case n < 0x100:
		return append([]byte{0x4c, byte(n)}, data...)
	default:
		return append([]byte{0x4d, byte(n), byte(n >> 8)}, data...)
	}
}

// Envelope returns an inscription without a lock. A parent is an outpoint of 36 bytes; nil: none.
func Envelope(mediaType, content string, parent []byte) []byte {
	script := slices.Concat([]byte{0, 0x63}, push([]byte("ord")), []byte{0x51}, push([]byte(mediaType)))
	if parent != nil {
		script = slices.Concat(script, []byte{0x53}, push(parent))
	}
	return slices.Concat(script, []byte{0}, push([]byte(content)), []byte{0x68})
}

// Inscribed returns an output of one satoshi with an inscription before its lock.
func Inscribed(mediaType, content string, lock []byte) *wire.TxOut {
	return wire.NewTxOut(1, append(Envelope(mediaType, content, nil), lock...))
}

// Told returns an output with an operation of BSV-21; members is the rest of its JSON object.
func Told(op, members string, lock []byte) *wire.TxOut {
	return Inscribed("application/bsv-20", `{"p":"bsv-20","op":"`+op+`"`+members+"}", lock)
}

// Spend returns a transaction that spends outputs.
func Spend(from []wire.OutPoint, outputs ...*wire.TxOut) *wire.MsgTx {
	tx := wire.NewMsgTx(1)
	for i := range from {
		tx.AddTxIn(wire.NewTxIn(&from[i], nil, nil))
	}
	tx.TxOut = outputs
	return tx
}

// Outpoint returns an output of a transaction.
func Outpoint(tx *wire.MsgTx, n uint32) wire.OutPoint {
	return wire.OutPoint{Hash: tx.TxHash(), Index: n}
}

// ID returns the text TXID_N of an output.
func ID(tx *wire.MsgTx, n int) string { return fmt.Sprintf("%s_%d", tx.TxHash(), n) }

// Scenario is a chain with one transaction of each kind.
type Scenario struct {
	*bitcointest.Chain

	// Deploy creates 1,000 of Token for owner 1. Move sends 300 to owner 2 and 700 to owner 1; Burn keeps 150 of the 300,
	// and Invalid sends 701 of the 700. Auth creates Minted, and Mint 50 of it for owner 2.
	Deploy, Auth, Mint, Move, Burn, Invalid *wire.MsgTx
	Token, Minted                           string

	// Inscribe creates Ordinal in its output 1, with a file and properties, for owner 1. Carry moves it to owner 2. Swap
	// spends it so that its satoshi is lost, and creates Second. Child is an inscription whose parent is Ordinal, with a
	// cosigner.
	Inscribe, Carry, Swap, Child *wire.MsgTx
	Ordinal, Second              string
}

// NewScenario returns the chain.
func NewScenario() *Scenario {
	c := &Scenario{Chain: bitcointest.NewChain()}
	a, b := Lock(1), Lock(2)
	coin := func() *wire.MsgTx { return c.Chain.Mine().Transactions[0] }
	plain := func(value int64) *wire.TxOut { return wire.NewTxOut(value, Lock(3)) }

	c.Deploy = bitcointest.Spend(coin(), 0, Told("deploy+mint", `,"sym":"CATS","dec":"2","icon":"x_0","amt":"1000"`, a), plain(900))
	c.Auth = bitcointest.Spend(coin(), 0, plain(800), Told("deploy+auth", `,"sym":"DOGS"`, a))
	c.Chain.Mine(c.Deploy, c.Auth)
	c.Token, c.Minted = ID(c.Deploy, 0), ID(c.Auth, 1)
	c.Mint = bitcointest.Spend(c.Auth, 1, Told("auth", `,"id":"`+c.Minted+`"`, a), Told("mint", `,"id":"`+c.Minted+`","amt":"50"`, b))
	of := func(op string, amount int, lock []byte) *wire.TxOut {
		return Told(op, fmt.Sprintf(`,"id":"%s","amt":"%d"`, c.Token, amount), lock)
	}
	c.Move = bitcointest.Spend(c.Deploy, 0, of("transfer", 300, b), of("transfer", 700, a))
	c.Chain.Mine(c.Mint, c.Move)
	c.Burn = bitcointest.Spend(c.Move, 0, of("burn", 100, b), of("transfer", 150, b))
	c.Chain.Mine(c.Burn)
	c.Invalid = bitcointest.Spend(c.Move, 1, of("transfer", 701, b))
	c.Chain.Mine(c.Invalid)

	file := Inscribed("text/plain;charset=utf-8", "hello", a)
	properties := slices.Concat([]byte{block.OpReturn}, push([]byte("1PuQa7K62MiKCtssSLKy1kh56WWU7MtUR5")), push([]byte("SET")),
		push([]byte("name")), push([]byte("a cat")))
	file.PkScript = append(file.PkScript, properties...)
	c.Inscribe = bitcointest.Spend(coin(), 0, plain(1000), file)
	c.Chain.Mine(c.Inscribe)
	c.Ordinal = ID(c.Inscribe, 1) + ":origin"
	c.Carry = Spend([]wire.OutPoint{Outpoint(c.Inscribe, 0), Outpoint(c.Inscribe, 1)}, plain(1000), wire.NewTxOut(1, b))
	c.Chain.Mine(c.Carry)
	c.Swap = Spend([]wire.OutPoint{Outpoint(c.Carry, 0), Outpoint(c.Carry, 1)}, wire.NewTxOut(1, b), plain(1000))
	c.Second = ID(c.Swap, 0) + ":origin"
	parent := Outpoint(c.Inscribe, 1)
	child := Envelope("image/svg+xml", "<svg/>", append(parent.Hash[:], 1, 0, 0, 0))
	c.Child = bitcointest.Spend(coin(), 0, wire.NewTxOut(1, append(child, Cosign(2)...)))
	c.Chain.Mine(c.Swap, c.Child)
	return c
}
