package onesat

import (
	"cmp"
	"encoding/json"
	"slices"

	"birthmark/model"
)

// OrdinalsFrom is the height of the main network from which on outputs of one satoshi are ordinals.
const OrdinalsFrom = 783_968

// Message is the part of the scripts of a transaction that the rules use.
type Message struct {
	Tokens []OutputOp // in the order of outputs
}

// OutputOp is the operation of an output.
type OutputOp struct {
	Output int
	*TokenOp
}

// MessageOf returns the message of a transaction with n outputs: nil if none has one satoshi or an operation of BSV-21,
// for the assets that the rules derive. The result is nil or a *Message.
func (r Rules) MessageOf(n int, output func(i int) (value uint64, script []byte)) any {
	var m *Message
	for i := range n {
		value, script := output(i)
		var op *TokenOp
		if !r.NoTokens {
			op = ReadToken(ReadInscription(script))
		}
		if m == nil && (value == 1 && !r.NoOrdinals || op != nil) {
			m = &Message{}
		}
		if op != nil {
			m.Tokens = append(m.Tokens, OutputOp{i, op})
		}
	}
	if m == nil {
		return nil
	}
	return m
}

// Rules implements [model.TokenRules]. Its messages are those of [Rules.MessageOf].
//
// The outputs of a transaction with a BSV-21 token are valid if the inputs hold at least the sum of their amounts.
// Otherwise none of them is. If an input has the authority to mint the token, the amounts of the operation mint count as
// held. The rest of the inputs is burned, and so is the amount of the operation burn. Deployments are always valid.
//
// An output of one satoshi holds the satoshi at its place in the order of the satoshis of all inputs. If an input had
// this satoshi alone, it is the same ordinal; otherwise it is a new one. An ordinal that no such output holds is burned.
// Satoshis that the inputs do not have, of a coinbase, are no ordinals.
type Rules struct {
	// From is the height from which on there are ordinals; see [OrdinalsFrom].
	From model.HeightPk
	// NoTokens: BSV-21 is not derived. NoOrdinals: ordinals are not.
	NoTokens, NoOrdinals bool
}

// NextHeight returns the first height from h on at which a block can have assets. A backfill skips the blocks before it.
func (r Rules) NextHeight(h model.HeightPk) model.HeightPk {
	if !r.NoTokens {
		return h
	}
	return max(h, r.From)
}

// Begins implements [model.TokenRules].
func (Rules) Begins(model.TxPk) bool { return false }

// Needs implements [model.TokenRules]: the tokens that a message names.
func (Rules) Needs(message any) (assets []model.AssetBirthPk, names [][]byte) {
	m, ok := message.(*Message)
	if !ok {
		return nil, nil
	}
	order, _ := m.operations()
	for i := range order {
		names = append(names, order[i][:])
	}
	return nil, names
}

// operations returns the tokens that a message names, in the order of outputs, and the operations of each. They are no
// deployments.
func (m *Message) operations() (order []Outpoint, of map[Outpoint][]OutputOp) {
	for _, t := range m.Tokens {
		if t.isDeployment() {
			continue
		}
		if of == nil {
			of = map[Outpoint][]OutputOp{}
		}
		if of[t.Of] == nil {
			order = append(order, t.Of)
		}
		of[t.Of] = append(of[t.Of], t)
	}
	return order, of
}

// Parse implements [model.TokenRules]. The result is a [Token].
func (Rules) Parse(info []byte) (any, error) {
	var t Token
	if len(info) == 0 {
		return t, nil
	}
	err := json.Unmarshal(info, &t)
	return t, err
}

func (t *TokenOp) isDeployment() bool { return t.Op == DeployMint || t.Op == DeployAuth }

// Derive implements [model.TokenRules].
func (r Rules) Derive(t *model.TokenTx, s model.TokenState) error {
	d := &derivation{r, t, map[model.AssetBirthPk]*flow{}}
	for _, in := range t.Spent {
		for _, a := range in.Assets {
			f := d.flow(a.Asset)
			f.in, _ = f.in.Add(a.Amount)
		}
	}
	if m, ok := t.Message.(*Message); ok {
		if err := d.deploy(m); err != nil {
			return err
		}
		if err := d.move(m, s); err != nil {
			return err
		}
		if err := d.ordinals(); err != nil {
			return err
		}
	}
	d.finish()
	return nil
}

// derivation is the derivation of one transaction.
type derivation struct {
	Rules
	*model.TokenTx
	flows map[model.AssetBirthPk]*flow
}

// flow is the change that a transaction makes to an asset.
type flow struct {
	in, held, minted model.Uint128
	mints            bool
}

func (d *derivation) flow(asset model.AssetBirthPk) *flow {
	f := d.flows[asset]
	if f == nil {
		f = &flow{}
		d.flows[asset] = f
	}
	return f
}

// hold gives an amount of an asset to an output.
func (d *derivation) hold(output int, asset model.AssetBirthPk, amount model.Uint128) {
	f := d.flow(asset)
	if f.held, _ = f.held.Add(amount); !amount.IsZero() {
		d.Held = append(d.Held, model.TokenOutput{Output: output, TokenAmount: model.TokenAmount{Asset: asset, Amount: amount}})
	}
}

