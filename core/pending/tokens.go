package pending

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"math/big"
	"slices"

	"birthmark/core/query"
	"birthmark/core/query/pointers"
	"birthmark/core/schema"
	"birthmark/model"
)

// tokens derives the assets of unconfirmed transactions, on a chain with [model.TokenRules]. A transaction has the assets
// that it would have in the next block, after its ancestors only. They do not depend on other unconfirmed transactions, and
// a new block is the only reason to derive them again.
//
// Each transaction gets a position in the next block, in the order of arrival. The maps have rows of the database at one
// tip.
type tokens struct {
	rules  model.TokenRules
	last   int                                 // the last position
	places map[*Tx]model.TxPk                  // of transactions without assets whose outputs are spent
	state  map[model.AssetBirthPk]*model.Token // confirmed assets; nil: unknown
	names  map[string]*model.AssetBirthPk      // of confirmed assets; nil: free
	ids    map[model.AssetBirthPk][]byte
	moved  []*Input // inputs whose outputs are at another place since the last derivation, or in a block
}

// newTokens returns nil if the chain has no rules.
func newTokens(traits *model.Traits) *tokens {
	if traits.Tokens == nil {
		return nil
	}
	d := &tokens{rules: traits.Tokens.Rules}
	d.forget()
	return d
}

// forget empties the maps.
func (d *tokens) forget() {
	if d == nil {
		return
	}
	d.last, d.places = 0, map[*Tx]model.TxPk{}
	d.state, d.names = map[model.AssetBirthPk]*model.Token{}, map[string]*model.AssetBirthPk{}
	d.ids = map[model.AssetBirthPk][]byte{}
}

// move records that an input spends an output whose assets have to be read.
func (d *tokens) move(in *Input) {
	if d != nil {
		d.moved = append(d.moved, in)
	}
}

// derived has the assets of a transaction and the input of the rules.
type derived struct {
	message  any    // [model.Tx.Message]
	output   uint32 // [model.Tx.TokenOutput]
	pk       model.TxPk
	spent    [][]model.TokenAmount // per input
	held     []model.TokenOutput
	births   []model.TokenBirth
	supplies []model.TokenSupply
}

// of returns the assets of the output at a position.
func (d *derived) of(output int) (amounts []model.TokenAmount) {
	if d == nil {
		return nil
	}
	at, _ := slices.BinarySearchFunc(d.held, output, func(h model.TokenOutput, output int) int { return cmp.Compare(h.Output, output) })
	for ; at < len(d.held) && d.held[at].Output == output; at++ {
		amounts = append(amounts, d.held[at].TokenAmount)
	}
	return amounts
}

// input returns the assets of the output that input i spends.
func (d *derived) input(i int) []model.TokenAmount {
	if d == nil {
		return nil
	}
	return d.spent[i]
}

// created returns the assets that a transaction creates.
func (d *derived) created() (list []Created) {
	if d == nil {
		return nil
	}
	for i := range d.births {
		if b := &d.births[i]; len(b.Info) > 0 {
			list = append(list, Created{b.ID, b.Info})
		}
	}
	return list
}

// tokenInput is an output that a transaction spends.
type tokenInput struct {
	pk     model.UtxoPk // of a confirmed output
	parent *Tx          // else the transaction of the overlay
	index  uint32       // of the output in parent
	assets []model.TokenAmount
	value  uint64
	holder []byte // the value of the index of holders; nil: none
}

// A transaction whose derived entries need more than 1/entryShare of the memory is left out. entryMemory is the memory of
// an entry in bytes: in the transaction, and in one that spends its output.
const (
	entryShare  = 16
	entryMemory = 200
)

// place returns the next position.
func (d *tokens) place(q *query.Query) (pk model.TxPk, ok bool) {
	d.last++
	pk, err := q.NewTxPk(q.Tip.Height+1, d.last)
	return pk, err == nil
}

// placeOf returns the position of a transaction of the overlay.
func (d *tokens) placeOf(q *query.Query, t *Tx) (pk model.TxPk, ok bool) {
	if t.tokens != nil {
		return t.tokens.pk, true
	}
	if pk, ok = d.places[t]; !ok {
		if pk, ok = d.place(q); ok {
			d.places[t] = pk
		}
	}
	return pk, ok
}

