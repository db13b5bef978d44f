package backfill_test

import (
	"bytes"
	"fmt"
	"slices"
	"testing"

	"birthmark/core"
	"birthmark/core/backfill"
	"birthmark/core/coretest"
	"birthmark/core/schema"
	"birthmark/internal/testseed"
	"birthmark/model"
	"birthmark/model/modeltest"
	"birthmark/storage"
	"birthmark/storage/memory"
)

// TestInvalidValuesAreRejected tests that a step rejects values of a source that violate the kind of the index.
func TestInvalidValuesAreRejected(t *testing.T) {
	v := modeltest.Variants()[0]
	for _, test := range []struct {
		name, index string
		keys        func(output int) []model.Key
		valid       bool
	}{
		{"one value per output", "tag", func(int) []model.Key { return []model.Key{{Value: []byte("a")}} }, true},
		{"two values of a one-to-many index", "tag", func(int) []model.Key { return []model.Key{{Value: []byte("a")}, {Value: []byte("b")}} }, false},
		{"two values of a many-valued index", "label", func(int) []model.Key { return []model.Key{{Value: []byte("a")}, {Value: []byte("b")}} }, true},
		{"a value twice in one output", "label", func(int) []model.Key { return []model.Key{{Value: []byte("a")}, {Value: []byte("a")}} }, false},
		{"different values of a one-to-one index", "box", func(i int) []model.Key { return []model.Key{{Value: fmt.Append(nil, i)}} }, true},
		{"a value of a one-to-one index twice", "box", func(i int) []model.Key { return []model.Key{{Value: fmt.Append(nil, i/2)}} }, false},
		{"an empty value", "tag", func(int) []model.Key { return []model.Key{{}} }, false},
		{"a value that is too large", "tag", func(int) []model.Key {
			return []model.Key{{Value: bytes.Repeat([]byte("a"), model.MaxValueSize+1)}}
		}, false},
	} {
		t.Run(test.name, func(t *testing.T) {
			s := memory.New()
			db, err := core.Open(t.Context(), s, core.Options{Chain: v.Chain("one"), Indexes: []string{"address"}})
			if err != nil {
				t.Fatal(err)
			}
			blocks := v.NewGenerator(testseed.Of(t, 810)).Blocks(8)
			outputs := 0
			eachOutput(blocks, func(o *model.Output) {
				keys := o.Keys
				o.Keys = nil
				for _, k := range keys {
					if modeltest.IndexNames[k.Index] == "address" {
						o.Keys = append(o.Keys, model.Key{Value: k.Value})
					}
				}
			})
			coretest.AppendAll(t, db, blocks, len(blocks))
			eachOutput(blocks, func(o *model.Output) {
				o.Keys = test.keys(outputs)
				outputs++
			})
			layout, err := schema.NewLayout(v.Chain("one"), []string{"address"}, nil, false, false)
			if err != nil {
				t.Fatal(err)
			}
			for _, x := range layout.Chain.Indexes() {
				if x.Name == test.index {
					err = layout.Add(x, 0, schema.FeatureValues)
				}
			}
			if err != nil {
				t.Fatal(err)
			}
			x := layout.Entry(test.index)
			if err := s.Declare(x.DeclarationsOf(schema.AllFeatures)...); err != nil {
				t.Fatal(err)
			}
			err = s.View(t.Context(), func(r storage.Reader) error {
				_, err := backfill.Prepare(t.Context(), layout, r, x, model.Point{}, db.Tip(), blocks, nil)
				return err
			})
			if _, code := model.KindOf(err); test.valid && err != nil || !test.valid && code != "bad_block" {
				t.Errorf("error %v, expected success: %t", err, test.valid)
			}
		})
	}
}

// eachOutput calls change with every output of the blocks. A transaction that repeats an earlier one gets outputs of its
// own.
func eachOutput(blocks []*model.Block, change func(o *model.Output)) {
	for _, b := range blocks {
		for _, txs := range [][]model.Tx{b.Genesis, b.Txs} {
			for i := range txs {
				txs[i].Outputs = slices.Clone(txs[i].Outputs)
				for j := range txs[i].Outputs {
					change(&txs[i].Outputs[j])
				}
			}
		}
	}
}
