package onesat

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"slices"
	"strconv"
	"strings"

	"birthmark/api/jsonappend"
	"birthmark/chains/bitcoin/block"
	sat "birthmark/chains/bitcoinsv/onesat"
)

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
