package cardano

import (
	"encoding/hex"

	"birthmark/chains/cardano/cbor"
)

// plutusJSON returns Plutus data as cardano-cli writes it with the detailed schema: int, bytes, list, map and
// constructor with fields. It is nil if the item is malformed or nested too deep.
func plutusJSON(raw []byte) any { return wholeItem(raw, readPlutus) }

// readPlutus reads Plutus data below depth levels of JSON.
func readPlutus(w *cbor.Walker, depth int) any {
	if tooDeep(w, depth) {
		return nil
	}
	list := func() any {
		items := []any{}
		for n := w.Array("list"); w.More(&n); {
			items = append(items, readPlutus(w, depth+2))
		}
		return items
	}
	switch w.Major() {
	case cbor.Bytes:
		return map[string]any{"bytes": hex.EncodeToString(w.Bytes("bytes"))}
	case cbor.Array:
		return map[string]any{"list": list()}
	case cbor.Map:
		items := []any{}
		for n := w.Map("map"); w.More(&n); {
			k := readPlutus(w, depth+3)
			items = append(items, map[string]any{"k": k, "v": readPlutus(w, depth+3)})
		}
		return map[string]any{"map": items}
	case cbor.Uint, cbor.Negative, cbor.Tag:
		n, tag, ok := readNumber(w)
		if ok {
			return map[string]any{"int": n}
		}
		var fields any
		if number, ok := readConstructor(w, tag, func() { fields = list() }); ok {
			return map[string]any{"constructor": number, "fields": fields}
		}
	}
	w.Fail("expected Plutus data")
	return nil
}

// PlutusJSON returns Plutus data as cardano-cli writes it with the detailed schema, nil if it is malformed or nested too
// deep.
func PlutusJSON(raw []byte) any { return plutusJSON(raw) }
