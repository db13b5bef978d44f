package cache

import (
	"context"
	"errors"
	"iter"
	"log/slog"
	"slices"
	"time"

	"birthmark/core/cache/run"
	"birthmark/core/schema"
	"birthmark/model"
	"birthmark/storage"
)

// maxReplayedRows is the maximum number of rows that a sync reads, in some ten seconds, to complete the caches. Inputs
// among them take memory meanwhile, so it reads at most one row per replayedBytes of the caches. Neither applies to a
// first sync, which reads all rows, in parts: without the births, the rest of it would take far longer. A sync is a
// first sync if its caches were, or if at least 1/firstSyncFraction of the blocks is missing: a row that is looked up
// costs about as much as reading ten.
const (
	maxReplayedRows   = 30_000_000
	replayedBytes     = 8
	firstSyncFraction = 10
)

// Warm restores the caches of a database to their state when it was closed: from the snapshot and from the rows written
// since, or from all rows if there is no snapshot. If that would take too long, the caches start empty, and misses are
// looked up. last is the height of the last block that will be added.
func (c *Caches) Warm(ctx context.Context, d Contents, last model.HeightPk, log *slog.Logger) error {
	if c.warmed {
		return nil
	}
	began := time.Now()
	c.Pin(d.Layout.PkAfter(d.Tip))
	at, err := c.readSnapshot(ctx, d)
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case errors.Is(err, errOrphaned):
		log.Debug("cannot use the snapshot of the caches", "error", err)
	case err != nil && !errors.Is(err, storage.ErrNotFound):
		log.Warn("cannot use the snapshot of the caches", "error", err)
	}
	c.removeUnusedRuns()
	first := c.runs.folder != "" && uint64(last) > uint64(d.Tip.Height)+uint64(d.Tip.Height)/firstSyncFraction
	if c.births == birthsUnknown && first && !at.IsOrigin() { // runs could not be used
		c.clear()
		at = model.Point{}
	}
	first = c.births == birthsComplete || first && at.IsOrigin()
	part := min(maxReplayedRows, uint64(c.budget)/replayedBytes)
	rows := rowsSince(d, at)
	if rows > part && !first {
		log.Info("the caches start empty: misses are looked up in the database", "rows", rows)
		c.clear() // some of the outputs may be spent by now
		c.warmed = true
		return nil
	}
	if at.IsOrigin() {
		c.births = birthsComplete
		c.Pin(d.Layout.PkAfter(d.Tip))
	}
	if rows > part {
		log.Info("restoring the caches", "rows", rows)
	}
	if err := c.replay(ctx, d, at, rows, part); err != nil {
		c.clear()
		c.checkRuns()
		return err
	}
	c.checkRuns()
	c.warmed = true
	level, files := slog.LevelDebug, c.RunStats().Files
	if files > 0 || rows > part {
		level = slog.LevelInfo
	}
	log.Log(ctx, level, "restored the caches", "snapshot", !at.IsOrigin(), "rows", rows, "files", files, "took", time.Since(began))
	return nil
}

