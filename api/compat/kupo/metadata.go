package kupo

import (
	"cmp"
	"math/big"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/crypto/blake2b"

	"birthmark/api/compat/utxo"
	"birthmark/api/exchange"
	"birthmark/chains/cardano"
	"birthmark/chains/cardano/cbor"
	"birthmark/chains/cardano/ledger"
	"birthmark/model"
)

// metadata returns the metadata of the transactions of the block at a slot, or of one of them.
func metadata(r *request) answer {
	slot := slotArg(r)
	var tx *model.Hash
	for _, p := range parameters(r.URL.RawQuery) {
		switch p.name {
		case "transaction_id":
			h, ok := readHash(p.value)
			if !ok || tx != nil {
				r.Refuse(errMetadata)
			}
			tx = h
		case "policy_id", "asset_name", "output_index":
			r.Refuse(errMetadata)
		}
	}
	return func(v *view) (any, error) {
		h, ok, err := v.LastUntil(slot)
		if err != nil {
			return nil, err
		}
		if !ok {
			return nil, errNoBlock
		}
		at, err := v.Point(h)
		if err != nil {
			return nil, err
		}
		if at.Slot != slot {
			return nil, errNoBlock
		}
		r.Header()["X-Block-Header-Hash"] = []string{at.Hash.String()}
		return v.metadata(h, tx)
	}
}

// metadata lists the metadata of a block, in the order of its transactions.
func (v *view) metadata(h model.HeightPk, only *model.Hash) (any, error) {
	genesis := 0
	if h == 0 {
		genesis = int(v.Q.Totals.GenesisTxs)
	}
	ids, err := v.Q.BlockTxIDs(h, genesis, model.MaxTxIndex)
	if err != nil {
		return nil, err
	}
	return exchange.Stream(func(yield func(*metadataValue, error) bool) {
		for i, id := range ids {
			if only != nil && id != *only {
				continue
			}
			t, err := v.txOf(h, genesis+i)
			if err == nil && t.Auxiliary == nil {
				continue
			}
			if err != nil {
				yield(nil, err)
				return
			}
			if !yield(&metadataValue{blake2b.Sum256(t.Auxiliary), t.Auxiliary, labelsOf(t.Auxiliary)}, nil) {
				return
			}
		}
	}), nil
}

// txOf returns a transaction of a block.
func (v *view) txOf(h model.HeightPk, i int) (*utxo.Tx, error) {
	pk, err := v.Q.NewTxPk(h, i)
	if err != nil {
		return nil, err
	}
	return v.Reader.Tx(pk)
}

// labelsOf returns the values of metadata by label, which occur once.
func labelsOf(auxiliary []byte) labels {
	all := labels{}
	for label, item := range ledger.Metadata(auxiliary) {
		all = append(all, labelled{label, valueOf(&cbor.Walker{Data: item}, 0)})
	}
	slices.SortFunc(all, func(a, b labelled) int { return cmp.Compare(a.label, b.label) })
	return all
}

// valueOf returns an item of metadata below depth levels of JSON: int, string, bytes, list or map. Deeper values than
// [cardano.MaxNesting] are null.
func valueOf(w *cbor.Walker, depth int) any {
	if depth > cardano.MaxNesting {
		w.Skip("value")
		return nil
	}
	switch major := w.Major(); major {
	case cbor.Uint, cbor.Negative:
		_, n, _ := w.Head("number")
		if major == cbor.Uint {
			return &intValue{integer(strconv.FormatUint(n, 10))}
		}
		return &intValue{integer(new(big.Int).Not(new(big.Int).SetUint64(n)).String())}
	case cbor.Bytes:
		return &bytesValue{w.Bytes("bytes")}
	case cbor.Text:
		return &stringValue{escaped(strings.ToValidUTF8(string(w.Text("text")), "\uFFFD"))}
	case cbor.Array:
		list := &listValue{[]any{}}
		for n := w.Array("list"); w.More(&n); {
			list.List = append(list.List, valueOf(w, depth+2))
		}
		return list
	case cbor.Map:
		pairs := &mapValue{[]pairValue{}}
		for n := w.Map("map"); w.More(&n); {
			key := valueOf(w, depth+3)
			pairs.Map = append(pairs.Map, pairValue{key, valueOf(w, depth+3)})
		}
		return pairs
	}
	w.Skip("value")
	return nil
}
