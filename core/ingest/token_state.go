package ingest

import (
	"fmt"

	"birthmark/core/ledger"
	"birthmark/core/schema"
	"birthmark/model"
	"birthmark/storage"
)

// reads returns the reads for the messages of the batch, and a function that stores the results.
func (d *tokens) reads() (reads []*storage.Read, use func() error) {
	if d == nil {
		return nil, func() error { return nil }
	}
	var births []model.AssetBirthPk
	var names [][]byte
	for i := range d.v.batch.Txs {
		t := &d.v.batch.Txs[i]
		if t.Message == nil {
			continue
		}
		assets, named := d.rules.Needs(t.Message)
		for _, birth := range assets {
			if _, known := d.state[birth]; !known && d.v.cache.Tokens.State(birth) == nil {
				d.state[birth] = storedToken{}
				births = append(births, birth)
			}
		}
		for _, name := range named {
			if _, known := d.names[string(name)]; !known {
				d.names[string(name)] = nil
				names = append(names, name)
			}
		}
	}
	states := stateReads(births)
	named := &storage.Read{Family: schema.FamilyFingerprint, Keys: names}
	meta := &storage.Read{Family: schema.FamilyMeta}
	if len(births)+len(names) > 0 {
		meta.Keys = metaKeys
	}
	return append(states, named, meta), func() error {
		d.meta = meta.Values
		d.setStates(births, states)
		var more []model.AssetBirthPk
		for i, name := range names {
			d.names[string(name)] = named.Values[i]
			if named.Values[i] == nil {
				continue
			}
			birth, err := model.ParseAssetBirthPk(named.Values[i])
			if err != nil {
				return err
			}
			if _, read := d.state[birth]; !read && d.v.cache.Tokens.State(birth) == nil {
				more = append(more, birth)
			}
		}
		states := stateReads(more)
		err := storage.ReadTogether(d.v.r, states...)
		if err == nil {
			d.setStates(more, states)
		}
		return err
	}
}

// stateReads returns the reads of the rows of assets, for setStates.
func stateReads(births []model.AssetBirthPk) []*storage.Read {
	keys := schema.Keys(births)
	return []*storage.Read{{Family: schema.FamilyAssetInfo, Keys: keys}, {Family: schema.FamilyAssetTotals, Keys: keys}}
}

func (d *tokens) setStates(births []model.AssetBirthPk, reads []*storage.Read) {
	for i, birth := range births {
		d.state[birth] = storedToken{reads[0].Values[i], reads[1].Values[i]}
	}
}

// stored returns the rows of an asset.
func (d *tokens) stored(birth model.AssetBirthPk) (storedToken, error) {
	if s, read := d.state[birth]; read {
		return s, nil
	}
	reads := stateReads([]model.AssetBirthPk{birth})
	if err := storage.ReadTogether(d.v.r, reads...); err != nil {
		return storedToken{}, err
	}
	return storedToken{reads[0].Values[0], reads[1].Values[0]}, nil
}

// count returns the number of assets that were born before the current transaction.
func (d *tokens) count() (uint64, error) {
	c := &d.v.cache.Tokens
	if n, known := c.Count(); known {
		return n, nil
	}
	n, first := uint64(0), d.v.batch.Txs[0].pk
	if d.v.replay {
		for _, err := range d.v.r.Scan(schema.FamilyAssetID, nil, first.AppendTo(nil), false) {
			if err != nil {
				return 0, err
			}
			n++
		}
	} else {
		var err error
		if first, err = d.committed(); err == nil && d.meta[1] != nil {
			var t schema.Totals
			t, err = schema.ParseTotals(d.meta[1])
			n = t.Rows[schema.FamilyAssetID]
		}
		if err != nil {
			return 0, err
		}
	}
	for t := range d.uncommitted(first) {
		n += uint64(len(t.derived.births))
	}
	c.SetCount(n)
	return n, nil
}

// committed returns the first transaction that v.r does not have. A batch that is committed meanwhile is still in
// v.batches.
func (d *tokens) committed() (model.TxPk, error) {
	if d.v.replay {
		return d.v.batch.Txs[0].pk, nil
	}
	if d.meta == nil {
		var err error
		if d.meta, err = d.v.r.GetMany(schema.FamilyMeta, metaKeys); err != nil {
			return 0, err
		}
	}
	if d.meta[0] == nil {
		return 0, nil
	}
	tip, err := schema.ParseTip(d.meta[0])
	return d.v.FirstPk(tip.Height + 1), err
}

var metaKeys = [][]byte{schema.MetaTip, schema.MetaTotals}

