package core_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"birthmark/core"
	"birthmark/model"
	"birthmark/model/modeltest"
	"birthmark/storage/memory"
)

// The database and the reference give the same answers to every question, also where blocks were rolled back.
func TestAnswersAreThoseOfTheReference(t *testing.T) {
	for name, store := range stores {
		t.Run(name, func(t *testing.T) {
			variants(t, func(t *testing.T, v modeltest.Variant) {
				n := 50
				if name == "rocks" || testing.Short() {
					n = 20
				}
				blocks := v.NewGenerator(seed(t, 300)).Blocks(n)
				db := open(t, store(t), v, 1<<20)
				appendAll(t, db, blocks, 7)
				answers(t, db, newReference(v, blocks))
				rollback(t, db, blocks[n/2].Point())
				answers(t, db, newReference(v, blocks[:n/2+1]))
				check(t, db)
			})
		})
	}
}

// answers asks everything that is answered whole; lists are the concern of page_test.go.
func answers(t *testing.T, db *core.DB, r *reference) {
	t.Helper()
	ctx := context.Background()
	same := func(what string, got any, err error, want any) {
		t.Helper()
		if g, w := text(got), text(want); err != nil || g != w {
			t.Fatalf("%s: %v\n got %s\nwant %s", what, err, g, w)
		}
	}
	status, err := db.Status(ctx)
	if err != nil {
		t.Fatal(err)
	}
	same("totals", status.Totals, nil, r.totals)
	for i, x := range status.Indexes {
		want := core.IndexAnswer{Name: modeltest.IndexNames[i], Kind: r.chain.Indexes()[i].Kind.String()}
		for _, v := range r.values {
			if v.index == i {
				want.Values++
			}
		}
		same("index", x, nil, want)
	}
	last := r.blocks[len(r.blocks)-1]
	same("tip", status.Tip, nil, core.TipAnswer{Height: uint32(last.Height), Hash: last.Hash.String(), Time: last.Time})
	same("tip", db.Tip(), nil, last.Point())

	for i, b := range r.blocks {
		for _, ref := range []string{b.Hash.String(), text(b.Height)} {
			a, err := db.Block(ctx, ref)
			same("block "+ref, a, err, r.block(i))
		}
		p, err := db.PointAt(ctx, b.Height)
		same("point", p, err, b.Point())
	}
	a, err := db.Block(ctx, "tip")
	same("block tip", a, err, r.block(len(r.blocks)-1))

	for _, t := range r.byHash {
		a, err := db.Tx(ctx, t.Hash.String())
		same("tx", a, err, r.tx(t))
		for i, o := range t.outputs {
			ref := t.Hash.String() + ":" + text(i)
			a, err := db.Output(ctx, ref)
			same("output "+ref, a, err, r.output(o))
		}
	}
	for _, o := range r.boxes {
		for _, k := range o.Keys {
			if x := r.chain.Indexes()[k.Index]; x.Name == r.chain.Traits().SpendsBy {
				a, err := db.Output(ctx, x.Format(k.Value))
				same("box", a, err, r.output(o))
			}
		}
	}
	for _, v := range r.values {
		a, err := db.Balance(ctx, modeltest.IndexNames[v.index], r.text(v))
		same("balance", a, err, r.balance(v))
	}
	for i, index := range modeltest.IndexNames {
		for _, limit := range []int{1, 5, core.MaxLimit} {
			a, err := db.Richest(ctx, index, limit)
			same("richest", a, err, r.richest(i, limit))
		}
	}
	for _, asset := range r.assets {
		a, err := db.Asset(ctx, r.chain.FormatAsset(asset.id))
		same("asset", a, err, r.assetAnswer(asset))
	}
}

