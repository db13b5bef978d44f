package onesat

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	"birthmark/api/compat/script"
	"birthmark/api/compat/wallet"
	"birthmark/api/jsonappend"
	"birthmark/chains/bitcoin/block"
	sat "birthmark/chains/bitcoinsv/onesat"
	"birthmark/model"
)

// outputValue is an output. Members are present if the request asks for them (1sat-stack: pkg/txo/output.go).
type outputValue struct {
	Outpoint    string          `json:"outpoint"`
	Score       float64         `json:"score"`
	Satoshis    *uint64         `json:"satoshis,omitempty"`
	BlockHeight *uint32         `json:"blockHeight,omitempty"`
	BlockIdx    *uint64         `json:"blockIdx,omitempty"`
	Spend       *string         `json:"spend,omitempty"`
	Events      []string        `json:"events,omitempty"`
	Data        jsonappend.JSON `json:"data,omitempty"`
}

// members selects the members of outputs.
type members struct {
	satoshis, spend, events, block bool
	tags                           []string // of data
	all                            bool     // every member, with every tag
}

// membersOf returns the members that a request asks for.
func membersOf(r *request, spend bool) members {
	flag := func(name string, otherwise bool) bool {
		if value, err := strconv.ParseBool(r.Param(name)); err == nil {
			return value
		}
		return otherwise
	}
	m := members{
		satoshis: flag("sats", false), spend: flag("spend", spend), events: flag("events", false), block: flag("block", false),
	}
	if tags := r.Param("tags"); tags != "" {
		m.tags = strings.Split(tags, ",")
	}
	return m
}

func (m *members) needScripts() bool { return m.all || m.events || len(m.tags) > 0 }

// score is the place of a transaction: the height, and the position in the block as decimal places.
func score(height uint32, position int) float64 { return float64(height) + float64(position)/1e9 }

// parseOutpoint reads TXID_N; separators are the characters between both that are accepted.
func parseOutpoint(text, separators string) (id model.Hash, index uint32, ok bool) {
	at := strings.IndexAny(text, separators)
	if at < 0 {
		return id, 0, false
	}
	id, ok = block.ParseHash(text[:at])
	n, err := strconv.ParseUint(text[at+1:], 10, 32)
	return id, uint32(n), ok && err == nil && !strings.HasPrefix(text[at+1:], "+")
}

func outpointText(id model.Hash, index int) string { return sat.NewOutpoint(id, index).String() }

// stored is an output with its state.
type stored struct {
	id     model.Hash
	index  int
	value  uint64
	script []byte // nil: not read
	held   []held // not read unless script is
	spend  *model.Hash
	place  wallet.Place
	seen   float64 // of an unconfirmed one: unix time
}

// held is an amount of an asset, whose id is as in answers of Birthmark.
type held struct {
	id     string
	amount model.Uint128
}

// values returns the JSON of outputs.
func (v *view) values(outputs []*stored, m members) ([]*outputValue, error) {
	values := make([]*outputValue, len(outputs))
	for i, o := range outputs {
		if o == nil {
			continue
		}
		a := &outputValue{Outpoint: outpointText(o.id, o.index), Score: o.score()}
		if m.all || m.satoshis {
			a.Satoshis = &o.value
		}
		if (m.all || m.block) && o.place.Confirmed {
			height, position := o.place.Height, uint64(o.place.Position)
			a.BlockHeight, a.BlockIdx = &height, &position
		}
		if m.spend && o.spend != nil {
			text := block.FormatHash(*o.spend)
			a.Spend = &text
		}
		if m.needScripts() {
			d, err := v.decode(o)
			if err != nil {
				return nil, err
			}
			if m.all || m.events {
				a.Events = v.eventsOf(o, d)
			}
			if a.Data, err = v.data(o, d, m); err != nil {
				return nil, err
			}
		}
		values[i] = a
	}
	return values, nil
}

func (o *stored) score() float64 {
	if o.place.Confirmed {
		return score(o.place.Height, o.place.Position)
	}
	return o.seen
}