// uncommitted yields the transactions from first up to the current one that have derived assets.
func (d *tokens) uncommitted(first model.TxPk) func(yield func(*BatchTx) bool) {
	return func(yield func(*BatchTx) bool) {
		for _, batch := range d.v.batches {
			for i := range batch.Txs {
				t := &batch.Txs[i]
				if t.pk >= d.tx.Pk {
					return
				}
				if t.derived != nil && t.pk >= first && !yield(t) {
					return
				}
			}
		}
	}
}

// tokenState is the state before the transaction at pk. It implements [model.TokenState].
type tokenState struct {
	*tokens
	pk model.TxPk
}

func (s tokenState) Count() (uint64, error) { return s.count() }

func (s tokenState) Token(birth model.AssetBirthPk) (*model.Token, error) {
	if birth.Utxo.Tx() >= s.pk {
		return nil, nil
	}
	c := &s.v.cache.Tokens
	if t := c.State(birth); t != nil {
		return t, nil
	}
	stored, err := s.stored(birth)
	if err != nil {
		return nil, err
	}
	info, token := stored.info, &model.Token{}
	if info != nil {
		if token.Mints, err = s.mints(birth, stored.totals); err != nil {
			return nil, err
		}
	}
	first, err := s.committed()
	if err != nil {
		return nil, err
	}
	for t := range s.uncommitted(first) {
		for i := range t.derived.births {
			if b := &t.derived.births[i]; b.Asset == birth {
				info = b.Info
			}
		}
		for i := range t.derived.supplies {
			if p := &t.derived.supplies[i]; p.Asset == birth && p.Mints {
				token.Mints++
			}
		}
	}
	if info == nil {
		return nil, nil
	}
	if token.Info, err = s.rules.Parse(info); err != nil {
		return nil, fmt.Errorf("info of the asset born at %v: %w", birth, err)
	}
	c.Put(birth, token)
	return token, nil
}

// mints returns the number of transactions in the database that minted an asset.
func (s tokenState) mints(birth model.AssetBirthPk, totals []byte) (n uint64, err error) {
	if !s.v.replay || s.v.whole != nil {
		t, err := schema.ParseAssetTotalsRow(totals)
		return t.Mints, err
	}
	key := birth.AppendTo(nil)
	// The database has later blocks too.
	to := schema.AppendSupplyKey(nil, birth, s.v.batch.Txs[0].pk)
	for row, err := range schema.Rows(s.v.r, schema.FamilyAssetSupply, key, to, false, schema.ParseSupplyRow) {
		if err != nil {
			return 0, err
		}
		if row.Mints {
			n++
		}
	}
	return n, nil
}

func (s tokenState) Named(name []byte) (birth model.AssetBirthPk, ok bool, err error) {
	row, read := s.names[string(name)]
	if !read {
		rows, err := s.v.r.GetMany(schema.FamilyFingerprint, [][]byte{name})
		if err != nil {
			return birth, false, err
		}
		row = rows[0]
	}
	if row != nil {
		if birth, err = model.ParseAssetBirthPk(row); err != nil || birth.Utxo.Tx() < s.pk {
			return birth, err == nil, err
		}
	}
	for t := range s.uncommitted(0) {
		for i := range t.derived.births {
			if b := &t.derived.births[i]; string(b.Name) == string(name) {
				return b.Asset, true, nil
			}
		}
	}
	return birth, false, nil
}

// Value returns the value of the holders' index in an output.
func (s tokenState) Value(utxo model.UtxoPk) ([]byte, error) {
	l := s.v.Layout
	if s.v.whole != nil {
		l = s.v.whole
	}
	x := l.Holders()
	if x == nil {
		return nil, nil
	}
	if batch := s.v.pendingWith(utxo); batch != nil && s.v.whole == nil {
		t := batch.tx(utxo.Tx())
		for _, k := range t.Outputs[utxo.Index()-int(t.FirstOutput)].Keys {
			if s.v.Indexes[k.Index] == x {
				return k.Value, nil
			}
		}
		return nil, nil
	}
	row, err := s.v.r.Get(schema.FamilyUtxo, utxo.AppendTo(nil))
	if err != nil {
		return nil, err
	}
	output, err := l.ParseUtxoRow(utxo, row)
	if err != nil {
		return nil, err
	}
	var h ledger.OutputAssets
	if h.SetHolder(x, output.Occurrences); !h.HasHolder {
		return nil, nil
	}
	return s.v.r.Get(x.Family(schema.IndexValue), h.Holder.AppendTo(nil, false))
}
