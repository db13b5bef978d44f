package contents

import (
	"encoding/hex"
	"encoding/json"

	"birthmark/chains/cardano"
	"birthmark/chains/cardano/cbor"
)

// Kinds of timelocks (rule native_script of the ledger's CDDL).
const (
	lockSig = iota
	lockAll
	lockAny
	lockAtLeast
	lockAfter
	lockBefore
)

// Timelock returns a native script as cardano-cli writes it, nil if it is malformed or its JSON is deeper than
// [cardano.MaxNesting].
func Timelock(code []byte) any { return timelock(&cbor.Walker{Data: code}, 0) }

// timelock returns a native script as cardano-cli writes it.
func timelock(w *cbor.Walker, depth int) any {
	f := w.Fields("script")
	if depth > cardano.MaxNesting || w.Err != nil {
		f.SkipRest()
		return nil
	}
	list := func() []any {
		all := []any{}
		in := cbor.Walker{Data: f.Item("scripts")}
		for n := in.Array("scripts"); in.More(&n); {
			all = append(all, timelock(&in, depth+2))
		}
		return all
	}
	var lock map[string]any
	switch f.Uint("kind of the script") {
	case lockSig:
		lock = map[string]any{"type": "sig", "keyHash": hex.EncodeToString(f.Bytes("key hash"))}
	case lockAll:
		lock = map[string]any{"type": "all", "scripts": list()}
	case lockAny:
		lock = map[string]any{"type": "any", "scripts": list()}
	case lockAtLeast:
		lock = map[string]any{"type": "atLeast", "required": json.Number(f.Integer("number").String())}
		lock["scripts"] = list()
	case lockAfter:
		lock = map[string]any{"type": "after", "slot": f.Uint("slot")}
	case lockBefore:
		lock = map[string]any{"type": "before", "slot": f.Uint("slot")}
	}
	f.End()
	if w.Err != nil {
		return nil
	}
	return lock
}
