package ingest

import (
	"fmt"
	"slices"
	"sort"

	"birthmark/core/ledger"
	"birthmark/core/schema"
	"birthmark/model"
	"birthmark/storage"
)

// derived is what the rules of the chain derived for a transaction ([model.TokenRules]).
type derived struct {
	outputs  []tokenOutput // outputs with assets, in order
	births   []model.TokenBirth
	supplies []tokenSupply
}

// tokenOutput is the assets of the output at a position. Entries of amount 0, which follow, are assets of supplies that
// no input and no output of the transaction has: a rollback and answers find these supplies by them.
type tokenOutput struct {
	at      int
	entries []schema.AssetEntry
}

type tokenSupply struct {
	birth model.AssetBirthPk
	schema.Supply
}

// entries returns the entries of the output at a position.
func (d *derived) entries(at int) []schema.AssetEntry {
	if d == nil {
		return nil
	}
	i := sort.Search(len(d.outputs), func(i int) bool { return d.outputs[i].at >= at })
	if i == len(d.outputs) || d.outputs[i].at != at {
		return nil
	}
	return d.outputs[i].entries
}

// tokens derives the assets of one batch, a transaction at a time in the order of the chain.
type tokens struct {
	v     *resolver
	rules model.TokenRules
	tx    model.TokenTx
	spent []model.TokenAmount // of all inputs of tx
	made  []derived           // unused memory of results, and of their entries
	room  []schema.AssetEntry
	state map[model.AssetBirthPk]storedToken
	names map[string][]byte           // encoded births; nil: none
	meta  [][]byte                    // the rows of the tip and of the totals; nil: not read yet
	met   map[model.AssetBirthPk]bool // in the inputs and outputs of tx
}

// storedToken is the rows of an asset; nil if there are none.
type storedToken struct{ info, totals []byte }

// newTokens returns nil if the chain has no rules.
func (v *resolver) newTokens() *tokens {
	if v.Traits.Tokens == nil {
		return nil
	}
	for i := 0; i < len(v.batch.Txs); {
		h, n := v.batch.Txs[i].pk.Height(), i
		for n < len(v.batch.Txs) && v.batch.Txs[n].pk.Height() == h {
			n++
		}
		v.cache.AssetTxs.Begin(h, v.batch.Txs[n-1].pk.TxIndex()+1)
		i = n
	}
	return &tokens{
		v: v, rules: v.Traits.Tokens.Rules, met: map[model.AssetBirthPk]bool{},
		state: map[model.AssetBirthPk]storedToken{}, names: map[string][]byte{},
	}
}

// reads returns the reads of what the messages of the batch need, and a function that stores the results.
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

// mayHold reports whether an output may have assets.
func (v *resolver) mayHold(utxo model.UtxoPk) bool {
	if v.Traits.Tokens == nil {
		return true
	}
	may, _ := v.cache.AssetTxs.May(utxo.Tx())
	return may
}

// spend adds the assets of an output that the next transaction spends.
func (d *tokens) spend(t *BatchTx, input int, entries []schema.AssetEntry) {
	if d == nil || len(entries) == 0 {
		return
	}
	d.begin(t)
	from := len(d.spent)
	for _, e := range entries {
		d.spent = append(d.spent, model.TokenAmount{Asset: e.Birth, Amount: e.Amount})
	}
	d.tx.Spent[input].Assets = d.spent[from:len(d.spent):len(d.spent)]
}

// begin prepares d.tx for a transaction, unless it did.
func (d *tokens) begin(t *BatchTx) {
	if d.tx.Tx == t.Tx {
		return
	}
	d.tx = model.TokenTx{Tx: t.Tx, Pk: t.pk, Block: t.block, Spent: d.tx.Spent[:0],
		Held: d.tx.Held[:0], Births: d.tx.Births[:0], Supplies: d.tx.Supplies[:0]}
	for _, s := range d.v.batch.spends[t.spends : t.spends+len(t.Inputs)] {
		d.tx.Spent = append(d.tx.Spent, model.TokenInput{Utxo: s.Utxo, Value: s.Value})
	}
	d.spent = d.spent[:0]
}

// result returns memory for what is derived for a transaction, with room for n entries.
func (d *tokens) result(n int) (*derived, []schema.AssetEntry) {
	if len(d.made) == 0 {
		d.made = make([]derived, 256)
	}
	if len(d.room) < n {
		d.room = make([]schema.AssetEntry, max(n, 1024))
	}
	of, room := &d.made[0], d.room[:0:n]
	d.made, d.room = d.made[1:], d.room[n:]
	return of, room
}

