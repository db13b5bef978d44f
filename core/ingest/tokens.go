package ingest

import (
	"errors"
	"fmt"
	"slices"
	"sort"

	"birthmark/core/cache"
	"birthmark/core/ledger"
	"birthmark/core/schema"
	"birthmark/model"
)

// derived is what the rules of the chain derived for a transaction ([model.TokenRules]).
type derived struct {
	outputs  []tokenOutput // outputs with assets, in order
	births   []model.TokenBirth
	supplies []model.TokenSupply

	output [1]tokenOutput // memory of outputs, as long as that suffices
}

// tokenOutput is the assets of the output at a position. Entries of amount 0, which follow, are assets of supplies that
// no input and no output of the transaction has: a rollback and answers find these supplies by them.
type tokenOutput struct {
	at      int
	entries []schema.AssetEntry
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

// count returns the number of outputs with assets.
func (d *derived) count() int {
	if d == nil {
		return 0
	}
	return len(d.outputs)
}

// tokens derives the assets of one batch, a transaction at a time in the order of the chain.
type tokens struct {
	v     *resolver
	rules model.TokenRules
	tx    model.TokenTx
	now   tokenState
	spent []model.TokenAmount // of all inputs of tx
	made  []derived           // unused memory of results, and of their entries and supplies
	room  []schema.AssetEntry

	supplies []model.TokenSupply

	state map[model.AssetBirthPk]storedToken
	names map[string][]byte           // encoded births; nil: none
	meta  [][]byte                    // the rows of the tip and of the totals; nil: not read yet
	met   map[model.AssetBirthPk]bool // in the inputs and outputs of tx

	holders     *schema.Index
	taken, left []spentHeld // all of them, and the rest that heldBy did not return yet
	entry       [1]schema.AssetEntry

	counted counted
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
		state: map[model.AssetBirthPk]storedToken{}, names: map[string][]byte{}, counted: counted{room: v.room},
	}
}

// mayHold reports whether an output may have assets.
func (v *resolver) mayHold(utxo model.UtxoPk) bool {
	if v.Traits.Tokens == nil {
		return true
	}
	if utxo.Tx() < v.held {
		return false
	}
	may, _ := v.cache.AssetTxs.May(utxo)
	return may
}

// spentHeld is the output of a spend, which was in memory.
type spentHeld struct {
	spend int
	cache.Held
}

// takeHeld removes the outputs of earlier batches that the batch spends from memory, and returns them in takenSpends.
func (d *tokens) takeHeld(holders *schema.Index) {
	if d == nil {
		return
	}
	d.holders = holders
	for i, s := range d.v.batch.spends {
		if !d.v.mayHold(s.Utxo) {
			continue
		}
		if h, ok := d.v.cache.Tokens.Spend(s.Utxo, holders); ok {
			d.taken = append(d.taken, spentHeld{i, h})
		}
	}
	d.left = d.taken
}

// takenSpends returns the outputs that takeHeld removed, in the order of spends.
func (d *tokens) takenSpends() []spentHeld {
	if d == nil {
		return nil
	}
	return d.taken
}

// heldBy returns the assets of the output of a spend, if it was or is in memory. It is called for the spends in order.
// The entry is valid until the next call.
func (d *tokens) heldBy(spend int, utxo model.UtxoPk) (o ledger.OutputAssets, ok bool) {
	if d == nil {
		return o, false
	}
	var h cache.Held
	if len(d.left) > 0 && d.left[0].spend == spend {
		h, d.left = d.left[0].Held, d.left[1:]
	} else if h, ok = d.v.cache.Tokens.Spend(utxo, d.holders); !ok {
		return o, false
	}
	d.entry[0] = schema.AssetEntry{Amount: h.Amount, Birth: h.Asset}
	o = ledger.OutputAssets{Entries: d.entry[:], Holder: model.BirthPk{Utxo: h.Holder}, HasHolder: h.HasHolder}
	if d.v.whole != nil { // see holdings
		d.v.stored[utxo] = ledger.OutputAssets{Entries: slices.Clone(o.Entries)}
	}
	return o, true
}