// derive derives the assets of a transaction; nil if it neither has a message nor spends assets. ok is false if the next
// block has no position for it, or the memory no room.
func (p *Pool) derive(q *query.Query, t *model.Tx, inputs []tokenInput) (result *derived, ok bool, err error) {
	d := p.tokens
	tx := model.TokenTx{Tx: t, Unconfirmed: true, Spent: make([]model.TokenInput, len(inputs))}
	s := tokenState{tokens: d, q: q, tx: &tx, inputs: inputs, pool: p}
	result = &derived{message: t.Message, output: t.TokenOutput, spent: make([][]model.TokenAmount, len(inputs))}
	spends := false
	for i := range inputs {
		in := &inputs[i]
		if in.parent != nil {
			in.assets = in.parent.tokens.of(int(in.index - in.parent.FirstOutput))
		}
		spends = spends || len(in.assets) > 0
	}
	if t.Message == nil && !spends {
		return nil, true, nil
	}
	for i := range inputs {
		in, pk := &inputs[i], inputs[i].pk
		if in.parent != nil {
			at, ok := d.placeOf(q, in.parent)
			if !ok {
				return nil, false, nil
			}
			if pk, err = at.Utxo(int(in.index)); err != nil {
				return nil, false, nil
			}
		}
		result.spent[i] = in.assets
		tx.Spent[i] = model.TokenInput{Utxo: pk, Value: in.value, Assets: slices.Clip(in.assets)}
	}
	if result.pk, ok = d.place(q); !ok {
		return nil, false, nil
	}
	tx.Pk, tx.Most = result.pk, max(1, int(p.limit/entryShare/entryMemory))
	err = d.rules.Derive(&tx, &s)
	if tooMany := (*model.TooManyEntries)(nil); errors.As(err, &tooMany) || err == nil && len(tx.Held) > tx.Most {
		return nil, false, nil
	}
	if err != nil {
		return nil, false, fmt.Errorf("assets of the unconfirmed transaction %s: %w", q.Chain.FormatHash(t.Hash), err)
	}
	result.held, result.births, result.supplies = tx.Held, tx.Births, tx.Supplies
	slices.SortFunc(result.supplies, func(a, b model.TokenSupply) int { return schema.CompareAssetBirths(a.Asset, b.Asset) })
	for i := range tx.Births {
		d.ids[tx.Births[i].Asset] = tx.Births[i].ID
	}
	return result, true, d.readIDs(q, result)
}

// readIDs reads the ids of the assets of transactions.
func (d *tokens) readIDs(q *query.Query, all ...*derived) error {
	var births []model.AssetBirthPk
	for _, one := range all {
		for _, amounts := range one.spent {
			for _, a := range amounts {
				births = append(births, a.Asset)
			}
		}
		for i := range one.held {
			births = append(births, one.held[i].Asset)
		}
		for i := range one.supplies {
			births = append(births, one.supplies[i].Asset)
		}
	}
	return d.readIDsOf(q, births)
}

func (d *tokens) readIDsOf(q *query.Query, births []model.AssetBirthPk) error {
	births = slices.DeleteFunc(births, func(b model.AssetBirthPk) bool { return d.ids[b] != nil })
	if len(births) == 0 {
		return nil
	}
	slices.SortFunc(births, schema.CompareAssetBirths)
	births = slices.Compact(births)
	ids, err := q.Many(schema.FamilyAssetID, schema.Keys(births))
	for i, id := range ids {
		d.ids[births[i]] = bytes.Clone(id)
	}
	return err
}

// assetsOf returns entries whose ids were read.
func (d *tokens) assetsOf(amounts []model.TokenAmount) []Asset {
	assets := make([]Asset, len(amounts))
	for i, a := range amounts {
		assets[i] = Asset{d.ids[a.Asset], a.Amount}
	}
	return assets
}

// sizeOf returns the bytes of entries in [Tx.data], at most.
func (d *tokens) sizeOf(amounts []model.TokenAmount) (n int) {
	for _, a := range amounts {
		n += 1 + len(d.ids[a.Asset]) + (a.Amount.Big().BitLen()+7)/7
	}
	return n
}

