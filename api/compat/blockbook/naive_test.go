package blockbook_test

import (
	"bytes"
	"encoding/hex"
	"maps"
	"slices"
	"unicode/utf8"

	"github.com/btcsuite/btcd/chaincfg/v2"
	"github.com/btcsuite/btcd/chainhash/v2"
	"github.com/btcsuite/btcd/txscript/v2"
	"github.com/btcsuite/btcd/wire/v2"

	"birthmark/internal/testnode/bitcointest"
)

// naive answers from lists of all transactions.
type naive struct {
	blocks   []*wire.MsgBlock
	all      []place // in chain order, then the mempool
	byID     map[chainhash.Hash]place
	byScript map[string]map[int]entry // by position in all
	spent    map[wire.OutPoint]place  // by the transaction at a place
	seen     map[chainhash.Hash]int64
}

// place is the position of a transaction, in a block or in the mempool.
type place struct {
	tx               *wire.MsgTx
	height, position int // height -1: unconfirmed; then position is in the mempool
}

func newNaive(c *bitcointest.Chain, pool []*wire.MsgTx) *naive {
	n := &naive{blocks: c.Blocks(), byID: map[chainhash.Hash]place{}, spent: map[wire.OutPoint]place{},
		byScript: map[string]map[int]entry{}}
	for height, b := range n.blocks {
		for i, tx := range b.Transactions {
			n.all = append(n.all, place{tx, height, i})
		}
	}
	for i, tx := range pool {
		n.all = append(n.all, place{tx, -1, i})
	}
	for at, p := range n.all {
		n.byID[p.tx.TxHash()] = p
		for _, in := range p.tx.TxIn {
			n.spent[in.PreviousOutPoint] = p
			if o := n.prevout(in); o != nil {
				n.add(o.PkScript, at, 0, o.Value)
			}
		}
		for i, o := range p.tx.TxOut {
			if (output{p, i}).counts() {
				n.add(o.PkScript, at, o.Value, 0)
			}
		}
	}
	return n
}

func (n *naive) tip() int { return len(n.blocks) - 1 }

func (n *naive) confirmed(id chainhash.Hash) bool {
	p, ok := n.byID[id]
	return ok && p.height >= 0
}

// output is an output that exists.
type output struct {
	place
	index int
}

func (o output) point() wire.OutPoint {
	return wire.OutPoint{Hash: o.tx.TxHash(), Index: uint32(o.index)}
}

func (o output) out() *wire.TxOut { return o.tx.TxOut[o.index] }

func outputsOf(tx *wire.MsgTx, height int) (all []output) {
	for i, o := range tx.TxOut {
		if !unspendable(o.PkScript) {
			all = append(all, output{place{tx, height, 0}, i})
		}
	}
	return all
}

func unspendable(s []byte) bool { return len(s) > 0 && s[0] == 0x6a || len(s) > 10_000 }

// free returns the unspent outputs that can be spent, with those of the mempool if pool is set. Outputs that the
// mempool spends are not free.
func (n *naive) free(pool bool) (all []output) {
	for _, p := range n.all {
		if p.height == 0 || p.height < 0 && !pool {
			continue
		}
		for i, o := range p.tx.TxOut {
			u := output{p, i}
			if _, spent := n.spent[u.point()]; !spent && !unspendable(o.PkScript) {
				all = append(all, u)
			}
		}
	}
	return all
}

// counts reports whether an output belongs to its script: that of block 0, and unspendable ones, do not.
func (o output) counts() bool { return o.height != 0 && !unspendable(o.out().PkScript) }

// entry is a transaction of some scripts, with their sums.
type entry struct {
	place
	received, sent uint64
}

// history returns the transactions of scripts, in chain order, then those of the mempool.
func (n *naive) history(scripts ...[]byte) (all []entry) {
	sums := map[int]entry{}
	for i, s := range scripts {
		if slices.ContainsFunc(scripts[:i], func(x []byte) bool { return bytes.Equal(x, s) }) {
			continue
		}
		for at, e := range n.byScript[string(s)] {
			sum := sums[at]
			sums[at] = entry{e.place, sum.received + e.received, sum.sent + e.sent}
		}
	}
	for _, at := range slices.Sorted(maps.Keys(sums)) {
		all = append(all, sums[at])
	}
	return all
}

// add adds to the sums of a script in the transaction at a position in all.
func (n *naive) add(s []byte, at int, received, sent int64) {
	if n.byScript[string(s)] == nil {
		n.byScript[string(s)] = map[int]entry{}
	}
	e := n.byScript[string(s)][at]
	n.byScript[string(s)][at] = entry{n.all[at], e.received + uint64(received), e.sent + uint64(sent)}
}

// prevout returns the output that an input spends, nil for a coinbase.
func (n *naive) prevout(in *wire.TxIn) *wire.TxOut {
	if p, ok := n.byID[in.PreviousOutPoint.Hash]; ok {
		return p.tx.TxOut[in.PreviousOutPoint.Index]
	}
	return nil
}

// time returns the time of a block.
func (n *naive) time(height int) int64 { return n.blocks[height].Header.Timestamp.Unix() }

// address returns the address of a script, empty if it has none. That of a public key is not its address.
func address(s []byte) string {
	kind, list, _, err := txscript.ExtractPkScriptAddrs(s, &chaincfg.RegressionNetParams)
	if err != nil || len(list) != 1 || kind == txscript.PubKeyTy || kind == txscript.MultiSigTy {
		return ""
	}
	return list[0].EncodeAddress()
}

// described returns the expected description of a script.
func described(s []byte) []string {
	switch a := address(s); {
	case a != "":
		return []string{a}
	case len(s) > 2 && s[0] == 0x6a && int(s[1]) == len(s)-2:
		if utf8.Valid(s[2:]) {
			return []string{"OP_RETURN (" + string(s[2:]) + ")"}
		}
		return []string{"OP_RETURN " + hex.EncodeToString(s[2:])}
	case len(s) == 37 && s[36] == 0xae:
		_, list, _, _ := txscript.ExtractPkScriptAddrs(s, &chaincfg.RegressionNetParams)
		return []string{list[0].EncodeAddress()}
	}
	return []string{}
}

func serialize(tx *wire.MsgTx) []byte {
	var b bytes.Buffer
	if err := tx.Serialize(&b); err != nil {
		panic(err) // writing to memory does not fail
	}
	return b.Bytes()
}