// Two transactions with one hash (BIP 30): the hash names the newest, what spends it by name spends the newest's
// outputs, and rolling the newest back brings the older one back.
func TestADuplicateHashNamesTheNewest(t *testing.T) {
	ctx := context.Background()
	twin := model.Tx{Hash: hash(7), Outputs: []model.Output{{Value: 5, Keys: []model.Key{key(0, "old")}}}}
	one := after(nil, 1, twin)
	two := after(one, 2, twin)
	three := after(two, 3, spending(31, model.Input{Tx: hash(7)}))
	for _, window := range []int{1, 3} {
		db := open(t, memory.New(), bitcoin, 1<<20)
		appendAll(t, db, []*model.Block{one, two, three}, window)
		a, err := db.Tx(ctx, hash(7).String())
		if err != nil || a.Height != 1 || a.Outputs[0].SpentBy.Value == nil {
			t.Errorf("the hash names %+v, %v", a, err)
		}
		b, err := db.Balance(ctx, "address", "a6f6c64")
		if err != nil || b.Balance != "5" || b.Received != "10" || b.UnspentCount != 1 {
			t.Errorf("balance %+v, %v", b, err)
		}
		rollback(t, db, one.Point())
		if a, err := db.Tx(ctx, hash(7).String()); err != nil || a.Height != 0 || a.Outputs[0].SpentBy.Value != nil {
			t.Errorf("rolled back, the hash names %+v, %v", a, err)
		}
		same(t, "rolled back", dump(t, db), fresh(t, bitcoin, []*model.Block{one}))
		check(t, db)
	}
}

func TestQuestionsWithoutAnswers(t *testing.T) {
	ctx := context.Background()
	one := after(nil, 1, model.Tx{Hash: hash(7), Outputs: []model.Output{{Value: 5, Keys: []model.Key{key(0, "a")}}}})
	full, empty := open(t, memory.New(), bitcoin, 0), open(t, memory.New(), bitcoin, 0)
	appendAll(t, full, []*model.Block{one, after(one, 2)}, 2)
	block := func(ref string) func(db *core.DB) error {
		return func(db *core.DB) error { _, err := db.Block(ctx, ref); return err }
	}
	output := func(ref string) func(db *core.DB) error {
		return func(db *core.DB) error { _, err := db.Output(ctx, ref); return err }
	}
	tx := func(hash string) func(db *core.DB) error {
		return func(db *core.DB) error { _, err := db.Tx(ctx, hash); return err }
	}
	value := func(index, value string) func(db *core.DB) error {
		return func(db *core.DB) error {
			_, find := db.Find(ctx, index, value, false, core.Page{})
			_, history := db.History(ctx, index, value, core.Page{})
			_, balance := db.Balance(ctx, index, value)
			if code(find) != code(history) || code(find) != code(balance) {
				return errors.Join(find, history, balance)
			}
			return find
		}
	}
	asset := func(id string) func(db *core.DB) error {
		return func(db *core.DB) error {
			_, asset := db.Asset(ctx, id)
			_, events := db.AssetEvents(ctx, id, core.Page{})
			_, holders := db.AssetHolders(ctx, id, core.Page{})
			if code(asset) != code(events) || code(asset) != code(holders) {
				return errors.Join(asset, events, holders)
			}
			return asset
		}
	}
	for what, c := range map[string]struct {
		ask  func(db *core.DB) error
		kind model.ErrorKind
		code string
		says string
	}{
		"a height above the tip":   {block("2"), model.NotFound, "unknown_block", "height 2"},
		"a height that is no u64":  {block("99999999999999999999"), model.Usage, "bad_value", "99999999999999999999"},
		"a height past any chain":  {block("9999999999"), model.NotFound, "unknown_block", "9999999999"},
		"an unknown block":         {block(hash(9).String()), model.NotFound, "unknown_block", hash(9).String()},
		"half a hash":              {block(hash(1).String()[:20] + "ff"), model.Usage, "bad_value", "64 hex digits"},
		"a negative height":        {block("-1"), model.Usage, "bad_value", "-1"},
		"no block":                 {block(""), model.Usage, "bad_value", `""`},
		"an unknown transaction":   {tx(hash(9).String()), model.NotFound, "unknown_tx", hash(9).String()},
		"a block's hash as a tx":   {tx(hash(8).String()), model.NotFound, "unknown_tx", hash(8).String()},
		"a hash too long":          {tx(hash(7).String() + "00"), model.Usage, "bad_value", "64 hex digits"},
		"no hash":                  {tx(""), model.Usage, "bad_value", "64 hex digits"},
		"an output of nothing":     {output(hash(9).String() + ":0"), model.NotFound, "unknown_tx", hash(9).String()},
		"an output without number": {output(hash(7).String()), model.Usage, "bad_value", "TXHASH:N"},
		"an output numbered x":     {output(hash(7).String() + ":x"), model.Usage, "bad_value", "TXHASH:N"},
		"an output numbered -1":    {output(hash(7).String() + ":-1"), model.Usage, "bad_value", "TXHASH:N"},
		"an index without name":    {value("", "a61"), model.Usage, "unknown_index", "address"},
		"an unknown index":         {value("adress", "a61"), model.Usage, "unknown_index", "address"},
		"a misspelt value":         {value("address", "61"), model.Usage, "bad_value", "hex"},
		"an unknown value":         {value("address", "a62"), model.NotFound, "unknown_value", "a62"},
		"no value":                 {value("address", ""), model.Usage, "bad_value", "hex"},
		"a value of another index": {value("label", "l61"), model.NotFound, "unknown_value", "l61"},
		"an unknown asset":         {asset("61"), model.NotFound, "unknown_asset", "61"},
		"a misspelt asset":         {asset("x"), model.Usage, "bad_value", "hex"},
	} {
		for state, db := range map[string]*core.DB{"full": full, "empty": empty} {
			err := c.ask(db)
			if kind(err) != c.kind || code(err) != c.code {
				t.Errorf("%s, database %s: %v (%s), expected %s", what, state, err, code(err), c.code)
				continue
			}
			if (state == "full" && !strings.Contains(err.Error(), c.says)) || strings.Contains(err.Error(), "\n") {
				t.Errorf("%s, database %s: %q does not say %q in a line", what, state, err, c.says)
			}
		}
	}
	for _, ref := range []string{":1", ":524288", ":4294967295"} {
		if err := output(hash(7).String() + ref)(full); code(err) != "unknown_output" || kind(err) != model.NotFound {
			t.Errorf("output %s: %v", ref, err)
		}
	}
	for _, ref := range []string{"tip", "0"} {
		if err := block(ref)(empty); code(err) != "unknown_block" {
			t.Errorf("block %s of an empty database: %v", ref, err)
		}
	}
	if a, err := empty.Status(ctx); err != nil || a.Tip != nil || a.Totals != (core.TotalsAnswer{UnspentValue: "0"}) {
		t.Errorf("status of an empty database: %+v, %v", a, err)
	}
	if a, err := empty.Richest(ctx, "tag", 3); err != nil || len(a.Values) != 0 || a.Values == nil {
		t.Errorf("richest of an empty database: %+v, %v", a, err)
	}
	check(t, empty)
	check(t, full)
}

