package wallet_test

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"

	"github.com/btcsuite/btcd/chainhash/v2"
	"github.com/btcsuite/btcd/wire/v2"

	"birthmark/api/compat/wallet"
	"birthmark/internal/testnode/bitcointest"
	"birthmark/model"
)

// naive computes the answers of the wallet protocols by a scan of all blocks and the mempool.
type naive struct {
	blocks  []*wire.MsgBlock
	pool    []*wire.MsgTx
	places  map[model.Hash]wallet.Place
	txs     map[model.Hash]*wire.MsgTx
	spender map[wire.OutPoint]wallet.Spender
}

type output struct {
	tx    *wire.MsgTx
	index int
	place wallet.Place
}

func (o output) out() *wire.TxOut { return o.tx.TxOut[o.index] }

func unspendable(script []byte) bool {
	return len(script) > 10_000 || len(script) > 0 && script[0] == 0x6a
}

func newNaive(c *bitcointest.Chain, pool []*wire.MsgTx) *naive {
	n := &naive{
		blocks: c.Blocks(), pool: slices.Clone(pool), places: map[model.Hash]wallet.Place{}, txs: map[model.Hash]*wire.MsgTx{},
		spender: map[wire.OutPoint]wallet.Spender{},
	}
	add := func(tx *wire.MsgTx, place wallet.Place) {
		id := model.Hash(tx.TxHash())
		n.txs[id], n.places[id] = tx, place
		for j, in := range tx.TxIn {
			n.spender[in.PreviousOutPoint] = wallet.Spender{Tx: id, Input: j, Place: place}
		}
	}
	for h, b := range n.blocks {
		for i, tx := range b.Transactions {
			add(tx, wallet.Place{
				Confirmed: true, Height: uint32(h), Position: i, BlockHash: model.Hash(b.BlockHash()),
				BlockTime: b.Header.Timestamp.Unix(),
			})
		}
	}
	for _, tx := range pool {
		add(tx, wallet.Place{UnconfirmedParent: slices.ContainsFunc(tx.TxIn, func(in *wire.TxIn) bool {
			parent, known := n.places[model.Hash(in.PreviousOutPoint.Hash)]
			return known && !parent.Confirmed
		})})
	}
	return n
}

// unspentOutputs returns the outputs that a transaction can spend.
func (n *naive) unspentOutputs() (free []output) {
	for h, b := range n.blocks {
		for _, tx := range b.Transactions {
			id := tx.TxHash()
			for i, o := range tx.TxOut {
				if _, spent := n.spender[wire.OutPoint{Hash: id, Index: uint32(i)}]; !spent && h > 0 && !unspendable(o.PkScript) {
					free = append(free, output{tx, i, n.places[model.Hash(id)]})
				}
			}
		}
	}
	for _, tx := range n.pool {
		id := tx.TxHash()
		for i, o := range tx.TxOut {
			if _, spent := n.spender[wire.OutPoint{Hash: id, Index: uint32(i)}]; !spent && !unspendable(o.PkScript) {
				free = append(free, output{tx, i, n.places[model.Hash(id)]})
			}
		}
	}
	return free
}

// prevout returns the output that an input spends, nil for a coinbase.
func (n *naive) prevout(in *wire.TxIn) *wire.TxOut {
	tx := n.txs[model.Hash(in.PreviousOutPoint.Hash)]
	if tx == nil {
		return nil
	}
	return tx.TxOut[in.PreviousOutPoint.Index]
}

// history returns the history of a script in chain order, with its totals.
func (n *naive) history(script []byte) (entries []wallet.Entry, s wallet.Stats) {
	for h, b := range n.blocks[1:] {
		for i, tx := range b.Transactions {
			if e, found := n.entry(script, tx, &s); found {
				e.Height, e.Position = uint32(h+1), i
				entries = append(entries, e)
			}
		}
	}
	return entries, s
}

// mempool returns the history of a script in the mempool, in the order of the status.
func (n *naive) mempool(script []byte) (entries []wallet.Entry, s wallet.Stats) {
	for _, tx := range n.pool {
		if e, found := n.entry(script, tx, &s); found {
			e.Fee, e.UnconfirmedParent = n.fee(tx), n.places[e.Tx].UnconfirmedParent
			entries = append(entries, e)
		}
	}
	return wallet.InStatusOrder(entries), s
}

// entry is the part of a transaction in the history of a script, which it adds to the totals.
func (n *naive) entry(script []byte, tx *wire.MsgTx, s *wallet.Stats) (e wallet.Entry, found bool) {
	if unspendable(script) {
		return e, false
	}
	e.Tx = model.Hash(tx.TxHash())
	for _, o := range tx.TxOut {
		if string(o.PkScript) == string(script) {
			found = true
			e.Received += uint64(o.Value)
			s.Funded++
		}
	}
	for _, in := range tx.TxIn {
		if o := n.prevout(in); o != nil && string(o.PkScript) == string(script) {
			found = true
			e.Sent += uint64(o.Value)
			s.Spent++
		}
	}
	if found {
		s.Txs++
		s.FundedSum += e.Received
		s.SpentSum += e.Sent
	}
	return e, found
}

// fee returns the fee of a transaction that is not a coinbase.
func (n *naive) fee(tx *wire.MsgTx) (fee uint64) {
	for _, in := range tx.TxIn {
		fee += uint64(n.prevout(in).Value)
	}
	for _, o := range tx.TxOut {
		fee -= uint64(o.Value)
	}
	return fee
}

func (n *naive) unspent(script []byte) (us []wallet.Unspent) {
	for _, o := range n.unspentOutputs() {
		if string(o.out().PkScript) == string(script) {
			us = append(us, wallet.Unspent{
				Tx: model.Hash(o.tx.TxHash()), Index: uint32(o.index), Value: uint64(o.out().Value), Height: o.place.Height,
				Coinbase: o.place.Confirmed && o.place.Position == 0,
			})
		}
	}
	return us
}

// statusOf computes the status of a history by its definition.
func statusOf(entries []wallet.Entry) (status [32]byte, ok bool) {
	text := ""
	for _, e := range entries {
		id := e.Tx
		slices.Reverse(id[:])
		height := int(e.Height)
		if e.UnconfirmedParent {
			height = -1
		}
		text += fmt.Sprintf("%s:%d:", hex.EncodeToString(id[:]), height)
	}
	return sha256.Sum256([]byte(text)), text != ""
}

// rootOf computes a Merkle root by its definition.
func rootOf(level []model.Hash) model.Hash {
	level = slices.Clone(level)
	for len(level) > 1 {
		if len(level)%2 == 1 {
			level = append(level, level[len(level)-1])
		}
		var parents []model.Hash
		for i := 0; i < len(level); i += 2 {
			parents = append(parents, model.Hash(chainhash.DoubleHashH(slices.Concat(level[i][:], level[i+1][:]))))
		}
		level = parents
	}
	return level[0]
}

// follow returns the root of a branch.
func follow(leaf model.Hash, at int, branch []model.Hash) model.Hash {
	for _, sibling := range branch {
		both := slices.Concat(leaf[:], sibling[:])
		if at%2 == 1 {
			both = slices.Concat(sibling[:], leaf[:])
		}
		leaf = model.Hash(chainhash.DoubleHashH(both))
		at /= 2
	}
	return leaf
}
