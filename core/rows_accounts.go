package core

import (
	"encoding/binary"
	"errors"
	"fmt"

	"birthmark/model"
)

func appendAccountRow(b []byte, a *account) []byte {
	for _, n := range []int64{a.outputs, a.unspent, a.txs} {
		b = binary.AppendUvarint(b, uint64(n))
	}
	at := len(b)
	b = a.received.appendTo(append(b, 0))
	b[at] = byte(len(b) - at - 1)
	return a.sent.appendTo(b)
}

func parseAccountRow(b []byte) (a account, err error) {
	r := reader{b: b}
	for _, n := range []struct {
		to   *int64
		what string
	}{{&a.outputs, "outputs"}, {&a.unspent, "unspent outputs"}, {&a.txs, "transactions"}} {
		v := r.uvarint(n.what)
		if *n.to = int64(v); *n.to < 0 {
			r.fail(n.what + " is too large")
		}
	}
	size := int(r.take(1, "length of received")[0])
	received := r.take(size, "received")
	if a.outputs == 0 {
		r.fail("no outputs")
	}
	if r.err != nil {
		return a, r.err
	}
	if a.received, err = parseWide(received); err == nil {
		a.sent, err = parseWide(r.b)
	}
	return a, err
}

func appendHeldKey(b []byte, x *index, birth model.BirthPk, asset model.AssetBirthPk) []byte {
	return asset.AppendTo(birth.AppendTo(b, x.Kind.HasOrdinal()))
}

func parseHeldKey(x *index, b []byte) (birth model.BirthPk, asset model.AssetBirthPk, err error) {
	r := reader{b: b}
	birth, err1 := model.ParseBirthPk(r.take(pointerSize(x.Kind.HasOrdinal()), "birth_pk"), x.Kind.HasOrdinal())
	asset, err2 := model.ParseAssetBirthPk(r.take(model.PkOrdinalSize, "asset_birth_pk"))
	return birth, asset, errors.Join(err1, err2, r.end())
}

func appendHistoryKey(b []byte, x *index, birth model.BirthPk, tx model.TxPk) []byte {
	return tx.AppendTo(birth.AppendTo(b, x.Kind.HasOrdinal()))
}

func parseHistoryKey(x *index, b []byte) (birth model.BirthPk, tx model.TxPk, err error) {
	r := reader{b: b}
	birth, err1 := model.ParseBirthPk(r.take(pointerSize(x.Kind.HasOrdinal()), "birth_pk"), x.Kind.HasOrdinal())
	tx, err2 := model.ParseTxPk(r.take(model.PkSize, "tx_pk"))
	return birth, tx, errors.Join(err1, err2, r.end())
}

func appendHistoryRow(b []byte, m movement) []byte {
	return binary.AppendUvarint(binary.AppendUvarint(b, m.received), m.sent)
}

func parseHistoryRow(b []byte) (m movement, err error) {
	r := reader{b: b}
	m = movement{received: r.uvarint("received"), sent: r.uvarint("sent")}
	return m, r.end()
}

// maxTextSize is how many bytes of a value's text keys have: whoever asks for a beginning that is longer is told so.
const maxTextSize = 255

// appendTextKey makes a key that stands where the value's text does in the order of texts; encoded is the birth.
func appendTextKey(b []byte, x *model.Index, value, encoded []byte) []byte {
	text := x.Format(value)
	b = append(b, text[:min(len(text), maxTextSize)]...)
	return append(append(b, 0), encoded...)
}

func parseTextKey(x *index, b []byte) (text []byte, birth model.BirthPk, err error) {
	size := pointerSize(x.Kind.HasOrdinal())
	if at := len(b) - size - 1; at < 0 || b[at] != 0 {
		return nil, birth, fmt.Errorf("%w: no text and birth_pk", errRow)
	}
	birth, err = model.ParseBirthPk(b[len(b)-size:], x.Kind.HasOrdinal())
	return b[:len(b)-size-1], birth, err
}

// account is how a value stands.
type account struct {
	received, sent        wide
	outputs, unspent, txs int64
}

// movement is what a value received and sent in one transaction.
type movement struct {
	tx             model.TxPk
	received, sent uint64
}

// assetHolding is an asset at one holder.
type assetHolding struct {
	asset  model.AssetBirthPk
	holder model.BirthPk
}

func (a *account) apply(c *account) bool {
	a.received, a.sent = a.received.plus(c.received), a.sent.plus(c.sent)
	a.outputs, a.unspent, a.txs = a.outputs+c.outputs, a.unspent+c.unspent, a.txs+c.txs
	return !a.received.negative() && !a.sent.negative() && a.outputs >= 0 && a.unspent >= 0 && a.txs >= 0
}
