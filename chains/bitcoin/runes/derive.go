package runes

import (
	"bytes"
	"cmp"
	"fmt"
	"slices"

	"birthmark/model"
)

// commitConfirmations is the number of blocks from that with the committed output to that with the etching, both
// included.
const commitConfirmations = 6

// taprootAddress is the first byte of the stored address of a taproot output, and its size in bytes: the version of the
// witness program, and the program (BIP 341).
const (
	taprootVersion = 1
	taprootSize    = 33
)

// Derive implements [model.TokenRules].
func (r *Rules) Derive(t *model.TokenTx, s model.TokenState) error {
	if r.Begins(t.Pk) {
		t.Births = append(t.Births, birthOf(t.Pk, &uncommonGoods))
	}
	m, _ := t.Message.(*Message)
	if t.Pk.Height() < r.first {
		m = nil // no runes exist but the one from the beginning, which nobody can hold
	}
	d, ok := t.Memory.(*derivation)
	if !ok {
		d = new(derivation)
		t.Memory = d
	}
	*d = derivation{Rules: r, TokenTx: t, state: s, message: m, balances: d.balances[:0]}
	if err := d.collect(); err != nil {
		return err
	}
	if m != nil {
		if err := d.apply(); err != nil {
			return err
		}
	}
	d.rest()
	if d.full {
		return &model.TooManyEntries{Entries: len(d.Held) + len(d.balances)*len(d.Outputs)}
	}
	return d.finish()
}

// unconfirmedIndex is the index in the birth of a rune that has no id yet. The births of ids have 0.
const unconfirmedIndex = 1

func birthOf(pk model.TxPk, e *Entry) model.TokenBirth {
	id := IDOf(pk)
	asset, _ := id.Asset()
	text, _ := id.AssetID()
	return model.TokenBirth{Asset: asset, ID: text, Name: e.Name.Bytes(), Info: e.Info()}
}

// derivation is the state while the runes of one transaction are derived.
type derivation struct {
	*Rules
	*model.TokenTx
	state   model.TokenState
	message *Message // nil: none

	balances     []balance // in the order of assets
	created      *model.AssetBirthPk
	destinations []uint32 // outputs that are not OP_RETURN; nil: not yet known
	full         bool     // Held has more than Most entries
}

// balance is an amount of a rune that belongs to the transaction.
type balance struct {
	asset   model.AssetBirthPk
	left    model.Uint128 // not yet moved to an output
	each    model.Uint128 // moved to each destination, in addition to entries of Held
	burned  model.Uint128
	minted  model.Uint128
	minting bool
}

// errOverflow is the error of stored amounts whose sum exceeds 128 bits. No message causes it: the supply of a rune
// has at most 128 bits.
func errOverflow(asset model.AssetBirthPk) error {
	return fmt.Errorf("amounts of rune %s exceed 128 bits", IDOf(asset.Utxo.Tx()))
}

// collect sets the balances to the runes of all inputs.
func (d *derivation) collect() error {
	n := 0
	for i := range d.Spent {
		n += len(d.Spent[i].Assets)
	}
	if n == 0 {
		return nil
	}
	d.balances = slices.Grow(d.balances, n+1) // a mint or an etching adds one
	for i := range d.Spent {
		for _, a := range d.Spent[i].Assets {
			d.balances = append(d.balances, balance{asset: a.Asset, left: a.Amount})
		}
	}
	slices.SortFunc(d.balances, func(a, b balance) int { return compareAssets(a.asset, b.asset) })
	kept := d.balances[:1]
	for _, b := range d.balances[1:] {
		last := &kept[len(kept)-1]
		if last.asset != b.asset {
			kept = append(kept, b)
			continue
		}
		var ok bool
		if last.left, ok = last.left.Add(b.left); !ok {
			return errOverflow(b.asset)
		}
	}
	d.balances = kept
	return nil
}

func compareAssets(a, b model.AssetBirthPk) int {
	return cmp.Or(cmp.Compare(a.Utxo, b.Utxo), cmp.Compare(a.Index, b.Index))
}

// find returns the position of an asset in the balances.
func (d *derivation) find(asset model.AssetBirthPk) (int, bool) {
	return slices.BinarySearchFunc(d.balances, asset, func(b balance, asset model.AssetBirthPk) int {
		return compareAssets(b.asset, asset)
	})
}

