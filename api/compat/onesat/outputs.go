package onesat

import (
	"cmp"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
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

// decoded is the content of an output script.
type decoded struct {
	insc  *sat.Inscription
	lock  *sat.Lock
	token *sat.TokenOp // of an output that holds the token, or the authority to mint it
	id    string       // of token
	more  sat.Data
}

func (v *view) decode(o *stored) (*decoded, error) {
	d := &decoded{insc: sat.ReadInscription(o.script), lock: sat.ReadLock(o.script), more: sat.ReadData(o.script)}
	t := sat.ReadToken(d.insc)
	if t == nil {
		return d, nil
	}
	id := t.Of.String()
	deployment := t.Op == sat.DeployMint || t.Op == sat.DeployAuth
	if deployment {
		id = outpointText(o.id, o.index)
	}
	for _, h := range o.held {
		if of, _, _ := strings.Cut(h.id, ":"); of == id && !strings.HasSuffix(h.id, ":origin") {
			deployment = true
		}
	}
	if deployment {
		d.token, d.id = t, id
	}
	return d, nil
}

// address returns the address of a key hash.
func (v *view) address(hash []byte) string {
	return v.Address(slices.Concat([]byte{block.OpDup, block.OpHash160, byte(len(hash))}, hash, []byte{block.OpEqualVerify, block.OpCheckSig}))
}

// eventsOf returns the events of an output, which are the keys of searches.
func (v *view) eventsOf(o *stored, d *decoded) []string {
	events := []string{"txid:" + block.FormatHash(o.id)}
	if d.insc != nil && o.value == 1 {
		if base := sat.BaseType(d.insc.Type); base != "" {
			events = append(events, "type:"+base)
		}
		if p, ok := d.insc.ParentOutpoint(); ok {
			events = append(events, "parent:"+dotted(p))
		}
	}
	owner := ""
	if d.lock != nil {
		if d.lock.Kind == sat.Listing && o.value == 1 {
			events = append(events, "list")
		}
		if d.lock.KeyHash != nil {
			owner = v.address(d.lock.KeyHash)
			events = append(events, "own:"+owner)
		}
	}
	if d.token == nil {
		return events
	}
	if d.token.Symbol != "" {
		events = append(events, "sym:"+d.token.Symbol)
	}
	events = append(events, "id:"+d.id)
	if d.lock == nil {
		return events
	}
	switch kind := d.lock.Kind; kind {
	case sat.PayKey, sat.Cosign:
		events = append(events, string(kind)+":"+owner+":"+d.id)
	case sat.Listing:
		events = append(events, "list:"+owner+":"+d.id, "list:"+d.id)
	case sat.Mining, sat.Pow20:
		events = append(events, string(kind)+":"+d.id)
	}
	return events
}

// dotted is the form TXID.N of an outpoint.
func dotted(o sat.Outpoint) string { return strings.Replace(o.String(), "_", ".", 1) }

type object = map[string]any

func base64Of(b []byte) string { return base64.StdEncoding.EncodeToString(b) }

// addressValue is an address as go-sdk writes it.
func (v *view) addressValue(hash []byte) object {
	return object{"AddressString": v.address(hash), "PublicKeyHash": base64Of(hash)}
}

// data returns the data of an output by tags; nil if m has none.
func (v *view) data(o *stored, d *decoded, m members) (jsonappend.JSON, error) {
	if !m.all && len(m.tags) == 0 {
		return nil, nil
	}
	of := object{}
	add := func(tag string, value object) {
		if m.all || slices.Contains(m.tags, tag) {
			of[tag] = value
		}
	}
	if l := d.lock; l != nil {
		switch l.Kind {
		case sat.PayKey:
			if d.insc == nil {
				add("p2pkh", v.addressValue(l.KeyHash))
			}
		case sat.Cosign:
			add("cosign", object{"address": v.address(l.KeyHash), "cosigner": hex.EncodeToString(l.Cosigner)})
		case sat.Listing:
			if o.value != 1 {
				break // no offer
			}
			listing := object{"price": l.Price, "pricePer": 0, "payout": base64Of(l.Payout)}
			if l.KeyHash != nil {
				listing["seller"] = v.addressValue(l.KeyHash)
			}
			add("ordlock", listing)
		case sat.Delay:
			if l.KeyHash != nil {
				add("lock", object{"address": v.addressValue(l.KeyHash), "until": l.Until})
			}
		}
	}
	if in := d.insc; in != nil && o.value == 1 {
		sum := sha256.Sum256(in.Content)
		file := object{"hash": base64Of(sum[:]), "size": len(in.Content), "type": in.Type}
		if in.Content == nil {
			file = object{"hash": nil, "size": 0, "type": in.Type}
		}
		value := object{"file": file}
		if p, ok := in.ParentOutpoint(); ok {
			value["parent"] = dotted(p)
		}
		if len(in.Prefix) > 0 {
			value["prefix"] = base64Of(in.Prefix)
		}
		if len(in.Suffix) > 0 {
			value["suffix"] = base64Of(in.Suffix)
		}
		add("insc", value)
	}
	if d.token != nil && (m.all || slices.Contains(m.tags, "bsv21")) {
		value, err := v.tokenData(d)
		if err != nil {
			return nil, err
		}
		add("bsv21", value)
	}
	if all := d.more.Protocols; len(all) > 0 {
		protocols := make([]object, len(all))
		for i, p := range all {
			protocols[i] = object{"proto": p.Name, "script": base64Of(p.Script), "pos": p.At}
		}
		value := object{"protos": protocols}
		if len(d.more.Prefix) > 0 {
			value["prefix"] = base64Of(d.more.Prefix)
		}
		add("bitcom", value)
	}
	if all := d.more.Commands; len(all) > 0 {
		add("map", object{"cmd": all[0].Name, "data": all[0].Properties})
	}
	if len(d.more.Files) > 0 {
		f := d.more.Files[0]
		file := object{"mediaType": f.Type, "encoding": f.Encoding, "data": base64Of(f.Content)}
		if f.Name != "" {
			file["filename"] = f.Name
		}
		add("b", file)
	}
	return json.Marshal(of)
}

// tokenData describes the operation of an output.
func (v *view) tokenData(d *decoded) (object, error) {
	t := d.token
	value := object{"id": d.id, "op": string(t.Op), "amt": strconv.FormatUint(t.Amount, 10)}
	describing := t.Token
	if t.Op != sat.DeployMint && t.Op != sat.DeployAuth {
		_, info, err := v.token(d.id)
		if err != nil {
			return nil, err
		}
		if info != nil {
			describing = *info
		}
	}
	describe(value, describing)
	if d.lock != nil && d.lock.KeyHash != nil && (d.lock.Kind == sat.PayKey || d.lock.Kind == sat.Cosign || d.lock.Kind == sat.Listing) {
		value["address"] = v.address(d.lock.KeyHash)
	}
	return value, nil
}

func describe(value object, t sat.Token) {
	if t.Symbol != "" {
		value["sym"] = t.Symbol
	}
	if t.Decimals > 0 {
		value["dec"] = t.Decimals
	}
	if t.Icon != "" {
		value["icon"] = t.Icon
	}
}