// A question is given up where its context ends.
func TestQuestionsEndWithTheirContext(t *testing.T) {
	v := modeltest.Variants()[1]
	blocks := v.NewGenerator(seed(t, 310)).Blocks(21)
	db := open(t, memory.New(), v, 0)
	appendAll(t, db, blocks[:20], 7)
	r := newReference(v, blocks[:20])
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	index, value, id := modeltest.IndexNames[r.values[0].index], r.text(r.values[0]), r.chain.FormatAsset(r.assets[0].id)
	for what, ask := range map[string]func() error{
		"find":     func() error { _, err := db.Find(ctx, index, value, true, core.Page{}); return err },
		"history":  func() error { _, err := db.History(ctx, index, value, core.Page{}); return err },
		"balance":  func() error { _, err := db.Balance(ctx, index, value); return err },
		"asset":    func() error { _, err := db.Asset(ctx, id); return err },
		"holders":  func() error { _, err := db.AssetHolders(ctx, id, core.Page{}); return err },
		"check":    func() error { _, err := db.Check(ctx, nil); return err },
		"append":   func() error { return db.Append(ctx, blocks[20:]) },
		"rollback": func() error { return db.Rollback(ctx, model.Point{}) },
	} {
		if err := ask(); !errors.Is(err, context.Canceled) {
			t.Errorf("%s: %v", what, err)
		}
	}
	check(t, db)
}