// mintTo adds an amount that did not exist before.
func (d *derivation) mintTo(asset model.AssetBirthPk, amount model.Uint128) error {
	i, found := d.find(asset)
	if !found {
		d.balances = slices.Insert(d.balances, i, balance{asset: asset})
	}
	b := &d.balances[i]
	var ok bool
	if b.left, ok = b.left.Add(amount); !ok {
		return errOverflow(asset)
	}
	b.minting, b.minted = true, amount
	return nil
}

// apply executes the message: mint, etching, edicts.
func (d *derivation) apply() error {
	if d.message.Mint.OK {
		if err := d.mint(d.message.Mint.Value); err != nil {
			return err
		}
	}
	if d.message.Etching != nil {
		if err := d.etch(d.message.Etching); err != nil {
			return err
		}
	}
	for i := range d.message.Edicts {
		d.move(&d.message.Edicts[i])
	}
	return nil
}

func (d *derivation) mint(id ID) error {
	asset, ok := id.Asset()
	if !ok {
		return nil
	}
	token, err := d.state.Token(asset)
	if err != nil || token == nil {
		return err
	}
	e := token.Info.(*Entry)
	amount, ok := e.Mintable(id.Block, uint64(d.Pk.Height()), e.Mints(token.Mints))
	if !ok {
		return nil
	}
	return d.mintTo(asset, amount)
}

// etch creates a rune if its name is valid.
func (d *derivation) etch(e *Etching) error {
	name := e.Name.Value
	if !e.Name.OK {
		name = ReservedFor(IDOf(d.Pk))
	} else if ok, err := d.available(name); !ok || err != nil {
		return err
	}
	count, err := d.state.Count()
	if err != nil {
		return err
	}
	entry := Entry{Number: count + uint64(len(d.Births)), Name: name, Cenotaph: true}
	if d.message.Flaw == NoFlaw {
		entry.Spacers, entry.Symbol, entry.Divisibility, entry.Turbo = e.Spacers, e.Symbol, e.Divisibility, e.Turbo
		entry.Premine, entry.Terms, entry.Cenotaph = e.Premine, e.Terms, false
	}
	birth := birthOf(d.Pk, &entry)
	if d.Unconfirmed {
		birth.Asset.Index, birth.ID = unconfirmedIndex, bytes.Clone(d.Hash[:])
	}
	d.Births = append(d.Births, birth)
	d.created = &birth.Asset
	if entry.Premine.IsZero() {
		return nil
	}
	return d.mintTo(birth.Asset, entry.Premine)
}

// available reports whether the transaction can choose a name.
func (d *derivation) available(name Name) (bool, error) {
	if name.IsReserved() || name.Compare(d.Minimum(d.Pk.Height())) < 0 {
		return false, nil
	}
	if ok, err := d.committed(); !ok || err != nil {
		return false, err
	}
	_, used, err := d.state.Named(name.Bytes())
	return !used, err
}

// committed reports whether an input that contains the commitment spends a taproot output with enough confirmations.
func (d *derivation) committed() (bool, error) {
	for _, i := range d.message.Commits {
		if int(i) >= len(d.Spent) { // that of a coinbase, which spends nothing
			continue
		}
		in := &d.Spent[i]
		if in.Utxo.Height()+commitConfirmations-1 > d.Pk.Height() {
			continue
		}
		address, err := d.state.Value(in.Utxo)
		if err != nil {
			return false, err
		}
		if len(address) == taprootSize && address[0] == taprootVersion {
			return true, nil
		}
	}
	return false, nil
}

// move executes an edict.
func (d *derivation) move(e *Edict) {
	asset, ok := e.ID.Asset()
	if e.ID == (ID{}) {
		if d.created == nil {
			return
		}
		asset, ok = *d.created, true
	}
	if !ok {
		return
	}
	i, found := d.find(asset)
	if !found || d.balances[i].left.IsZero() {
		return
	}
	b := &d.balances[i]
	switch {
	case int(e.Output) == len(d.Outputs):
		d.moveToAll(b, e.Amount)
	case e.Amount.IsZero():
		d.give(b, b.left, e.Output)
	default:
		d.give(b, least(e.Amount, b.left), e.Output)
	}
}

