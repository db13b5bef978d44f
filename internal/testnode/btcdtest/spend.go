package btcdtest

import (
	"bytes"
	"slices"

	"github.com/btcsuite/btcd/txscript/v2"
	"github.com/btcsuite/btcd/wire/v2"
)

// maturity is the number of confirmations that a coinbase needs before it can be spent.
const maturity = 100

// largestScript is the maximum size in bytes of an executable script.
const largestScript = 10_000

// coin is an output of one of the kinds that is to be spent.
type coin struct {
	kind Kind
	at   wire.OutPoint
	out  *wire.TxOut
}

// gather returns a transaction that spends coins into one output of a kind.
func gather(to Kind, coins ...coin) *wire.MsgTx {
	tx := wire.NewMsgTx(2)
	sum := int64(0)
	for _, c := range coins {
		sum += c.out.Value
	}
	tx.AddTxOut(wire.NewTxOut(sum, to.Script))
	spend(tx, coins...)
	return tx
}

// spend adds inputs for coins to a transaction that has all of its outputs, and signs them.
func spend(tx *wire.MsgTx, coins ...coin) {
	spent := txscript.NewMultiPrevOutFetcher(nil)
	for _, c := range coins {
		tx.AddTxIn(wire.NewTxIn(&c.at, nil, nil))
		spent.AddPrevOut(c.at, c.out)
	}
	hashes := txscript.NewTxSigHashes(tx, spent)
	for i, c := range coins {
		c.kind.unlock(tx, i, c.out, hashes)
	}
}

// Pay returns a signed transaction that spends an output of from and makes outputs. It panics unless the script of the
// spent output is that of one of [Kinds], such as that of the coinbases of a [Miner].
func Pay(from *wire.MsgTx, output uint32, outputs ...*wire.TxOut) *wire.MsgTx {
	out := from.TxOut[output]
	kinds := Kinds()
	i := slices.IndexFunc(kinds, func(k Kind) bool { return bytes.Equal(k.Script, out.PkScript) })
	tx := wire.NewMsgTx(2)
	for _, o := range outputs {
		tx.AddTxOut(o)
	}
	spend(tx, coin{kinds[i], wire.OutPoint{Hash: from.TxHash(), Index: output}, out})
	return tx
}
