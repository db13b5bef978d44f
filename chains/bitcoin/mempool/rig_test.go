package mempool_test

import (
	"context"
	"slices"
	"testing"

	"github.com/btcsuite/btcd/wire/v2"

	"birthmark/chains/bitcoin"
	"birthmark/internal/testnode/coretest"
	"birthmark/model"
)

// node has the interfaces of the source that a chain opens for the URL of a node.
type node interface {
	model.Source
	model.BlockReader
	model.UnspentCounter
	model.Mempool
	model.Submitter
	model.FeeEstimator
	model.NodeDescriber
}

// open opens a regtest node as the program does.
func open(t testing.TB, url string, indexes ...string) node {
	t.Helper()
	c, err := bitcoin.New("regtest")
	if err != nil {
		t.Fatal(err)
	}
	src, err := c.Open(t.Context(), model.SourceOptions{URI: url, Indexes: indexes, Raw: true, Follow: true})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := src.Close(); err != nil {
			t.Error(err)
		}
	})
	return src.(node)
}

func must[T any](t testing.TB) func(v T, err error) T {
	t.Helper()
	return func(v T, err error) T {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
}

// wantError checks kind, code and, unless it is empty, the text of an error.
func wantError(t testing.TB, err error, kind model.ErrorKind, code, text string) {
	t.Helper()
	gotKind, gotCode := model.KindOf(err)
	if err == nil || gotKind != kind || gotCode != code || text != "" && err.Error() != text {
		t.Errorf("%v (kind %d, code %s), expected kind %d, code %s, %s", err, gotKind, gotCode, kind, code, text)
	}
}

func idsOf(txs []*wire.MsgTx) []model.Hash {
	ids := make([]model.Hash, len(txs))
	for i, tx := range txs {
		ids[i] = coretest.ID(tx)
	}
	return ids
}

func sorted(ids []model.Hash) []model.Hash {
	ids = slices.Clone(ids)
	slices.SortFunc(ids, func(a, b model.Hash) int { return slices.Compare(a[:], b[:]) })
	return ids
}

// events subscribes to a node until the test ends. The channel is closed after an error, which is sent to failed.
func events(t testing.TB, src node) (<-chan model.MempoolEvent, <-chan error) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	seq, err := src.MempoolEvents(ctx)
	if err != nil || seq == nil {
		t.Fatalf("no events: %v", err)
	}
	out, failed, ended := make(chan model.MempoolEvent, 10_000), make(chan error, 1), make(chan struct{})
	go func() {
		defer close(ended)
		defer close(out)
		for e, err := range seq {
			if err != nil {
				failed <- err
				return
			}
			out <- e
		}
	}()
	t.Cleanup(func() { cancel(); <-ended })
	return out, failed
}
