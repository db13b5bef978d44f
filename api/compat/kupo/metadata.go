package kupo

import (
	"encoding/hex"
	"encoding/json"
	"math/big"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/crypto/blake2b"

	"birthmark/chains/cardano"
	"birthmark/chains/cardano/cbor"
	"birthmark/chains/cardano/ledger"
	"birthmark/model"
)

// metadata answers the metadata of the transactions of the block at a slot, or of one of them.
func (q *request) metadata(args []string) error {
	if len(args) != 1 {
		return errNoEndpoint
	}
	slot, ok := readSlot(args[0])
	if !ok {
		return errSlot
	}
	var tx *model.Hash
	for _, p := range parameters(q.r.URL.RawQuery) {
		switch p.name {
		case "transaction_id":
			if h, ok := readHash(p.value); ok && tx == nil {
				tx = h
				continue
			}
			return errMetadata
		case "policy_id", "asset_name", "output_index":
			return errMetadata
		}
	}
	h, ok, err := q.LastUntil(slot)
	if err != nil {
		return err
	}
	if !ok {
		return errNoBlock
	}
	at, err := q.Point(h)
	if err != nil {
		return err
	}
	if at.Slot != slot {
		return errNoBlock
	}
	q.w.Header()["X-Block-Header-Hash"] = []string{at.Hash.String()}
	return q.addMetadata(h, tx)
}

// addMetadata appends the metadata of a block, in the order of its transactions.
func (q *request) addMetadata(h model.HeightPk, only *model.Hash) error {
	genesis := 0
	if h == 0 {
		genesis = int(q.Q.Totals.GenesisTxs)
	}
	ids, err := q.Q.BlockTxIDs(h, genesis, model.MaxTxIndex)
	if err != nil {
		return err
	}
	q.add("[")
	first := true
	for i, id := range ids {
		if only != nil && id != *only {
			continue
		}
		pk, err := model.NewTxPk(h, genesis+i)
		if err != nil {
			return err
		}
		t, err := q.Reader.Tx(pk)
		if err != nil {
			return err
		}
		if t.Auxiliary == nil {
			continue
		}
		if !first {
			q.add(",")
		}
		first = false
		hash := blake2b.Sum256(t.Auxiliary)
		q.add(`{"hash":`)
		q.addHex(hash[:])
		q.add(`,"raw":`)
		q.addHex(t.Auxiliary)
		q.add(`,"schema":{`)
		q.addLabels(t.Auxiliary)
		q.add("}}")
		if err := q.flush(); err != nil {
			return err
		}
	}
	q.add("]")
	return nil
}

// addLabels appends the values of metadata by label.
func (q *request) addLabels(auxiliary []byte) {
	items := map[uint64][]byte{}
	var labels []uint64
	for label, item := range ledger.Metadata(auxiliary) {
		items[label] = item
		labels = append(labels, label)
	}
	slices.Sort(labels)
	for i, label := range labels {
		if i > 0 {
			q.add(",")
		}
		q.add(`"`)
		q.addUint(label)
		q.add(`":`)
		w := cbor.Walker{Data: items[label]}
		q.addValue(&w, 0)
	}
}

// addValue appends an item of metadata below depth levels of JSON: int, string, bytes, list or map. Deeper values than
// [cardano.MaxNesting] are null.
func (q *request) addValue(w *cbor.Walker, depth int) {
	if depth > cardano.MaxNesting {
		w.Skip("value")
		q.add("null")
		return
	}
	switch major := w.Major(); major {
	case cbor.Uint, cbor.Negative:
		_, n, _ := w.Head("number")
		text := strconv.FormatUint(n, 10)
		if major == cbor.Negative {
			text = new(big.Int).Not(new(big.Int).SetUint64(n)).String()
		}
		q.add(`{"int":`, text, `}`)
	case cbor.Bytes:
		q.add(`{"bytes":"`, hex.EncodeToString(w.Bytes("bytes")), `"}`)
	case cbor.Text:
		text, _ := json.Marshal(strings.ToValidUTF8(string(w.Text("text")), "\uFFFD")) // cannot fail
		q.add(`{"string":`, string(text), `}`)
	case cbor.Array:
		q.add(`{"list":[`)
		first := true
		for n := w.Array("list"); w.More(&n); first = false {
			if !first {
				q.add(",")
			}
			q.addValue(w, depth+2)
		}
		q.add("]}")
	case cbor.Map:
		q.add(`{"map":[`)
		first := true
		for n := w.Map("map"); w.More(&n); first = false {
			if !first {
				q.add(",")
			}
			q.add(`{"k":`)
			q.addValue(w, depth+3)
			q.add(`,"v":`)
			q.addValue(w, depth+3)
			q.add("}")
		}
		q.add("]}")
	default:
		w.Skip("value")
		q.add("null")
	}
}
