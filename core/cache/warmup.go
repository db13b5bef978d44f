package cache

import (
	"context"
	"iter"
	"slices"

	"birthmark/core/schema"
	"birthmark/model"
	"birthmark/storage"
)

// maxReplayedRows is the maximum number of rows that a sync reads, in some ten seconds, to complete the caches. Inputs
// among them take memory meanwhile, so it reads at most one row per replayedBytes of the caches.
const (
	maxReplayedRows = 30_000_000
	replayedBytes   = 8
)

// Warm restores the caches of a database to their state when it was closed: from the snapshot and from the rows written
// since, or from all rows if there is no snapshot. If that would take too long, the caches start empty, and misses are
// looked up.
func (c *Caches) Warm(ctx context.Context, d Contents) error {
	if c.warmed {
		return nil
	}
	c.Pin(schema.PkAfter(d.Tip))
	at, err := c.readSnapshot(ctx, d)
	if err != nil {
		return err
	}
	if rowsSince(d, at) > min(maxReplayedRows, uint64(c.budget)/replayedBytes) {
		c.Unspent.clear() // some of it may be spent by now
		c.Known.disable()
		c.warmed = true
		return nil
	}
	if at.IsOrigin() {
		c.Known.complete = true
	}
	err = d.Store.View(ctx, func(r storage.Reader) error {
		return (&replay{ctx: ctx, c: c, layout: d.Layout, r: r, from: at, to: schema.PkAfter(d.Tip)}).run()
	})
	if err != nil {
		c.clear()
	}
	c.warmed = err == nil
	return err
}

// rowsSince estimates the number of rows that replay reads.
func rowsSince(d Contents, p model.Point) uint64 {
	rows := d.Totals.Rows
	n := rows[schema.FamilyTxHash] + rows[schema.FamilyUtxo] + rows[schema.FamilySpentUtxo] + rows[schema.FamilyAssetID]
	for _, x := range d.Layout.Indexes {
		n += rows[x.Family(schema.IndexValue)]
	}
	if p.IsOrigin() {
		return n
	}
	return n / (uint64(d.Tip.Height) + 1) * uint64(d.Tip.Height-p.Height)
}

// replay adds rows to the caches: those after the block from, before to.
type replay struct {
	ctx    context.Context
	c      *Caches
	layout *schema.Layout
	r      storage.Reader
	from   model.Point
	to     model.UtxoPk

	spent []model.UtxoPk // in the order of the inputs
}

// rows yields the rows of an ordered family.
func (p *replay) rows(f storage.Family) iter.Seq2[storage.KV, error] {
	return p.r.Scan(f, schema.PkAfter(p.from).AppendTo(nil), p.to.AppendTo(nil), false)
}

// scan visits the rows of an ordered family.
func (p *replay) scan(f storage.Family, visit func(pk model.UtxoPk, key, value []byte) error) error {
	n := 0
	for kv, err := range p.rows(f) {
		if n++; err == nil && n%scanBatch == 0 {
			err = p.ctx.Err()
		}
		var pk model.UtxoPk
		if err == nil {
			pk, err = pointerOf(kv)
		}
		if err == nil {
			err = visit(pk, kv.Key, kv.Value)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// pointerOf returns the pointer with which the key of a row begins.
func pointerOf(kv storage.KV) (model.UtxoPk, error) {
	return model.ParseUtxoPk(kv.Key[:min(len(kv.Key), model.PkSize)])
}

func (p *replay) run() error {
	err := p.scan(schema.FamilySpentUtxo, func(_ model.UtxoPk, _, value []byte) error {
		utxo, err := model.ParseUtxoPk(value)
		p.spent = append(p.spent, utxo)
		return err
	})
	if err != nil {
		return err
	}
	slices.Sort(p.spent)
	if p.c.Unspent.used > 0 && len(p.spent) > 0 {
		p.c.Unspent.retain(func(pk uint64) bool { return !p.isSpent(model.UtxoPk(pk)) })
	}
	if err := p.outputs(); err != nil {
		return err
	}
	for _, x := range p.layout.Indexes {
		if err := p.values(x.Number, x.Family(schema.IndexValue)); err != nil {
			return err
		}
	}
	return p.values(schema.AssetSpace, schema.FamilyAssetID)
}

func (p *replay) isSpent(pk model.UtxoPk) bool {
	_, found := slices.BinarySearch(p.spent, pk)
	return found
}

// outputs adds unspent outputs to their table: by the hash of the transaction and the number, or by the value by which
// inputs name them.
func (p *replay) outputs() error {
	c, names := p.c, schema.FamilyTxHash
	if p.layout.SpendIndex != nil {
		names = p.layout.SpendIndex.Family(schema.IndexValue)
	}
	next, stop := iter.Pull2(p.rows(names))
	defer stop()
	var named model.UtxoPk // the output or transaction that name belongs to
	var name Fingerprint
	some := false
	return p.scan(schema.FamilyUtxo, func(pk model.UtxoPk, _, row []byte) error {
		if p.isSpent(pk) {
			return nil
		}
		value, err := schema.ParseUtxoValue(row)
		if err != nil {
			return err
		}
		of := pk
		if p.layout.SpendIndex == nil {
			of = model.UtxoPk(pk.Tx())
		}
		for !some || named < of {
			kv, err, ok := next()
			if !ok || err != nil {
				return err // check finds an output without a name
			}
			if named, err = pointerOf(kv); err != nil {
				return err
			}
			some = true
			if p.layout.SpendIndex != nil {
				name = c.Fingerprints.Value(p.layout.SpendIndex.Number, kv.Value)
				continue
			}
			hash, _, err := schema.ParseTxHashRow(kv.Value)
			if err != nil {
				return err
			}
			name = c.Fingerprints.Outpoints(&hash)
		}
		switch {
		case named != of:
		case p.layout.SpendIndex != nil:
			c.Unspent.Put(name, uint64(pk), value)
		default:
			c.Unspent.Put(name.Output(uint32(pk.Index())), uint64(pk), value)
		}
		return nil
	})
}

// values adds values and their births.
func (p *replay) values(space int, f storage.Family) error {
	c := p.c
	_, _, wide := p.layout.BirthFamilies(space)
	once := space != schema.AssetSpace && p.layout.ByNumber(uint64(space)).Kind == model.OneToOne
	return p.scan(f, func(_ model.UtxoPk, key, value []byte) error {
		birth, err := model.ParseBirthPk(key, wide)
		if err != nil {
			return err
		}
		fp := c.Fingerprints.Value(space, value)
		c.Known.Add(fp)
		if !once {
			c.PutBirth(fp, birth)
		}
		return nil
	})
}

// scanBatch is the number of rows between two checks of the context.
const scanBatch = 4096

// AddIndex adds the values of a new index to the caches. After an error the filter lacks some of them and must not be
// used.
func (c *Caches) AddIndex(ctx context.Context, d Contents, x *schema.Index) error {
	c.snapshotAt = model.Point{}
	if !c.warmed {
		return nil // a sync does it later
	}
	if d.Totals.Rows[x.Family(schema.IndexValue)] > maxReplayedRows {
		c.Known.disable()
		return nil
	}
	err := d.Store.View(ctx, func(r storage.Reader) error {
		return (&replay{ctx: ctx, c: c, layout: d.Layout, r: r, to: schema.PkAfter(d.Tip)}).values(x.Number, x.Family(schema.IndexValue))
	})
	if err != nil {
		c.Known.disable()
	}
	return err
}