// keepHeld keeps an output with assets in memory.
func (d *tokens) keepHeld(utxo model.UtxoPk, o *ledger.OutputAssets) {
	d.v.cache.AssetTxs.Add(utxo)
	if len(o.Entries) == 1 {
		e := &o.Entries[0]
		d.v.cache.Tokens.Hold(utxo, cache.Held{Asset: e.Birth, Amount: e.Amount, Holder: o.Holder.Utxo, HasHolder: o.HasHolder}, d.holders)
	}
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
	d.tx = model.TokenTx{Tx: t.Tx, Pk: t.pk, Block: t.block, Spent: d.tx.Spent[:0], Memory: d.tx.Memory,
		Held: d.tx.Held[:0], Births: d.tx.Births[:0], Supplies: d.tx.Supplies[:0]}
	for _, s := range d.v.batch.spends[t.spends : t.spends+len(t.Inputs)] {
		d.tx.Spent = append(d.tx.Spent, model.TokenInput{Utxo: s.Utxo, Value: s.Value})
	}
	d.spent = d.spent[:0]
}

// result returns memory for the results of a transaction, with room for numbers of entries and supplies.
func (d *tokens) result(entries, supplies int) (*derived, []schema.AssetEntry) {
	of := &taken(&d.made, 1, 256)[:1][0]
	of.outputs, of.supplies = of.output[:0], taken(&d.supplies, supplies, 256)
	return of, taken(&d.room, entries, 1024)
}

// taken takes the memory of n items, which has no items yet, from unused memory. If there is too little, it allocates
// that of several transactions.
func taken[T any](unused *[]T, n, several int) []T {
	if len(*unused) < n {
		*unused = make([]T, max(n, several))
	}
	memory := (*unused)[:0:n]
	*unused = (*unused)[n:]
	return memory
}

// derive applies the rules to a transaction whose spent assets were added.
func (d *tokens) derive(t *BatchTx) error {
	if d == nil || t.Message == nil && d.tx.Tx != t.Tx && !d.rules.Begins(t.pk) {
		return nil
	}
	d.begin(t)
	d.tx.Most = d.counted.begin(d.v.batch, t)
	d.now = tokenState{d, t.pk}
	err := d.rules.Derive(&d.tx, &d.now)
	entries := len(d.tx.Held)
	if err != nil {
		tooMany := (*model.TooManyEntries)(nil)
		if !errors.As(err, &tooMany) {
			return err
		}
		entries = max(tooMany.Entries, d.tx.Most+1)
	}
	if err := d.counted.add(d.v.batch, entries); err != nil {
		return fmt.Errorf("%s: %w", describe(d.v.Chain, t), err)
	}
	if len(d.tx.Held)+len(d.tx.Births)+len(d.tx.Supplies) == 0 {
		return nil
	}
	of, room := d.result(len(d.tx.Held), len(d.tx.Supplies))
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
	for i := range d.tx.Supplies {
		if s := &d.tx.Supplies[i]; !s.Mints && s.Burned.IsZero() {
			continue
		}
		of.supplies = append(of.supplies, d.tx.Supplies[i])
	}
	for i := range of.supplies {
		s := &of.supplies[i]
		d.v.batch.assets.AddTokenMint(s)
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
		from := len(all) - len(o.entries)
		all = append(all, schema.AssetEntry{Amount: h.Amount, Birth: h.Asset, Minted: t.minted(h.Asset)})
		o.entries = all[from:len(all):len(all)]
	}
	var named []schema.AssetEntry
	if len(of.supplies) > 0 {
		d.meet()
	}
	for _, s := range of.supplies {
		if !d.met[s.Asset] {
			named = append(named, schema.AssetEntry{Birth: s.Asset, Minted: s.Mints})
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

// meet sets d.met.
func (d *tokens) meet() {
	clear(d.met)
	for _, s := range d.spent {
		d.met[s.Asset] = true
	}
	for i := range d.tx.Held {
		d.met[d.tx.Held[i].Asset] = true
	}
}
