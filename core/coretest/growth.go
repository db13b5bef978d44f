package coretest

import (
	"context"
	"encoding/binary"
	"fmt"
	"iter"
	"math/big"
	"sync/atomic"

	"birthmark/model"
	"birthmark/model/modeltest"
	"birthmark/storage"
)

// RowCounter counts the rows that snapshots of a store read: rows of scans and keys of lookups.
type RowCounter struct {
	storage.Store
	Rows atomic.Int64
}

// View implements [storage.Store].
func (s *RowCounter) View(ctx context.Context, fn func(storage.Reader) error) error {
	return s.Store.View(ctx, func(r storage.Reader) error { return fn(rowReader{r, s}) })
}

type rowReader struct {
	storage.Reader
	s *RowCounter
}

// Version implements [storage.Versioned].
func (r rowReader) Version() (uint64, bool) { return r.Reader.(storage.Versioned).Version() }

func (r rowReader) Get(f storage.Family, key []byte) ([]byte, error) {
	r.s.Rows.Add(1)
	return r.Reader.Get(f, key)
}

func (r rowReader) GetMany(f storage.Family, keys [][]byte) ([][]byte, error) {
	r.s.Rows.Add(int64(len(keys)))
	return r.Reader.GetMany(f, keys)
}

func (r rowReader) Suffixes(f storage.Family, prefixes [][]byte) ([][]byte, error) {
	r.s.Rows.Add(int64(len(prefixes)))
	return r.Reader.Suffixes(f, prefixes)
}

func (r rowReader) Scan(f storage.Family, from, to []byte, reverse bool) iter.Seq2[storage.KV, error] {
	return func(yield func(storage.KV, error) bool) {
		for kv, err := range r.Reader.Scan(f, from, to, reverse) {
			if r.s.Rows.Add(1); !yield(kv, err) {
				return
			}
		}
	}
}

// UniformChain is the rules of the blocks of [Uniform].
var UniformChain = modeltest.Variant{Name: "uniform", Coinbase: true, ByHand: true, Placed: true, Kept: true}

// Uniform returns blocks that are alike: each has one transaction with one output, which has an address, a box and an
// asset of its own.
func Uniform(n int) []*model.Block {
	blocks := make([]*model.Block, n)
	for i := range blocks {
		b := &model.Block{Height: model.HeightPk(i), Time: 1_600_000_000 + int64(i)*600, Size: 1000}
		binary.BigEndian.PutUint64(b.Hash[:], uint64(i)+1)
		if b.Header = fmt.Appendf(nil, "header of block %d", i); i > 0 {
			b.Parent = blocks[i-1].Hash
		}
		tx := model.Tx{Outputs: []model.Output{{Value: 50, Assets: []model.Asset{{ID: fmt.Appendf(nil, "asset %d", i), Amount: 7}}}}}
		binary.BigEndian.PutUint64(tx.Hash[:], 1<<32+uint64(i))
		tx.Mints = []model.Mint{{Asset: tx.Outputs[0].Assets[0].ID, Amount: big.NewInt(7)}}
		for index, name := range modeltest.IndexNames {
			if name == "address" || name == "box" {
				tx.Outputs[0].Keys = append(tx.Outputs[0].Keys, model.Key{Index: index, Value: fmt.Appendf(nil, "%s %d", name, i)})
			}
		}
		b.Txs = []model.Tx{tx}
		b.Place = &model.Place{File: "/blocks/blk00000.dat", Offset: uint64(i), Sizes: []int{100}}
		blocks[i] = b
	}
	return blocks
}
