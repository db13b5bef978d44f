package coretest

import (
	"bytes"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/btcsuite/btcd/chainhash/v2"
	"github.com/btcsuite/btcd/wire/v2"

	"birthmark/model"
)

// AnyoneCanSpend is the script of coinbases and of the outputs of [Spend] (OP_TRUE).
var AnyoneCanSpend = []byte{0x51}

// Coin is an output that can be spent.
type Coin struct {
	At    wire.OutPoint
	Value int64
}

// Spend returns a transaction that spends coins into one output, less a fee.
func Spend(fee int64, coins ...Coin) *wire.MsgTx {
	sum := -fee
	for _, c := range coins {
		sum += c.Value
	}
	return Pay(coins, wire.NewTxOut(sum, AnyoneCanSpend))
}

// Pay returns a transaction that spends coins into outputs.
func Pay(coins []Coin, outputs ...*wire.TxOut) *wire.MsgTx {
	tx := wire.NewMsgTx(2)
	for _, c := range coins {
		tx.AddTxIn(wire.NewTxIn(&c.At, nil, nil))
	}
	for _, o := range outputs {
		tx.AddTxOut(o)
	}
	return tx
}

// Outputs returns the outputs of a transaction.
func Outputs(tx *wire.MsgTx) []Coin {
	id := tx.TxHash()
	coins := make([]Coin, len(tx.TxOut))
	for i, o := range tx.TxOut {
		coins[i] = Coin{wire.OutPoint{Hash: id, Index: uint32(i)}, o.Value}
	}
	return coins
}

// Raw returns the serialized transaction.
func Raw(tx *wire.MsgTx) []byte {
	var b bytes.Buffer
	if err := tx.Serialize(&b); err != nil {
		panic(err) // writing to memory does not fail
	}
	return b.Bytes()
}

// ID returns the id of a transaction.
func ID(tx *wire.MsgTx) model.Hash { return model.Hash(tx.TxHash()) }

// entry is a transaction of the mempool.
type entry struct {
	id    chainhash.Hash
	tx    *wire.MsgTx
	raw   []byte
	fee   int64
	vsize int64
	time  time.Time
	gone  bool
}

func vsize(tx *wire.MsgTx) int64 {
	return int64(3*tx.SerializeSizeStripped()+tx.SerializeSize()+3) / 4
}

// rejection is the reason why a transaction is not accepted: the code and message of sendrawtransaction, and the reason
// of testmempoolaccept if it differs.
type rejection struct {
	code            int
	message, reason string
}

func (r *rejection) Error() string { return fmt.Sprintf("%s (%d)", r.message, r.code) }

// Send adds a transaction to the mempool as sendrawtransaction does. The test fails if it is refused.
func (n *Node) Send(t testing.TB, txs ...*wire.MsgTx) {
	t.Helper()
	for _, tx := range txs {
		if err := n.TrySend(tx); err != nil {
			t.Fatal(err)
		}
	}
}

// TrySend returns the error of a refused transaction.
func (n *Node) TrySend(tx *wire.MsgTx) error {
	n.mu.Lock()
	defer n.mu.Unlock()
	if r := n.accept(tx, n.minimumRate(), nil); r != nil {
		return r
	}
	return nil
}

// Fill adds transactions to the mempool, with two inputs and two outputs each, to scripts of their own. A quarter of them
// spend an unconfirmed output.
func (n *Node) Fill(t testing.TB, count int) {
	t.Helper()
	coins := n.Coins(t, 2*count)
	script := func(i int) []byte { // P2WPKH
		return append([]byte{0, 20}, chainhash.HashB(fmt.Append(nil, i))[:20]...)
	}
	for i := range count {
		spent := coins[2*i : 2*i+2]
		if i%4 == 3 {
			spent[0] = coins[2*i-2]
		}
		value := (spent[0].Value + spent[1].Value - 500 - int64(i%5000)) / 2
		tx := Pay(spent, wire.NewTxOut(value, script(2*i)), wire.NewTxOut(value, script(2*i+1)))
		for _, in := range tx.TxIn {
			in.Witness = wire.TxWitness{make([]byte, 72), make([]byte, 33)}
		}
		n.Send(t, tx)
		coins[2*i] = Outputs(tx)[0]
	}
}

// Evict removes transactions and their descendants, as a full mempool does.
func (n *Node) Evict(ids ...model.Hash) {
	n.mu.Lock()
	defer n.mu.Unlock()
	for _, id := range ids {
		if e := n.pool[chainhash.Hash(id)]; e != nil {
			n.remove(e, true)
		}
	}
}

// Mempool returns the unconfirmed transactions in the order of arrival.
func (n *Node) Mempool() []*wire.MsgTx {
	n.mu.Lock()
	defer n.mu.Unlock()
	var txs []*wire.MsgTx
	for _, e := range n.entries() {
		txs = append(txs, e.tx)
	}
	return txs
}

