package ord

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"encoding/json"
	"slices"
	"strconv"
	"strings"

	"birthmark/api/compat/script"
	"birthmark/api/compat/wallet"
	"birthmark/api/exchange"
	"birthmark/chains/bitcoin/block"
	"birthmark/chains/bitcoin/runes"
	"birthmark/core/pending"
	"birthmark/core/schema"
	"birthmark/model"
)

// parseOutpoint parses TXID:N.
func parseOutpoint(text string) (o outpoint, ok bool) {
	id, index, ok := strings.Cut(text, ":")
	hash, valid := block.ParseHash(id)
	n, err := strconv.ParseUint(index, 10, 32)
	if !ok || !valid || err != nil || strings.HasPrefix(index, "+") || len(index) > 1 && index[0] == '0' {
		return o, false
	}
	return outpoint{hash, uint32(n)}, true
}

func oneOutput(r *request) answer {
	text, _ := r.Arg("outpoint")
	o, ok := parseOutpoint(text)
	if !ok {
		r.Refuse(badRequest("invalid outpoint %q: expected TXID:N", text))
	}
	return func(v *view) (any, error) {
		found, err := v.find(o)
		if err != nil {
			return nil, err
		}
		values, err := v.values([]*foundOutput{found})
		if err != nil {
			return nil, err
		}
		return values[0], nil
	}
}

// outputAssets returns the assets of an output.
func outputAssets(r *request) answer {
	one := oneOutput(r)
	return func(v *view) (any, error) {
		o, err := one(v)
		if err != nil {
			return nil, err
		}
		all := o.(*outputValue)
		return &assetsValue{Runes: all.Runes, Value: all.Value}, nil
	}
}

// maxOutputs is the number of outputs of a request.
const maxOutputs = 10_000

// manyOutputs returns the outputs of a list in the body.
func manyOutputs(r *request) answer {
	var texts []string
	if err := json.Unmarshal(r.Content(), &texts); err != nil {
		r.Refuse(badRequest("invalid body: expected a list of outpoints TXID:N"))
	}
	if len(texts) > maxOutputs {
		r.Refuse(badRequest("%d outpoints, expected at most %d", len(texts), maxOutputs))
	}
	list := make([]outpoint, len(texts))
	for i, text := range texts {
		var ok bool
		if list[i], ok = parseOutpoint(text); !ok {
			r.Refuse(badRequest("invalid outpoint %q: expected TXID:N", text))
			break
		}
	}
	return func(v *view) (any, error) {
		found := make([]*foundOutput, len(list))
		for i, o := range list {
			var err error
			if found[i], err = v.find(o); err != nil {
				return nil, err
			}
		}
		return v.values(found)
	}
}

// foundOutput is an output with the outpoint by which it was found.
type foundOutput struct {
	*wallet.Found
	at outpoint
}

func (v *view) find(o outpoint) (*foundOutput, error) {
	found, err := v.FindOutput(o.tx, o.index)
	if is(err, "unknown_tx", "unknown_output") {
		return nil, missing("output %s", o)
	}
	return &foundOutput{found, o}, err
}

// values returns the JSON of outputs.
func (v *view) values(found []*foundOutput) ([]*outputValue, error) {
	pks := make([]model.UtxoPk, 0, len(found))
	for _, f := range found {
		if f.Confirmed && !f.Spent {
			pks = append(pks, f.Pk)
		}
	}
	held, err := v.runesOf(pks)
	if err != nil {
		return nil, err
	}
	values := make([]*outputValue, len(found))
	for i, f := range found {
		a := &outputValue{
			Outpoint: f.at, Runes: piles{}, ScriptPubkey: f.Script, Transaction: script.Hash(f.at.tx), Value: f.Value,
			Spent: f.Spent || f.Pending, Indexed: f.Confirmed && !f.Spent,
		}
		if f.Confirmed {
			a.Confirmations = uint32(v.Tip.Height-f.Pk.Height()) + 1
		}
		switch {
		case a.Indexed:
			a.Runes, held = held[0], held[1:]
		case !f.Confirmed:
			if a.Runes, err = v.unconfirmedRunes(f.Assets); err != nil {
				return nil, err
			}
		}
		if address := v.Address(f.Script); address != "" {
			a.Address = &address
		}
		values[i] = a
	}
	return values, nil
}

// runesOf returns the runes of outputs, each in the order of names.
func (v *view) runesOf(pks []model.UtxoPk) ([]piles, error) {
	rows, err := v.Query().R.GetMany(schema.FamilyAssets, schema.Keys(pks))
	if err != nil {
		return nil, err
	}
	all := make([][]schema.AssetEntry, len(pks))
	known := map[model.AssetBirthPk]*runes.Entry{}
	var births []model.AssetBirthPk
	for i, row := range rows {
		entries, err := schema.ParseAssetsRow(pks[i], row)
		if err != nil {
			return nil, err
		}
		all[i] = schema.Holdings(entries)
		for _, e := range all[i] {
			if _, ok := known[e.Birth]; !ok {
				known[e.Birth] = nil
				births = append(births, e.Birth)
			}
		}
	}
	parsed, err := v.parse(births)
	if err != nil {
		return nil, err
	}
	for i, birth := range births {
		known[birth] = parsed[i]
	}
	held := make([]piles, len(pks))
	for i, entries := range all {
		held[i] = piles{}
		for _, e := range entries {
			held[i] = append(held[i], pile{e.Amount, known[e.Birth]})
		}
		slices.SortFunc(held[i], comparePiles)
	}
	return held, nil
}