// derive applies the rules to a transaction whose spent assets were added.
func (d *tokens) derive(t *BatchTx) error {
	if d == nil || t.Message == nil && d.tx.Tx != t.Tx && !d.rules.Begins(t.pk) {
		return nil
	}
	d.begin(t)
	if err := d.rules.Derive(&d.tx, tokenState{d, t.pk}); err != nil {
		return err
	}
	if len(d.tx.Held)+len(d.tx.Births)+len(d.tx.Supplies) == 0 {
		return nil
	}
	of, room := d.result(len(d.tx.Held))
	t.derived = of
	if len(d.tx.Births) > 0 {
		of.births = slices.Clone(d.tx.Births)
	}
	c := &d.v.cache.Tokens
	for i := range d.tx.Births {
		b := &d.tx.Births[i]
		if b.Asset.Utxo.Tx() != t.pk {
			return fmt.Errorf("%s: the birth %v of an asset is in another transaction", describe(d.v.Chain, t), b.Asset)
		}
		info, err := d.rules.Parse(b.Info)
		if err != nil {
			return err
		}
		n, err := d.count()
		if err != nil {
			return err
		}
		c.Put(b.Asset, &model.Token{Info: info})
		c.SetCount(n + 1)
		d.v.batch.assets.AddBirth(b.Asset, 1)
	}
	clear(d.met)
	for _, s := range d.spent {
		d.met[s.Asset] = true
	}
	for i := range d.tx.Supplies {
		s := &d.tx.Supplies[i]
		if !s.Mints && s.Burned.IsZero() {
			continue
		}
		supply := tokenSupply{s.Asset, schema.SupplyOfToken(s)}
		t.derived.supplies = append(t.derived.supplies, supply)
		d.v.batch.assets.AddMint(s.Asset, supply.Supply, 1)
		if token := c.State(s.Asset); s.Mints && token != nil {
			token.Mints++
		}
	}
	return d.hold(t, room)
}

// hold sets the assets of the outputs. all is empty and has room for them.
func (d *tokens) hold(t *BatchTx, all []schema.AssetEntry) error {
	of := t.derived
	for i := range d.tx.Held {
		h := &d.tx.Held[i]
		if n := len(of.outputs); n == 0 || of.outputs[n-1].at != h.Output {
			if h.Output >= len(t.Outputs) || n > 0 && of.outputs[n-1].at > h.Output {
				return fmt.Errorf("%s: asset of output %d out of order", describe(d.v.Chain, t), h.Output)
			}
			of.outputs = append(of.outputs, tokenOutput{at: h.Output})
		}
		o := &of.outputs[len(of.outputs)-1]
		if _, err := model.NewOrdinal(len(o.entries)); err != nil {
			return BadBlock(err)
		}
		from := len(all) - len(o.entries)
		all = append(all, schema.AssetEntry{Amount: h.Amount, Birth: h.Asset, Minted: t.minted(h.Asset)})
		o.entries = all[from:len(all):len(all)]
		d.met[h.Asset] = true
	}
	if len(of.outputs) > 0 {
		d.v.cache.AssetTxs.Add(t.pk)
	}
	var named []schema.AssetEntry
	for _, s := range of.supplies {
		if !d.met[s.birth] {
			named = append(named, schema.AssetEntry{Birth: s.birth, Minted: s.Mints})
		}
	}
	if len(named) > 0 {
		if len(of.outputs) == 0 || of.outputs[0].at > 0 {
			of.outputs = slices.Insert(of.outputs, 0, tokenOutput{})
		}
		of.outputs[0].entries = slices.Concat(of.outputs[0].entries, named)
	}
	return nil
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
			if p := &t.derived.supplies[i]; p.birth == birth && p.Mints {
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
	if !s.v.replay {
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
	x := s.v.Holders()
	if x == nil {
		return nil, nil
	}
	if batch := s.v.pendingWith(utxo); batch != nil {
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
	output, err := s.v.ParseUtxoRow(utxo, row)
	if err != nil {
		return nil, err
	}
	var h ledger.OutputAssets
	if h.SetHolder(x, output.Occurrences); !h.HasHolder {
		return nil, nil
	}
	return s.v.r.Get(x.Family(schema.IndexValue), h.Holder.AppendTo(nil, false))
}
