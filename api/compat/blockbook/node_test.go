package blockbook_test

import (
	"context"
	"crypto/sha256"
	"iter"
	"maps"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/btcsuite/btcd/chainhash/v2"
	"github.com/btcsuite/btcd/wire/v2"

	"birthmark/api/compat/script"
	"birthmark/chains/bitcoin/block"
	"birthmark/model"
)

// node is a node with a mempool. It has values of the index script_hash only.
type node struct {
	mu   sync.Mutex
	tip  model.Point
	pool []*wire.MsgTx // parents first
	seen map[chainhash.Hash]int64
	fees map[int]float64

	silent bool        // at NodeInfo
	panics atomic.Bool // at Submit and EstimateFees
}

var refused = model.Errorf(model.Usage, "rejected", "-25: bad-txns-inputs-missingorspent")

// set sets the tip, if it is not the origin, and the mempool, if it is not nil.
func (n *node) set(tip model.Point, pool []*wire.MsgTx) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if !tip.IsOrigin() {
		n.tip = tip
	} else {
		n.pool = nil
		for _, tx := range pool {
			n.add(tx)
		}
	}
}

// add adds a transaction to the mempool. Each new one arrives a second after the one before. mu is held.
func (n *node) add(tx *wire.MsgTx) {
	n.pool = append(n.pool, tx)
	if n.seen == nil {
		n.seen = map[chainhash.Hash]int64{}
	}
	if id := tx.TxHash(); n.seen[id] == 0 {
		n.seen[id] = 1_700_000_000 + int64(len(n.seen))
	}
}

func (n *node) times() map[chainhash.Hash]int64 {
	n.mu.Lock()
	defer n.mu.Unlock()
	return maps.Clone(n.seen)
}

func (n *node) txs() []*wire.MsgTx {
	n.mu.Lock()
	defer n.mu.Unlock()
	return slices.Clone(n.pool)
}

func (n *node) ids() (ids []model.Hash) {
	for _, tx := range n.txs() {
		ids = append(ids, model.Hash(tx.TxHash()))
	}
	return ids
}

func (n *node) Tip(context.Context) (model.Point, error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.tip, nil
}

func (n *node) Follow(context.Context, []model.Point) iter.Seq2[model.Event, error] {
	panic("the database follows a file")
}

func (n *node) Close() error { return nil }

func (n *node) MempoolIDs(context.Context) ([]model.Hash, uint64, error) { return n.ids(), 0, nil }

func (n *node) MempoolEvents(context.Context) (iter.Seq2[model.MempoolEvent, error], error) {
	return nil, nil
}

func (n *node) MempoolTxs(_ context.Context, ids []model.Hash) ([]*model.Unconfirmed, error) {
	found := make([]*model.Unconfirmed, len(ids))
	times := n.times()
	for _, tx := range n.txs() {
		if i := slices.Index(ids, model.Hash(tx.TxHash())); i >= 0 {
			found[i] = unconfirmed(tx, times[tx.TxHash()])
		}
	}
	return found, nil
}

func unconfirmed(tx *wire.MsgTx, seen int64) *model.Unconfirmed {
	raw := serialize(tx)
	weight, vsize, err := block.TxWeight(raw)
	if err != nil {
		panic(err)
	}
	u := &model.Unconfirmed{Size: len(raw), VSize: vsize, Weight: weight, Seen: time.Unix(seen, 0)}
	u.Hash, u.Raw = model.Hash(tx.TxHash()), raw
	for _, in := range tx.TxIn {
		u.Inputs = append(u.Inputs, model.Input{Tx: model.Hash(in.PreviousOutPoint.Hash), Index: in.PreviousOutPoint.Index})
	}
	for _, out := range tx.TxOut {
		key := sha256.Sum256(out.PkScript)
		u.Outputs = append(u.Outputs, model.Output{Value: uint64(out.Value), Keys: []model.Key{{Index: 1, Value: key[:]}}})
	}
	return u
}

// Submit implements [model.Submitter]: it rejects transactions without inputs.
func (n *node) Submit(_ context.Context, raw []byte, _ model.SubmitOptions) (model.Hash, error) {
	if n.panics.Load() {
		panic("injected")
	}
	tx, err := script.ParseTx(raw)
	if err != nil || len(tx.TxIn) == 0 {
		return model.Hash{}, refused
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	n.add(tx)
	return model.Hash(tx.TxHash()), nil
}

func (n *node) TestAccept(context.Context, [][]byte, model.SubmitOptions) ([]byte, error) {
	return nil, refused
}

func (n *node) SubmitPackage(context.Context, [][]byte, model.SubmitOptions) ([]byte, error) {
	return nil, refused
}

func (n *node) EstimateFees(_ context.Context, targets []int, mode string) (map[int]float64, error) {
	if n.panics.Load() {
		panic("injected")
	}
	rates := map[int]float64{}
	for _, target := range targets {
		if rate, ok := n.fees[target]; ok && mode == "CONSERVATIVE" {
			rates[target] = rate
		} else if ok {
			rates[target] = rate / 2
		}
	}
	return rates, nil
}

func (n *node) MinimumFees(context.Context) (model.MinimumFees, error) {
	return model.MinimumFees{Mempool: 1000, Relay: 1000, Increment: 1000}, nil
}

func (n *node) setSilent(silent bool) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.silent = silent
}

// NodeInfo implements [model.NodeDescriber].
func (n *node) NodeInfo(context.Context) (*model.NodeInfo, error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.silent {
		return nil, model.Errorf(model.BadSource, "unreachable", "the node does not answer")
	}
	return &model.NodeInfo{
		Headers: int64(n.tip.Height), SizeOnDisk: 5000, Version: "280000", Subversion: "/Satoshi:28.0.0/", Protocol: "70016",
		Warnings: []string{"one", "two"},
	}, nil
}