// birth creates an asset in an output.
func (d *derivation) birth(output int, k Kind, name, info []byte) (model.AssetBirthPk, error) {
	out, err := d.Pk.Utxo(d.OutputIndex(output))
	asset := birthOf(out, k)
	id := ID(NewOutpoint(d.Hash, d.OutputIndex(output)), k)
	d.Births = append(d.Births, model.TokenBirth{Asset: asset, ID: id, Name: name, Info: info})
	return asset, err
}

// one is the amount of an ordinal and of an authority.
var one = model.Uint128Of(1)

// deploy creates the tokens of a message.
func (d *derivation) deploy(m *Message) error {
	for _, t := range m.Tokens {
		if !t.isDeployment() {
			continue
		}
		info, err := json.Marshal(t.Token)
		if err != nil {
			return err
		}
		name := NewOutpoint(d.Hash, d.OutputIndex(t.Output))
		token, err := d.birth(t.Output, TokenKind, name[:], info)
		if err != nil {
			return err
		}
		if t.Op == DeployMint {
			if t.Amount > 0 { // the row of an output can only name assets that were born before
				f := d.flow(token)
				f.mints, f.minted = true, model.Uint128Of(t.Amount)
				d.hold(t.Output, token, model.Uint128Of(t.Amount))
			}
			continue
		}
		authority, err := d.birth(t.Output, AuthorityKind, nil, nil)
		if err != nil {
			return err
		}
		f := d.flow(authority)
		f.mints, f.minted = true, one
		d.hold(t.Output, authority, one)
	}
	return nil
}

// move gives tokens of inputs, and minted ones, to outputs.
func (d *derivation) move(m *Message, s model.TokenState) error {
	order, of := m.operations()
	for _, id := range order {
		token, ok, err := s.Named(id[:])
		if err != nil {
			return err
		}
		if ok && kindOf(token) == TokenKind {
			d.moveToken(token, of[id])
		}
	}
	return nil
}

// moveToken applies the operations of one token.
func (d *derivation) moveToken(token model.AssetBirthPk, ops []OutputOp) {
	authority := birthOf(token.Utxo, AuthorityKind)
	may := d.flows[authority] != nil && !d.flows[authority].in.IsZero()
	var minted, sum model.Uint128
	for _, t := range ops {
		sum, _ = sum.Add(model.Uint128Of(t.Amount))
		if t.Op == Mint && may {
			minted, _ = minted.Add(model.Uint128Of(t.Amount))
		}
	}
	available := minted
	if f := d.flows[token]; f != nil {
		available, _ = available.Add(f.in)
	}
	if available.Cmp(sum) < 0 {
		return
	}
	for _, t := range ops {
		switch {
		case t.Op == Mint && may:
			f := d.flow(token)
			f.mints = true
			f.minted, _ = f.minted.Add(model.Uint128Of(t.Amount))
			d.hold(t.Output, token, model.Uint128Of(t.Amount))
		case t.Op == Mint || t.Op == Transfer:
			if t.Amount > 0 {
				d.hold(t.Output, token, model.Uint128Of(t.Amount))
			}
		case t.Op == Auth && may:
			d.hold(t.Output, authority, one)
		}
	}
	if f := d.flows[authority]; may && f.held.Cmp(f.in) > 0 {
		f.minted, _ = f.held.Sub(f.in)
		f.mints = true
	}
}

// ordinals gives satoshis to the outputs that hold them alone.
func (d *derivation) ordinals() error {
	if d.NoOrdinals || d.Pk.Height() < d.From {
		return nil
	}
	input, before := 0, uint64(0) // satoshis of the inputs before this one
	place := uint64(0)            // of the first satoshi of the output
	for i := range d.Outputs {
		value := d.Outputs[i].Value
		if value == 1 {
			for input < len(d.Spent) && before+d.Spent[input].Value <= place {
				before += d.Spent[input].Value
				input++
			}
			if input == len(d.Spent) {
				return nil
			}
			if err := d.ordinal(i, d.Spent[input]); err != nil {
				return err
			}
		}
		place += value
	}
	return nil
}

// ordinal gives the satoshi of an input to an output.
func (d *derivation) ordinal(output int, in model.TokenInput) error {
	if in.Value == 1 && in.Utxo.Height() >= d.From {
		for _, a := range in.Assets {
			if kindOf(a.Asset) == OrdinalKind {
				d.hold(output, a.Asset, one)
			}
		}
		return nil
	}
	asset, err := d.birth(output, OrdinalKind, nil, nil)
	if err != nil {
		return err
	}
	f := d.flow(asset)
	f.mints, f.minted = true, one
	d.hold(output, asset, one)
	return nil
}

// finish orders what outputs hold, and sets the changes of supplies.
func (d *derivation) finish() {
	slices.SortStableFunc(d.Held, func(a, b model.TokenOutput) int { return cmp.Compare(a.Output, b.Output) })
	for asset, f := range d.flows {
		burned, _ := f.in.Add(f.minted)
		if burned, _ = burned.Sub(f.held); f.mints || !burned.IsZero() {
			d.Supplies = append(d.Supplies, model.TokenSupply{Asset: asset, Mints: f.mints, Minted: f.minted, Burned: burned})
		}
	}
	slices.SortFunc(d.Supplies, func(a, b model.TokenSupply) int {
		return cmp.Or(cmp.Compare(a.Asset.Utxo, b.Asset.Utxo), cmp.Compare(a.Asset.Index, b.Asset.Index))
	})
}