func least(a, b model.Uint128) model.Uint128 {
	if a.Cmp(b) < 0 {
		return a
	}
	return b
}

// give moves an amount to an output: at most b.left.
func (d *derivation) give(b *balance, amount model.Uint128, output uint32) {
	if amount.IsZero() {
		return
	}
	b.left, _ = b.left.Sub(amount)
	if _, burns := d.returns(output); burns {
		b.burned, _ = b.burned.Add(amount)
		return
	}
	d.hold(output, b.asset, amount)
}

// hold adds an entry, unless there are too many.
func (d *derivation) hold(output uint32, asset model.AssetBirthPk, amount model.Uint128) {
	if d.full = d.full || d.Most > 0 && len(d.Held) >= d.Most; d.full {
		return
	}
	d.Held = append(d.Held, model.TokenOutput{Output: int(output), TokenAmount: model.TokenAmount{Asset: asset, Amount: amount}})
}

func (d *derivation) returns(output uint32) (int, bool) {
	return slices.BinarySearch(d.message.Returns, output)
}

// moveToAll moves an amount to each destination, as long as there is enough; 0: all that is left, in equal parts. What
// all destinations get is added up in balance.each, so that many edicts with many outputs do not take their product in
// time.
func (d *derivation) moveToAll(b *balance, amount model.Uint128) {
	if d.destinations == nil {
		d.destinations = d.findDestinations()
	}
	count := uint64(len(d.destinations))
	if count == 0 {
		return
	}
	more := uint64(0) // destinations that get one more
	if amount.IsZero() {
		amount, more = b.left.DivMod(count)
	}
	if total, ok := amount.Mul(model.Uint128Of(count)); ok && total.Cmp(b.left) <= 0 {
		b.left, _ = b.left.Sub(total)
		b.each, _ = b.each.Add(amount)
		amount = model.Uint128Of(1)
	} else {
		more = count
	}
	for _, output := range d.destinations[:more] {
		if b.left.IsZero() || d.full {
			break
		}
		d.give(b, least(amount, b.left), output)
	}
}

// findDestinations returns the outputs that are not OP_RETURN.
func (d *derivation) findDestinations() []uint32 {
	list := make([]uint32, 0, len(d.Outputs)-len(d.message.Returns))
	returns := d.message.Returns
	for i := range uint32(len(d.Outputs)) {
		if len(returns) > 0 && returns[0] == i {
			returns = returns[1:]
			continue
		}
		list = append(list, i)
	}
	return list
}

// rest moves what no edict moved.
func (d *derivation) rest() {
	output, burns := d.TokenOutput, int(d.TokenOutput) >= len(d.Outputs)
	if m := d.message; m != nil {
		if m.Pointer.OK {
			output, burns = m.Pointer.Value, false
		}
		burns = burns || m.Flaw != NoFlaw
		if !burns {
			_, burns = d.returns(output)
		}
	}
	for i := range d.balances {
		b := &d.balances[i]
		for _, to := range d.destinations {
			if b.each.IsZero() || d.full {
				break
			}
			d.hold(to, b.asset, b.each)
		}
		switch {
		case b.left.IsZero():
		case burns:
			b.burned, _ = b.burned.Add(b.left)
		default:
			d.hold(output, b.asset, b.left)
		}
	}
}

// finish orders and adds up what outputs hold, and reports the changes of supplies.
func (d *derivation) finish() error {
	for i := range d.balances {
		if b := &d.balances[i]; b.minting || !b.burned.IsZero() {
			d.Supplies = append(d.Supplies, model.TokenSupply{Asset: b.asset, Mints: b.minting, Minted: b.minted,
				Burned: b.burned})
		}
	}
	if len(d.Held) < 2 {
		return nil
	}
	slices.SortFunc(d.Held, func(a, b model.TokenOutput) int {
		return cmp.Or(cmp.Compare(a.Output, b.Output), compareAssets(a.Asset, b.Asset))
	})
	kept := d.Held[:1]
	for _, h := range d.Held[1:] {
		last := &kept[len(kept)-1]
		if last.Output != h.Output || last.Asset != h.Asset {
			kept = append(kept, h)
			continue
		}
		var ok bool
		if last.Amount, ok = last.Amount.Add(h.Amount); !ok {
			return errOverflow(h.Asset)
		}
	}
	d.Held = kept
	return nil
}
