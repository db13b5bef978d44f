package wallet_test

import (
	"bytes"
	"context"
	"errors"
	"iter"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/btcsuite/btcd/wire/v2"

	"birthmark/api/compat/answertest"
	"birthmark/core"
	"birthmark/core/pending"
	"birthmark/internal/testnode/bitcointest"
	"birthmark/model"
)

// source is a test node whose mempool is set by the test.
type source struct {
	chain   model.Chain
	indexes []string

	mu   sync.Mutex
	tip  model.Point
	pool []*wire.MsgTx
}

func (s *source) set(tip model.Point, pool []*wire.MsgTx) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.tip, s.pool = tip, slices.Clone(pool)
}

func (s *source) Tip(context.Context) (model.Point, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.tip, nil
}

func (s *source) Follow(context.Context, []model.Point) iter.Seq2[model.Event, error] {
	return func(yield func(model.Event, error) bool) {
		yield(model.Event{}, errors.New("the source has no blocks"))
	}
}

func (s *source) Close() error { return nil }

func (s *source) MempoolIDs(context.Context) (ids []model.Hash, sequence uint64, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, tx := range s.pool {
		ids = append(ids, model.Hash(tx.TxHash()))
	}
	return ids, 0, nil
}

func (s *source) MempoolEvents(context.Context) (iter.Seq2[model.MempoolEvent, error], error) {
	return nil, nil
}

func (s *source) MempoolTxs(ctx context.Context, ids []model.Hash) ([]*model.Unconfirmed, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	found := make([]*model.Unconfirmed, len(ids))
	for i, id := range ids {
		at := slices.IndexFunc(s.pool, func(tx *wire.MsgTx) bool { return model.Hash(tx.TxHash()) == id })
		if at < 0 {
			continue
		}
		var err error
		if found[i], err = s.decode(ctx, s.pool[at]); err != nil {
			return nil, err
		}
	}
	return found, nil
}

// decode decodes a transaction as one of a block, which its address and script hash do not depend on.
func (s *source) decode(ctx context.Context, tx *wire.MsgTx) (*model.Unconfirmed, error) {
	block := bitcointest.Bytes(bitcointest.NewChain().Mine(tx))
	for b, err := range s.chain.Decode(ctx, bytes.NewReader(block), s.indexes, 1) {
		if err != nil {
			return nil, err
		}
		u := &model.Unconfirmed{Tx: b.Txs[1], Size: tx.SerializeSize(), Weight: 3*tx.SerializeSizeStripped() + tx.SerializeSize()}
		var raw bytes.Buffer
		if err := tx.Serialize(&raw); err != nil {
			return nil, err
		}
		u.VSize, u.Raw = (u.Weight+3)/4, raw.Bytes()
		return u, nil
	}
	return nil, errors.New("the block was not decoded")
}

// follower follows the mempool of a source until the test ends. It opens it as opened.
func follower(t testing.TB, db *core.DB, src *source, opened model.Source) *pending.Follower {
	t.Helper()
	return answertest.Follow(t, db, func(_ context.Context, indexes []string) (model.Source, error) {
		src.indexes = indexes
		return opened, nil
	})
}

// await waits until the follower has the tip of a database and the mempool of its source.
func await(t testing.TB, f *pending.Follower, db *core.DB, src *source) {
	t.Helper()
	for range 200_000 {
		s := f.Standing()
		same := s.Tip == db.Tip() && s.State() == pending.Live && s.Count() == len(src.pool)
		for _, tx := range src.pool {
			same = same && s.Tx(model.Hash(tx.TxHash())) != nil
		}
		if same {
			return
		}
		time.Sleep(time.Millisecond)
	}
	s := f.Standing()
	t.Fatalf("the mempool has %d transactions at %v, %v: expected %d at %v", s.Count(), s.Tip, s.State(), len(src.pool), db.Tip())
}
