// Package oddtest makes transactions that blocks of Bitcoin can have and most wallets never make, for tests of an invariant
// of every API: a list with such a transaction has all its other entries, and shows the odd one as far as it can be read.
//
//	n := coretest.Start(t)
//	coinbases := oddtest.Coinbases(t, n, script)              // in blocks
//	txs := oddtest.Txs(t, n.Coins(t, oddtest.Coins), script)  // to be sent
package oddtest

import (
	"bytes"
	"maps"
	"slices"
	"testing"

	"github.com/btcsuite/btcd/wire/v2"

	"birthmark/internal/testnode/coretest"
	"birthmark/internal/testseed"
)

// P2PKH is a script with an address.
var P2PKH = slices.Concat([]byte{0x76, 0xa9, 20}, make([]byte, 20), []byte{0x88, 0xac})

// Outputs are odd output scripts.
var Outputs = map[string][]byte{
	"empty":                   {},
	"cut push":                {0x51, 2, 0x4e},
	"PUSHDATA4 of 4 GB":       {0x4e, 0xff, 0xff, 0xff, 0xff},
	"reserved op codes":       {0x50, 0x65, 0x8a, 0xfe},
	"OP_RETURN of 100 kB":     append([]byte{0x6a, 0x4e, 0xa0, 0x86, 1, 0}, make([]byte, 100_000)...),
	"OP_RETURN without UTF-8": {0x6a, 4, 0xff, 0xfe, 0xc3, 0x28},
	"OP_RETURN alone":         {0x6a},
	"runestone that is cut":   {0x6a, 0x5d, 3, 0xff, 0xff, 0xff},
	"witness version 16":      append([]byte{0x60, 40}, make([]byte, 40)...),
	"pay to anchor":           {0x51, 2, 0x4e, 0x73},
	"P2TR of no point":        append([]byte{0x51, 32}, bytes.Repeat([]byte{0xff}, 32)...),
	"witness program, P2PKH":  append(slices.Concat([]byte{0, 20}, make([]byte, 20)), 0xac),
	"token prefix":            append([]byte{0xef, 0xff, 0xff}, P2PKH...), // CHIP-2022-02, here data
	"colour":                  append([]byte{33}, append(bytes.Repeat([]byte{0xc1}, 33), 0xbc)...),
	"multisig of no key":      {0, 0, 0xae},
	"multisig 1 of 3":         append(bytes.Join([][]byte{{0x51}, key(2), key(0xff), key(4)}, []byte{33})[:], 0x53, 0xae),
	"P2PK of no point":        append(append([]byte{33}, key(0xff)...), 0xac),
	"10,001 bytes":            bytes.Repeat([]byte{0x61}, 10_001),
}

// shuffled returns the names of Outputs in a random order.
func shuffled(t testing.TB) []string {
	t.Helper()
	names := slices.Sorted(maps.Keys(Outputs))
	testseed.Rand(t).Shuffle(len(names), func(i, j int) { names[i], names[j] = names[j], names[i] })
	return names
}

// key has the size of a public key.
func key(first byte) []byte { return append([]byte{first}, bytes.Repeat([]byte{0xff}, 32)...) }

// changes are odd parts of transactions other than outputs.
var changes = map[string]func(*wire.MsgTx){
	"negative version": func(tx *wire.MsgTx) { tx.Version, tx.LockTime = -1<<31, 1<<32-1 },
	"huge witness": func(tx *wire.MsgTx) {
		tx.TxIn[0].SignatureScript = []byte{0x4d, 0xff}
		tx.TxIn[0].Witness = wire.TxWitness{{}, make([]byte, 200_000), {0x50, 0xff}, {0xc0}}
	},
	"5,000 empty items of witness": func(tx *wire.MsgTx) { tx.TxIn[0].Witness = make(wire.TxWitness, 5000) },
	"cut envelope": func(tx *wire.MsgTx) { // of an inscription
		tx.TxIn[0].Witness = wire.TxWitness{{}, {0x00, 0x63, 3, 'o', 'r', 'd', 1, 1, 0x4d, 0xff}, append([]byte{0xc0}, make([]byte, 32)...)}
	},
	"envelope without end": func(tx *wire.MsgTx) {
		tx.TxIn[0].Witness = wire.TxWitness{{0x00, 0x63, 3, 'o', 'r', 'd', 1, 1, 2, 0xff, 0xfe}, append([]byte{0xc1}, make([]byte, 32)...)}
	},
	"1,000 outputs to one script": func(tx *wire.MsgTx) {
		for range 999 {
			tx.AddTxOut(wire.NewTxOut(1, tx.TxOut[0].PkScript))
		}
	},
	"two outputs of nothing": func(tx *wire.MsgTx) {
		tx.AddTxOut(wire.NewTxOut(0, tx.TxOut[0].PkScript))
		tx.AddTxOut(wire.NewTxOut(0, nil))
	},
}

