package contents

import (
	"encoding/hex"
	"encoding/json"
	"slices"
	"strconv"
	"unicode/utf8"

	"birthmark/chains/cardano"
	"birthmark/chains/cardano/address"
	"birthmark/chains/cardano/cbor"
	"birthmark/chains/cardano/ledger"
)

// Onchain is the metadata of an asset.
type Onchain struct {
	Metadata any     `json:"onchain_metadata"`
	Standard *string `json:"onchain_metadata_standard"`
	Extra    *string `json:"onchain_metadata_extra"`

	Reference bool `json:"-"` // the metadata is in the datum of a reference token
}

// labelMints is the metadata label of CIP-25.
const labelMints = "721"

// ByLabel returns the metadata in label 721: policies, which have the names of assets. In version 2 both are
// bytes, which begin with 0x. Metadata without name and image is shown without a standard.
func ByLabel(id []byte, metadata map[string]any) (o Onchain, found bool) {
	label, ok := metadata[labelMints].(map[string]any)
	if !ok {
		return o, false
	}
	policy, name := hex.EncodeToString(id[:address.PolicySize]), id[address.PolicySize:]
	standard := "CIP25v1"
	of, ok := label[policy].(map[string]any)
	fields := any(nil)
	if ok && utf8.Valid(name) {
		fields = of[string(name)]
	}
	if fields == nil && ok {
		fields = of[hex.EncodeToString(name)]
	}
	if of, isBytes := label["0x"+policy].(map[string]any); fields == nil && isBytes {
		fields, standard = of["0x"+hex.EncodeToString(name)], "CIP25v2"
	}
	m, ok := fields.(map[string]any)
	if !ok {
		return o, false
	}
	o.Metadata = m
	if _, named := m["name"].(string); named && isTextOrList(m["image"]) {
		o.Standard = &standard
	}
	return o, true
}

func isTextOrList(v any) bool {
	switch v := v.(type) {
	case string:
		return true
	case []any:
		return !slices.ContainsFunc(v, func(part any) bool { _, ok := part.(string); return !ok })
	}
	return false
}

// ByReference reads the datum of a reference token (CIP-68).
func ByReference(datum []byte) (o Onchain, found bool) {
	constructor, ok := cardano.PlutusJSON(datum).(map[string]any)
	fields, isList := constructor["fields"].([]any)
	if !ok || !isList || len(fields) < 2 || constructor["constructor"] != uint64(0) {
		return o, false
	}
	m, ok := readable(fields[0]).(map[string]any)
	version, hasVersion := fields[1].(map[string]any)
	n, isNumber := version["int"].(json.Number)
	if !ok || !hasVersion || !isNumber {
		return o, false
	}
	o.Metadata, o.Reference = m, true
	if v, err := strconv.Atoi(n.String()); err == nil && v >= 1 && v <= 3 && m["name"] != nil {
		standard := "CIP68v" + strconv.Itoa(v)
		o.Standard = &standard
	}
	if len(fields) > 2 {
		w := cbor.Walker{Data: datum}
		w.Head("constructor")
		f := w.Fields("fields")
		f.Skip("metadata")
		f.Skip("version")
		extra := hex.EncodeToString(f.Item("extra data"))
		o.Extra = &extra
	}
	return o, true
}

// readable returns Plutus data as text, numbers, lists and maps. Other bytes are hex.
func readable(v any) any {
	m, _ := v.(map[string]any)
	switch {
	case m["bytes"] != nil:
		b, err := hex.DecodeString(m["bytes"].(string))
		if err == nil && utf8.Valid(b) {
			return string(b)
		}
		return m["bytes"]
	case m["int"] != nil:
		return m["int"]
	case m["list"] != nil:
		all := []any{}
		for _, e := range m["list"].([]any) {
			all = append(all, readable(e))
		}
		return all
	case m["map"] != nil:
		all := map[string]any{}
		for _, e := range m["map"].([]any) {
			pair := e.(map[string]any)
			key, ok := readable(pair["k"]).(string)
			if ok {
				all[key] = readable(pair["v"])
			}
		}
		return all
	}
	return v
}

// Labels returns the metadata in auxiliary data by label, and the labels in order.
func Labels(auxiliary []byte) (labels []uint64, items map[uint64][]byte) {
	items = map[uint64][]byte{}
	for label, item := range ledger.Metadata(auxiliary) {
		labels = append(labels, label)
		items[label] = item
	}
	slices.Sort(labels)
	return labels, items
}

// Labelled returns the CBOR of a map with one label.
func Labelled(label uint64, item []byte) []byte {
	return append(cbor.AppendHead(cbor.AppendHead(nil, cbor.Map, 1), cbor.Uint, label), item...)
}