// replay adds the rows after a block to the caches, about part of them at once.
func (c *Caches) replay(ctx context.Context, d Contents, at model.Point, rows, part uint64) error {
	return d.Store.View(ctx, func(r storage.Reader) error {
		blocks := uint64(d.Tip.Height - at.Height)     // for the origin one less
		step := max(1, blocks/(4*rows/max(1, part)+1)) // entries that are not spilled yet take memory
		for from, end := d.Layout.PkAfter(at), d.Layout.PkAfter(d.Tip); from < end; {
			to := min(end, model.UtxoPk(d.Layout.FirstPk(model.HeightPk(uint64(from.Height())+step)+1)))
			c.Pin(to)
			if err := (&replay{ctx: ctx, c: c, layout: d.Layout, r: r, from: from, to: to}).run(); err != nil {
				return err
			}
			c.spill() // not earlier: a spill contains the values of all indexes up to a block
			from = to
		}
		return nil
	})
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

// replay adds the rows with from <= pointer < to to the caches.
type replay struct {
	ctx    context.Context
	c      *Caches
	layout *schema.Layout
	r      storage.Reader
	from   model.UtxoPk
	to     model.UtxoPk

	spent []model.UtxoPk // in the order of the inputs
}

// rows yields the rows of an ordered family.
func (p *replay) rows(f storage.Family) iter.Seq2[storage.KV, error] {
	return p.r.Scan(f, p.from.AppendTo(nil), p.to.AppendTo(nil), false)
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
	if err := p.removeSpent(); err != nil {
		return err
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

// removeSpent removes the spent outputs from the tables and runs.
func (p *replay) removeSpent() error {
	if len(p.spent) == 0 {
		return nil
	}
	few := len(p.spent) < int(p.c.outputsInRuns()/entriesPerLookup)
	p.c.each(func(s *shard) {
		s.unspent.retain(func(pk uint64) bool { return !p.isSpent(model.UtxoPk(pk)) })
		if few {
			return
		}
		for _, r := range s.outputRuns {
			for e, err := range r.All() {
				if err != nil {
					s.fail(err)
					break
				}
				if p.isSpent(model.UtxoPk(e.Pk)) {
					r.MarkDead(e.Slot)
				}
			}
		}
	})
	if few {
		if err := p.removeFewSpent(); err != nil {
			return err
		}
	}
	p.c.checkRuns()
	return nil
}

// entriesPerLookup is the number of entries of runs that are read in the time of finding one by its name.
const entriesPerLookup = 100

// removeFewSpent removes the spent outputs from the runs: it finds them by their names.
func (p *replay) removeFewSpent() error {
	names, places := p.names()
	keys := make([][]byte, len(p.spent))
	for i, pk := range p.spent {
		keys[i] = places(pk).AppendTo(nil)
	}
	rows, err := p.r.GetMany(names, keys)
	if err != nil {
		return err
	}
	for i := range p.c.shards {
		p.c.shards[i].missing = p.c.shards[i].missing[:0]
	}
	for i, pk := range p.spent {
		if rows[i] == nil {
			continue // check finds an output without a name
		}
		name, err := p.parseName(rows[i])
		if err != nil {
			return err
		}
		key := p.nameOf(name, pk)
		s := p.c.shardOf(key)
		tag, _ := s.unspent.key(key)
		s.missing = append(s.missing, missing{key: key, tag: tag, at: int32(i)})
	}
	p.c.each(func(s *shard) {
		s.search(s.unspent, s.outputRuns, func(same []missing, q *run.Query, in *overflow) {
			for _, m := range same {
				if q != nil && q.Found && model.UtxoPk(q.Pk) == p.spent[m.at] {
					in.MarkDead(q.Slot)
				}
			}
		})
	})
	return nil
}

// names returns the family with the names of outputs, and a function that returns the pointer of an output's name: the
// transaction, or the output itself if inputs name outputs by a value.
func (p *replay) names() (storage.Family, func(model.UtxoPk) model.UtxoPk) {
	if x := p.layout.SpendIndex; x != nil {
		return x.Family(schema.IndexValue), func(pk model.UtxoPk) model.UtxoPk { return pk }
	}
	return schema.FamilyTxHash, func(pk model.UtxoPk) model.UtxoPk { return model.UtxoPk(pk.Tx()) }
}

// parseName returns the fingerprint of a row of the family with the names.
func (p *replay) parseName(row []byte) (Fingerprint, error) {
	if x := p.layout.SpendIndex; x != nil {
		return p.c.Fingerprints.Value(x.Number, row), nil
	}
	hash, _, err := schema.ParseTxHashRow(row)
	return p.c.Fingerprints.Outpoints(&hash), err
}

// nameOf returns the key of an output in the tables; name is the fingerprint of its row.
func (p *replay) nameOf(name Fingerprint, pk model.UtxoPk) Fingerprint {
	if p.layout.SpendIndex != nil {
		return name
	}
	return name.Output(uint32(pk.Index()))
}

func (p *replay) isSpent(pk model.UtxoPk) bool {
	_, found := slices.BinarySearch(p.spent, pk)
	return found
}

// outputs adds unspent outputs to their table: by the hash of the transaction and the number, or by the value by which
// inputs name them. A spent output removes that of an earlier transaction with the same hash, which it hides (BIP 30).
func (p *replay) outputs() error {
	names, places := p.names()
	next, stop := iter.Pull2(p.rows(names))
	defer stop()
	var named model.UtxoPk // the output or transaction that name belongs to
	var name Fingerprint
	some := false
	return p.scan(schema.FamilyUtxo, func(pk model.UtxoPk, _, row []byte) error {
		value, err := schema.ParseUtxoValue(row)
		if err != nil {
			return err
		}
		of := places(pk)
		for !some || named < of {
			kv, err, ok := next()
			if !ok || err != nil {
				return err // check finds an output without a name
			}
			if named, err = pointerOf(kv); err != nil {
				return err
			}
			some = true
			if name, err = p.parseName(kv.Value); err != nil {
				return err
			}
		}
		switch key := p.nameOf(name, pk); {
		case named != of:
		case p.isSpent(pk):
			p.c.shardOf(key).unspent.take(key, nil)
		default:
			p.c.PutOutput(key, uint64(pk), value)
		}
		return nil
	})
}

// PutOutput adds an unspent output with unknown owners.
func (c *Caches) PutOutput(key Fingerprint, pk, value uint64) {
	c.shardOf(key).unspent.put(key, pk, value, nil)
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
		s := c.shardOf(fp)
		if c.births == birthsFiltered {
			tag, _ := s.births.key(fp)
			s.full = !s.filter.add(tag) || s.full
		}
		if !once || c.births == birthsComplete {
			s.putBirth(fp, birth)
		}
		return nil
	})
}

// scanBatch is the number of rows between two checks of the context.
const scanBatch = 4096

// AddIndex adds the values of a new index to the caches. After an error misses are looked up.
func (c *Caches) AddIndex(ctx context.Context, d Contents, x *schema.Index) error {
	c.snapshotAt = model.Point{}
	if !c.warmed {
		return nil // a sync does it later
	}
	c.leaveBirthRuns() // their values are older than those of the new index
	if c.births != birthsFiltered {
		return nil
	}
	if d.Totals.Rows[x.Family(schema.IndexValue)] > maxReplayedRows {
		c.lookUpBirths()
		return nil
	}
	err := d.Store.View(ctx, func(r storage.Reader) error {
		return (&replay{ctx: ctx, c: c, layout: d.Layout, r: r, to: d.Layout.PkAfter(d.Tip)}).values(x.Number, x.Family(schema.IndexValue))
	})
	if err != nil {
		c.lookUpBirths()
	}
	c.checkRuns()
	return err
}