// entries returns the mempool by arrival. mu is held.
func (n *Node) entries() []*entry {
	n.order = slices.DeleteFunc(n.order, func(e *entry) bool { return e.gone })
	return n.order
}

func (n *Node) minimumRate() int64 {
	if n.faults.MinimumRate != 0 {
		return n.faults.MinimumRate
	}
	return 1000
}

// check returns the entry of a transaction that can be accepted, and the transactions that it replaces. rate is the
// lowest fee rate. beside has the transactions of the same package. mu is held.
func (n *Node) check(tx *wire.MsgTx, rate int64, beside map[wire.OutPoint]*wire.TxOut) (e *entry, replaced []*entry, _ *rejection) {
	e = &entry{id: tx.TxHash(), tx: tx, raw: Raw(tx), vsize: vsize(tx), time: time.Now()}
	if n.pool[e.id] != nil {
		return nil, nil, &rejection{-27, "txn-already-in-mempool", ""}
	}
	if len(tx.TxIn) == 0 || len(tx.TxOut) == 0 {
		return nil, nil, &rejection{-26, "bad-txns-vin-empty", ""}
	}
	for i, o := range tx.TxOut {
		if n.unspent[wire.OutPoint{Hash: e.id, Index: uint32(i)}] != nil {
			return nil, nil, &rejection{-27, "Transaction outputs already in utxo set", "txn-already-known"}
		}
		e.fee -= o.Value
	}
	conflicts := map[*entry]bool{}
	for _, in := range tx.TxIn {
		at := in.PreviousOutPoint
		out := n.unspent[at]
		if p := n.pool[at.Hash]; p != nil && int(at.Index) < len(p.tx.TxOut) {
			out = p.tx.TxOut[at.Index]
		}
		if out == nil {
			out = beside[at]
		}
		if out == nil {
			return nil, nil, &rejection{-25, "bad-txns-inputs-missingorspent", "missing-inputs"}
		}
		e.fee += out.Value
		if c := n.spends[at]; c != nil {
			conflicts[c] = true
		}
	}
	if e.fee < 0 {
		return nil, nil, &rejection{-26, "bad-txns-in-belowout", ""}
	}
	if least := rate * e.vsize / 1000; e.fee < least {
		return nil, nil, &rejection{-26, fmt.Sprintf("min relay fee not met, %d < %d", e.fee, least), ""}
	}
	fees := int64(0)
	for c := range conflicts {
		replaced = append(replaced, n.withDescendants(c)...)
	}
	for i, c := range replaced {
		if !slices.Contains(replaced[:i], c) {
			fees += c.fee
		}
		for _, in := range tx.TxIn {
			if in.PreviousOutPoint.Hash == c.id {
				return nil, nil, &rejection{-26, "bad-txns-spends-conflicting-tx", ""}
			}
		}
	}
	if len(replaced) > 0 && e.fee < fees+n.minimumRate()*e.vsize/1000 {
		return nil, nil, &rejection{-26, fmt.Sprintf("insufficient fee, rejecting replacement %s; new fee %d, replaced %d", e.id, e.fee, fees), ""}
	}
	return e, replaced, nil
}

// accept adds a transaction, and removes the ones that it replaces. mu is held.
func (n *Node) accept(tx *wire.MsgTx, rate int64, beside map[wire.OutPoint]*wire.TxOut) *rejection {
	e, replaced, r := n.check(tx, rate, beside)
	if r != nil {
		return r
	}
	for _, c := range replaced {
		n.remove(c, true)
	}
	n.add(e)
	return nil
}

func (n *Node) add(e *entry) {
	n.pool[e.id] = e
	n.order = append(n.order, e)
	for _, in := range e.tx.TxIn {
		n.spends[in.PreviousOutPoint] = e
	}
	n.publisher.publish("rawtx", e.raw)
	n.changed('A', e.id)
}

// changed numbers and publishes a change of the mempool.
func (n *Node) changed(label byte, id chainhash.Hash) {
	n.publishSequence(label, id, &n.next)
	n.next++
}

// withDescendants returns an entry and all that spend from it, each once.
func (n *Node) withDescendants(e *entry) []*entry {
	all := []*entry{e}
	for i := 0; i < len(all); i++ {
		for o := range all[i].tx.TxOut {
			if c := n.spends[wire.OutPoint{Hash: all[i].id, Index: uint32(o)}]; c != nil && !slices.Contains(all, c) {
				all = append(all, c)
			}
		}
	}
	return all
}

// remove removes an entry with its descendants, descendants first. Without publish, as for transactions of a block,
// only the entry itself, whose removal has a number and no notification.
func (n *Node) remove(e *entry, publish bool) {
	if e.gone {
		return
	}
	all := []*entry{e}
	if publish {
		all = n.withDescendants(e)
	}
	for _, e := range slices.Backward(all) {
		e.gone = true
		delete(n.pool, e.id)
		for _, in := range e.tx.TxIn {
			delete(n.spends, in.PreviousOutPoint)
		}
		if publish {
			n.changed('R', e.id)
		} else {
			n.next++
		}
	}
}
