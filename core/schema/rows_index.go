package schema

import (
	"encoding/binary"
	"errors"
	"fmt"

	"birthmark/model"
)

func AppendAccountRow(b []byte, a *Account) []byte {
	for _, n := range []int64{a.Outputs, a.Unspent, a.Txs} {
		b = binary.AppendUvarint(b, uint64(n))
	}
	at := len(b)
	b = a.Received.appendTo(append(b, 0))
	b[at] = byte(len(b) - at - 1)
	return a.Sent.appendTo(b)
}

func ParseAccountRow(b []byte) (a Account, err error) {
	r := reader{b: b}
	for _, n := range []struct {
		to   *int64
		what string
	}{{&a.Outputs, "outputs"}, {&a.Unspent, "unspent outputs"}, {&a.Txs, "transactions"}} {
		v := r.uvarint(n.what)
		if *n.to = int64(v); *n.to < 0 {
			r.fail(n.what + " is too large")
		}
	}
	size := int(r.take(1, "length of received")[0])
	received := r.take(size, "received")
	if a.Outputs == 0 {
		r.fail("no outputs")
	}
	if r.err != nil {
		return a, r.err
	}
	if a.Received, err = ParseInt128(received); err == nil {
		a.Sent, err = ParseInt128(r.b)
	}
	return a, err
}

func AppendHeldKey(b []byte, x *Index, birth model.BirthPk, asset model.AssetBirthPk) []byte {
	return asset.AppendTo(birth.AppendTo(b, x.Kind.HasOrdinal()))
}

func ParseHeldKey(x *Index, b []byte) (birth model.BirthPk, asset model.AssetBirthPk, err error) {
	r := reader{b: b}
	birth, err1 := model.ParseBirthPk(r.take(PointerSize(x.Kind.HasOrdinal()), "birth_pk"), x.Kind.HasOrdinal())
	asset, err2 := model.ParseAssetBirthPk(r.take(model.PkOrdinalSize, "asset_birth_pk"))
	return birth, asset, errors.Join(err1, err2, r.end())
}

func AppendHistoryKey(b []byte, x *Index, birth model.BirthPk, tx model.TxPk) []byte {
	return tx.AppendTo(birth.AppendTo(b, x.Kind.HasOrdinal()))
}

func ParseHistoryKey(x *Index, b []byte) (birth model.BirthPk, tx model.TxPk, err error) {
	r := reader{b: b}
	birth, err1 := model.ParseBirthPk(r.take(PointerSize(x.Kind.HasOrdinal()), "birth_pk"), x.Kind.HasOrdinal())
	tx, err2 := model.ParseTxPk(r.take(model.PkSize, "tx_pk"))
	return birth, tx, errors.Join(err1, err2, r.end())
}

func AppendHistoryRow(b []byte, m TxAmounts) []byte {
	return binary.AppendUvarint(binary.AppendUvarint(b, m.Received), m.Sent)
}

func ParseHistoryRow(b []byte) (m TxAmounts, err error) {
	r := reader{b: b}
	m = TxAmounts{Received: r.uvarint("received"), Sent: r.uvarint("sent")}
	return m, r.end()
}

// MaxTextSize is the maximum number of bytes of a value's text in a key. Queries reject longer prefixes.
const MaxTextSize = 255

// AppendTextKey appends a key that sorts by the text of the value; encoded is the birth.
func AppendTextKey(b []byte, x *model.Index, value, encoded []byte) []byte {
	text := x.Format(value)
	b = append(b, text[:min(len(text), MaxTextSize)]...)
	return append(append(b, 0), encoded...)
}

func ParseTextKey(x *Index, b []byte) (text []byte, birth model.BirthPk, err error) {
	size := PointerSize(x.Kind.HasOrdinal())
	if at := len(b) - size - 1; at < 0 || b[at] != 0 {
		return nil, birth, fmt.Errorf("%w: no text and birth_pk", ErrRow)
	}
	birth, err = model.ParseBirthPk(b[len(b)-size:], x.Kind.HasOrdinal())
	return b[:len(b)-size-1], birth, err
}

// Account is the balance of a value.
type Account struct {
	Received, Sent        Int128
	Outputs, Unspent, Txs int64
}

// TxAmounts are the amounts that a value received and sent in one transaction.
type TxAmounts struct {
	Tx             model.TxPk
	Received, Sent uint64
}

// HoldingKey identifies the holding of an asset by one holder.
type HoldingKey struct {
	Asset  model.AssetBirthPk
	Holder model.BirthPk
}

func (a *Account) Apply(c *Account) bool {
	a.Received, a.Sent = a.Received.Add(c.Received), a.Sent.Add(c.Sent)
	a.Outputs, a.Unspent, a.Txs = a.Outputs+c.Outputs, a.Unspent+c.Unspent, a.Txs+c.Txs
	return !a.Received.Negative() && !a.Sent.Negative() && a.Outputs >= 0 && a.Unspent >= 0 && a.Txs >= 0
}