// unconfirmedRunes returns the runes of an unconfirmed output, in the order of names.
func (v *view) unconfirmedRunes(assets []pending.Asset) (piles, error) {
	held := piles{}
	for _, a := range assets {
		var entry *runes.Entry
		if id, ok := runes.ParseAssetID(a.ID); ok {
			asset, _ := id.Asset()
			parsed, err := v.parse([]model.AssetBirthPk{asset})
			if err != nil {
				return nil, err
			}
			entry = parsed[0]
		} else {
			etching := model.Hash(a.ID) // its id until it is confirmed
			info, ok := v.UnconfirmedAsset(etching, a.ID)
			if !ok {
				continue // the etching left a moment ago
			}
			var err error
			if entry, err = runes.ParseEntry(info); err != nil {
				return nil, err
			}
		}
		held = append(held, pile{a.Amount, entry})
	}
	slices.SortFunc(held, comparePiles)
	return held, nil
}

func comparePiles(a, b pile) int {
	return cmp.Or(a.entry.Name.Compare(b.entry.Name), cmp.Compare(a.entry.Spacers, b.entry.Spacers))
}

// scriptOf returns the script of the address in the path.
func (p *protocol) scriptOf(r *request) []byte {
	text, _ := r.Arg("address")
	script, err := p.ScriptOfAddress(text)
	if err != nil {
		r.Refuse(err)
	}
	return script
}

// unspent calls visit with the confirmed unspent outputs of a script.
func (v *view) unspent(script []byte, visit func(pks []model.UtxoPk, ids []model.Hash) error) error {
	s, err := v.Script(wallet.KeyOf(script))
	if err != nil {
		return err
	}
	for pks, err := range s.ConfirmedUnspent() {
		if err != nil {
			return err
		}
		txs := make([]model.TxPk, len(pks))
		for i, pk := range pks {
			txs[i] = pk.Tx()
		}
		ids, err := v.Query().TxIDs(txs)
		if err == nil {
			err = visit(pks, ids)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// addressInfo returns the unspent outputs of an address and their sums. Outputs are in the order of their outpoints.
func (p *protocol) addressInfo(r *request) answer {
	script := p.scriptOf(r)
	return func(v *view) (any, error) {
		a := &addressValue{Outputs: []outpoint{}, RunesBalances: []runesOfHolder{}}
		sums := map[*runes.Entry]model.Uint128{}
		byName := map[runes.Name]*runes.Entry{}
		err := v.unspent(script, func(pks []model.UtxoPk, ids []model.Hash) error {
			amounts, err := v.Query().Amounts(pks)
			if err != nil {
				return err
			}
			held, err := v.runesOf(pks)
			if err != nil {
				return err
			}
			for i, pk := range pks {
				a.Outputs = append(a.Outputs, outpoint{ids[i], uint32(pk.Index())})
				a.SatBalance += amounts[i]
				for _, p := range held[i] {
					e := byName[p.entry.Name]
					if e == nil {
						e = p.entry
						byName[e.Name] = e
					}
					sums[e], _ = sums[e].Add(p.amount)
				}
			}
			return nil
		})
		if err != nil {
			return nil, err
		}
		slices.SortFunc(a.Outputs, func(a, b outpoint) int {
			return cmp.Or(bytes.Compare(a.tx[:], b.tx[:]), cmp.Compare(a.index, b.index))
		})
		for e, sum := range sums {
			a.RunesBalances = append(a.RunesBalances, runesOfHolder{sum, e})
		}
		slices.SortFunc(a.RunesBalances, func(a, b runesOfHolder) int { return comparePiles(pile(a), pile(b)) })
		return a, nil
	}
}

// outputsOfAddress returns the unspent outputs of an address, or those with runes.
func (p *protocol) outputsOfAddress(r *request) answer {
	script, kind := p.scriptOf(r), r.Param("type")
	switch kind {
	case "", "any", "runic":
	case "cardinal", "inscribed":
		r.Refuse(badRequest("this server has no inscriptions index"))
	default:
		r.Refuse(badRequest("invalid type %q: expected any or runic", kind))
	}
	return func(v *view) (any, error) {
		var list []*foundOutput
		err := v.unspent(script, func(pks []model.UtxoPk, ids []model.Hash) error {
			amounts, err := v.Query().Amounts(pks)
			if err != nil {
				return err
			}
			held := make([]piles, len(pks))
			if kind == "runic" {
				if held, err = v.runesOf(pks); err != nil {
					return err
				}
			}
			for i, pk := range pks {
				if kind == "runic" && len(held[i]) == 0 {
					continue
				}
				output := wallet.Output{Value: amounts[i], Script: script}
				found := &wallet.Found{Output: output, Pk: pk, Confirmed: true}
				found.Pending = v.SpentUnconfirmed(ids[i], uint32(pk.Index()))
				list = append(list, &foundOutput{found, outpoint{ids[i], uint32(pk.Index())}})
			}
			return nil
		})
		if err != nil {
			return nil, err
		}
		slices.SortFunc(list, func(a, b *foundOutput) int { return bytes.Compare(stored(a.at), stored(b.at)) })
		return exchange.List(func(yield func(*outputValue, error) bool) {
			for part := range slices.Chunk(list, outputsPerRead) {
				values, err := v.values(part)
				if err != nil {
					yield(nil, err)
					return
				}
				for _, value := range values {
					if !yield(value, nil) {
						return
					}
				}
			}
		}), nil
	}
}

// outputsPerRead is the number of outputs whose runes are read at once.
const outputsPerRead = 1000

// stored returns the bytes of an outpoint, in the order of which ord lists the outputs of an address.
func stored(o outpoint) []byte { return binary.LittleEndian.AppendUint32(o.tx[:], o.index) }