// mintsOf returns the mints of a transaction, and its burns as negative amounts.
func (d *tokens) mintsOf(of *derived) (mints []model.Mint) {
	if of == nil {
		return nil
	}
	for i := range of.supplies {
		s := &of.supplies[i]
		if s.Mints {
			mints = append(mints, model.Mint{Asset: d.ids[s.Asset], Amount: s.Minted.Big()})
		}
		if !s.Burned.IsZero() {
			mints = append(mints, model.Mint{Asset: d.ids[s.Asset], Amount: new(big.Int).Neg(s.Burned.Big())})
		}
	}
	return mints
}

// prepare reads the state for messages, and the ids of the assets of outputs.
func (d *tokens) prepare(q *query.Query, messages []any, found []*pointers.Prevout) error {
	if d == nil {
		return nil
	}
	var births []model.AssetBirthPk
	var names [][]byte
	for _, m := range messages {
		if m == nil {
			continue
		}
		assets, named := d.rules.Needs(m)
		births, names = append(births, assets...), append(names, named...)
	}
	more, err := d.readNames(q, names)
	if err != nil {
		return err
	}
	if err := d.readState(q, append(births, more...)); err != nil {
		return err
	}
	births = nil
	for birth, token := range d.state {
		if token != nil {
			births = append(births, birth)
		}
	}
	for _, o := range found {
		if o == nil {
			continue
		}
		for _, a := range o.Tokens {
			births = append(births, a.Asset)
		}
	}
	return d.readIDsOf(q, births)
}

// readNames reads the births of assets with names, and returns the new ones.
func (d *tokens) readNames(q *query.Query, names [][]byte) (births []model.AssetBirthPk, err error) {
	names = slices.DeleteFunc(names, func(name []byte) bool { _, known := d.names[string(name)]; return known })
	if len(names) == 0 {
		return nil, nil
	}
	rows, err := q.R.GetMany(schema.FamilyFingerprint, names)
	for i, row := range rows {
		d.names[string(names[i])] = nil
		if row == nil {
			continue
		}
		birth, err := model.ParseAssetBirthPk(row)
		if err != nil {
			return nil, err
		}
		d.names[string(names[i])] = &birth
		births = append(births, birth)
	}
	return births, err
}

// readState reads the state of confirmed assets.
func (d *tokens) readState(q *query.Query, births []model.AssetBirthPk) error {
	births = slices.DeleteFunc(births, func(b model.AssetBirthPk) bool { _, known := d.state[b]; return known })
	if len(births) == 0 {
		return nil
	}
	keys := schema.Keys(births)
	infos, err := q.R.GetMany(schema.FamilyAssetInfo, keys)
	if err != nil {
		return err
	}
	totals, err := q.R.GetMany(schema.FamilyAssetTotals, keys)
	if err != nil {
		return err
	}
	for i, birth := range births {
		if infos[i] == nil {
			d.state[birth] = nil
			continue
		}
		row, err := schema.ParseAssetTotalsRow(totals[i])
		if err != nil {
			return err
		}
		info, err := d.rules.Parse(bytes.Clone(infos[i]))
		if err != nil {
			return fmt.Errorf("info of the asset born at %v: %w", birth, err)
		}
		d.state[birth] = &model.Token{Info: info, Mints: row.Mints}
	}
	return nil
}

// tokenInputs returns the outputs that a transaction spends, before it enters.
func (p *Pool) tokenInputs(q *query.Query, prevouts []prevout) []tokenInput {
	holders := p.holders(q)
	list := make([]tokenInput, len(prevouts))
	for i := range prevouts {
		o, in := &prevouts[i], &list[i]
		*in = tokenInput{pk: o.pk, parent: o.parent, index: o.Index, assets: o.tokens}
		if o.parent != nil {
			spent, _ := o.parent.OutputAt(o.Index)
			in.value, in.holder = spent.Value, spent.Key(holders)
			continue
		}
		in.value = o.output.Value
		for _, k := range o.output.Keys {
			if k.Index == holders {
				in.holder = k.Value
			}
		}
	}
	return list
}

// holders returns the position of the index of holders; -1 if the database has none.
func (p *Pool) holders(q *query.Query) int {
	if x := q.Holders(); x != nil {
		return slices.Index(p.indexes, x.Name)
	}
	return -1
}