// confirmed reads outputs of the chain.
func (v *view) confirmed(pks []model.UtxoPk, m members) ([]*stored, error) {
	if len(pks) == 0 {
		return nil, nil
	}
	q := v.Query()
	txs := make([]model.TxPk, len(pks))
	for i, pk := range pks {
		txs[i] = pk.Tx()
	}
	ids, err := q.TxIDs(txs)
	if err != nil {
		return nil, err
	}
	amounts, spenders, err := q.AmountsAndSpenders(pks)
	if err != nil {
		return nil, err
	}
	outputs := make([]*stored, len(pks))
	var spending []model.TxPk
	for i, pk := range pks {
		outputs[i] = &stored{
			id: ids[i], index: pk.Index(), value: amounts[i],
			place: wallet.Place{Confirmed: true, Height: uint32(pk.Height()), Position: pk.Tx().TxIndex()},
		}
		if spenders[i] != nil {
			spending = append(spending, spenders[i].Tx())
		}
	}
	by, err := q.TxIDs(spending)
	if err != nil {
		return nil, err
	}
	for i, o := range outputs {
		if spenders[i] != nil {
			o.spend, by = &by[0], by[1:]
		} else if o.spend, err = v.unconfirmedSpender(o.id, o.index); err != nil {
			return nil, err
		}
	}
	if !m.needScripts() {
		return outputs, nil
	}
	return outputs, v.readScripts(pks, outputs)
}

// unconfirmedSpender returns the unconfirmed transaction that spends an output; nil: none.
func (v *view) unconfirmedSpender(id model.Hash, index int) (*model.Hash, error) {
	if !v.SpentUnconfirmed(id, uint32(index)) {
		return nil, nil
	}
	spenders, err := v.Spenders(id)
	if err != nil || index >= len(spenders) || spenders[index] == nil {
		return nil, err
	}
	return &spenders[index].Tx, nil
}

// readScripts reads the scripts and the assets of confirmed outputs.
func (v *view) readScripts(pks []model.UtxoPk, outputs []*stored) error {
	q := v.Query()
	of := map[model.TxPk][]int{}
	var txs []model.TxPk
	for i, pk := range pks {
		if of[pk.Tx()] == nil {
			txs = append(txs, pk.Tx())
		}
		of[pk.Tx()] = append(of[pk.Tx()], i)
	}
	raws, err := q.RawTxs(txs)
	if err != nil {
		return err
	}
	for i, tx := range txs {
		msg, err := script.ParseTx(raws[i])
		if err != nil {
			return err
		}
		for _, at := range of[tx] {
			if n := outputs[at].index; n < len(msg.TxOut) {
				outputs[at].script = msg.TxOut[n].PkScript
			}
		}
	}
	entries, err := q.AssetEntries(pks)
	if err != nil {
		return err
	}
	var births []model.AssetBirthPk
	for _, list := range entries {
		for _, e := range list {
			births = append(births, e.Birth)
		}
	}
	slices.SortFunc(births, func(a, b model.AssetBirthPk) int {
		return cmp.Or(cmp.Compare(a.Utxo, b.Utxo), cmp.Compare(a.Index, b.Index))
	})
	names, err := q.AssetIDs(slices.Compact(births))
	if err != nil {
		return err
	}
	for i, list := range entries {
		for _, e := range list {
			if !e.Amount.IsZero() {
				outputs[i].held = append(outputs[i].held, held{names[e.Birth], e.Amount})
			}
		}
	}
	return nil
}

// find returns an output by its outpoint; nil: it does not exist.
func (v *view) find(id model.Hash, index uint32, m members) (*stored, error) {
	found, err := v.FindOutput(id, index)
	if is(err, "unknown_tx", "unknown_output") {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	if found.Confirmed {
		outputs, err := v.confirmed([]model.UtxoPk{found.Pk}, m)
		if err != nil {
			return nil, err
		}
		return outputs[0], nil
	}
	tx, err := v.Tx(id)
	if err != nil {
		return nil, err
	}
	o := &stored{id: id, index: int(index), value: found.Value, script: found.Script, seen: seen(tx)}
	for _, a := range found.Assets {
		o.held = append(o.held, held{v.Query().Chain.FormatAsset(a.ID), a.Amount})
	}
	o.spend, err = v.unconfirmedSpender(id, int(index))
	return o, err
}

func seen(tx *wallet.Tx) float64 {
	if tx.Seen.IsZero() {
		return 0
	}
	return float64(tx.Seen.UnixNano()) / 1e9
}