// Tx is a transaction and the name of its odd part.
type Tx struct {
	*wire.MsgTx
	Name string
}

// Coins is the number of coins of [Txs], each of at least 1,000,000 satoshi.
var Coins = len(Outputs) + len(changes) + 2

// Txs returns transactions with an odd part, in a random order, between normal ones. Each spends one coin, and pays to a
// script with its first output. The last one spends the odd outputs of the others.
func Txs(t testing.TB, coins []coretest.Coin, to []byte) (txs []Tx) {
	t.Helper()
	add := func(name string, change func(*wire.MsgTx)) {
		coin := coins[len(txs) : len(txs)+1]
		tx := coretest.Pay(coin, wire.NewTxOut(coin[0].Value-600_000, to))
		change(tx)
		txs = append(txs, Tx{tx, name})
	}
	nothing := func(*wire.MsgTx) {}
	add("normal", nothing)
	var odd []coretest.Coin
	for _, name := range shuffled(t) {
		script := Outputs[name]
		add(name, func(tx *wire.MsgTx) { tx.AddTxOut(wire.NewTxOut(0, script)) })
		if len(script) <= 10_000 && !bytes.HasPrefix(script, []byte{0x6a}) { // it can be spent
			odd = append(odd, coretest.Outputs(txs[len(txs)-1].MsgTx)[1])
		}
	}
	for _, name := range slices.Sorted(maps.Keys(changes)) {
		add(name, changes[name])
	}
	add("spends all", func(tx *wire.MsgTx) {
		for _, c := range odd {
			tx.AddTxIn(wire.NewTxIn(&c.At, []byte{0x4c}, nil))
		}
	})
	return txs
}

// Coinbases mines blocks with odd coinbases, the first output of which pays to a script, and returns their ids in display
// order, each once. Two blocks have the same coinbase (BIP 30), so that the outputs of the first one are lost.
func Coinbases(t testing.TB, n *coretest.Node, to []byte) (ids []string) {
	t.Helper()
	for _, change := range []func(*wire.MsgTx){
		func(tx *wire.MsgTx) { tx.TxIn[0].SignatureScript = bytes.Repeat([]byte{0xff}, 100) },
		func(tx *wire.MsgTx) { tx.TxIn[0].SignatureScript, tx.TxIn[0].Sequence = []byte{0x4e, 0xff}, 0 },
		func(tx *wire.MsgTx) { tx.Version, tx.LockTime = -1, 1<<32-1 },
		func(tx *wire.MsgTx) { tx.TxIn[0].Witness = wire.TxWitness{make([]byte, 32), {}, {1}} },
		func(tx *wire.MsgTx) {
			for _, name := range shuffled(t) {
				tx.AddTxOut(wire.NewTxOut(0, Outputs[name]))
			}
		},
		func(tx *wire.MsgTx) { tx.TxOut[0].Value = 0 },
	} {
		b := n.MineCoinbase(t, func(tx *wire.MsgTx) {
			tx.TxOut[0].PkScript = to
			change(tx)
		})
		ids = append(ids, b.Transactions[0].TxHash().String())
	}
	twice := n.MineCoinbase(t, func(tx *wire.MsgTx) { tx.TxOut[0].PkScript = to }).Transactions[0]
	n.MineOnly(t)
	n.MineCoinbase(t, func(tx *wire.MsgTx) { *tx = *twice })
	return append(ids, twice.TxHash().String())
}
