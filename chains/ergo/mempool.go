package ergo

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"net/url"
	"sync"
	"time"

	"birthmark/chains/ergo/rest"
	"birthmark/chains/ergo/sigma"
	"birthmark/model"
)

// NodeAnswer is a response of a node to a request that is passed on.
type NodeAnswer = rest.Answer

// blockStream is the source that [blocksource.NewSource] returns for a node.
type blockStream interface {
	model.Source
	model.BlockReader
	model.Measurer
}

// nodeSource is a node's blocks with its mempool. It implements [model.Mempool], [model.Submitter] and
// [model.FeeEstimator], and passes requests on to the node.
type nodeSource struct {
	blockStream
	node *restNode
	fees fees
}

// fees are the node's estimates of the last minute.
type fees struct {
	mu   sync.Mutex
	at   time.Time
	rate map[int]float64 // by confirmation target
}

// Ask passes a request on to the node: see [rest.Client.Ask].
func (s *nodeSource) Ask(ctx context.Context, path []string, query url.Values, body []byte) (NodeAnswer, error) {
	return s.node.Ask(ctx, path, query, body)
}

// MempoolIDs implements [model.Mempool].
func (s *nodeSource) MempoolIDs(ctx context.Context) (ids []model.Hash, sequence uint64, err error) {
	ids, err = s.node.MempoolIDs(ctx)
	return ids, 0, err
}

// MempoolEvents implements [model.Mempool]: a node has no events.
func (s *nodeSource) MempoolEvents(context.Context) (iter.Seq2[model.MempoolEvent, error], error) {
	return nil, nil
}

// MempoolTxs implements [model.Mempool].
func (s *nodeSource) MempoolTxs(ctx context.Context, ids []model.Hash) ([]*model.Unconfirmed, error) {
	d := s.node.decoders.Get().(*decoder)
	defer s.node.decoders.Put(d)
	txs, at := make([]*model.Unconfirmed, len(ids)), make(map[model.Hash]int, len(ids))
	for i, id := range ids {
		at[id] = i
	}
	err := s.node.MempoolTxs(ctx, ids, func(id model.Hash, raw []byte) error {
		t, err := d.unconfirmed(raw)
		if err != nil || t.Hash != id {
			if err == nil {
				err = fmt.Errorf("transaction %s", t.Hash)
			}
			return model.Errorf(model.BadSource, "bad_answer", "requested transaction %s, but %s returned an invalid one: %w", id, s.node.Host(), err)
		}
		txs[at[id]] = t
		return nil
	})
	return txs, err
}

// unconfirmed decodes a transaction that is in no block.
func (d *decoder) unconfirmed(raw []byte) (*model.Unconfirmed, error) {
	if err := d.oneTx(raw); err != nil {
		return nil, err
	}
	d.unmined = true
	txs := d.transactions(nil)
	d.unmined = false
	d.keepRaw(txs)
	return &model.Unconfirmed{Tx: txs[0], Size: len(txs[0].Raw), VSize: len(txs[0].Raw)}, nil
}

// oneTx reads a transaction and nothing more.
func (d *decoder) oneTx(raw []byte) error {
	d.reset(raw)
	s := &d.s
	if s.null() {
		s.fail("unexpected null, expected a transaction")
	}
	d.readTx()
	if s.err == nil && s.next() != 0 || s.err == nil && s.at < len(s.b) {
		s.unexpected("the end of the transaction")
	}
	return s.err
}

// SerializeTx implements [model.TxSerializer]: the JSON of a signed transaction as nodes take it. The ids of the
// transaction and its boxes may be missing.
func (c *chain) SerializeTx(text []byte) ([]byte, error) {
	d, err := newDecoder(c, nil)
	if err != nil {
		return nil, err
	}
	d.signed = true
	if err := d.oneTx(text); err != nil {
		return nil, model.Errorf(model.Usage, "bad_body", "invalid transaction: %w", err)
	}
	return d.e.AppendTx(nil, &d.txs[0].Tx, true), nil
}

// Submit implements [model.Submitter]. Ergo's nodes have no limits that a request sets.
func (s *nodeSource) Submit(ctx context.Context, raw []byte, _ model.SubmitOptions) (model.Hash, error) {
	return s.node.Submit(ctx, raw)
}

// TestAccept implements [model.Submitter], with an array of {"id", "accepted", "reason"}.
func (s *nodeSource) TestAccept(ctx context.Context, raws [][]byte, _ model.SubmitOptions) ([]byte, error) {
	type result struct {
		ID       string `json:"id,omitempty"`
		Accepted bool   `json:"accepted"`
		Reason   string `json:"reason,omitempty"`
	}
	results := make([]result, len(raws))
	for i, raw := range raws {
		if id, err := sigma.SignedTxID(raw); err == nil {
			results[i].ID = model.Hash(id).String()
		}
		err := s.node.Check(ctx, raw)
		refusal, refused := errors.AsType[*model.NodeError](err)
		if err != nil && !refused {
			return nil, err
		}
		if results[i].Accepted = err == nil; refused {
			results[i].Reason = refusal.Message
		}
	}
	return json.Marshal(results)
}

// SubmitPackage implements [model.Submitter]: Ergo's nodes take one transaction after the other.
func (s *nodeSource) SubmitPackage(context.Context, [][]byte, model.SubmitOptions) ([]byte, error) {
	return nil, model.Errorf(model.NotFound, "unsupported", "Ergo's nodes take no packages: submit the transactions one after the other, parents first")
}

const (
	feeAge = time.Minute // of estimates
	// feeSize is the size in bytes of the transactions whose fees are estimated: rates are per 1,000 bytes.
	feeSize = 1000
	// minutesPerBlock is the time that a block is meant to take.
	minutesPerBlock = blockSeconds / 60
	// longestWait is the longest time in blocks that is estimated: a node computes from a histogram of an hour.
	longestWait = 25
)

// EstimateFees implements [model.FeeEstimator]. A node estimates by time: a block is two minutes. Targets of more than
// 25 blocks have the estimate of 25.
func (s *nodeSource) EstimateFees(ctx context.Context, targets []int, _ string) (map[int]float64, error) {
	f := &s.fees
	f.mu.Lock()
	defer f.mu.Unlock()
	if now := time.Now(); now.Sub(f.at) > feeAge {
		f.at, f.rate = now, map[int]float64{}
	}
	rates := map[int]float64{}
	for _, n := range targets {
		at := min(n, longestWait)
		if _, known := f.rate[at]; !known {
			fee, err := s.node.Fee(ctx, at*minutesPerBlock, feeSize)
			if err != nil {
				return nil, err
			}
			f.rate[at] = float64(fee)
		}
		rates[n] = f.rate[at]
	}
	return rates, nil
}

// MinimumFees implements [model.FeeEstimator]. The minimum of Ergo's nodes is an amount per transaction, 0.001 ERG
// unless its operator changed it, and no rate: all rates are 0.
func (s *nodeSource) MinimumFees(context.Context) (model.MinimumFees, error) {
	return model.MinimumFees{}, nil
}
