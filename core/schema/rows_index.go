package schema

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"iter"

	"birthmark/model"
	"birthmark/storage"
)

// The families of one index. I in a name is a placeholder for the name of the index. A birth_pk has an ordinal, and 10
// bytes instead of 8, if the index is many-valued.

var valueFamily = declare(IndexValue, "I_by_birth_pk", storage.Ordered, incompressible,
	"birth_pk", "value of I", "a value of index I")

// The codec of the keys is in prefix.go.
var birthFamily = declare(IndexBirth, "birth_pk_by_I", storage.Hashed, incompressible|present,
	"prefix of value|birth_pk", "", "the birth of a value; I_by_birth_pk has the full value to compare")

var relationsFamily = declare(IndexRelations, "I_relations", storage.Grouped, deferred,
	"birth_pk|utxo_pk", "", "every occurrence of a value after its birth; one-to-one indexes have none")

var unspentFamily = declare(IndexUnspent, "I_unspent", storage.Grouped, 0,
	"birth_pk|utxo_pk", "", "option unspent: the unspent outputs of a value, including its birth")

// RelationRow is a row of both families: an output that contains a value.
type RelationRow struct {
	Birth model.BirthPk
	At    model.UtxoPk
}

func AppendRelationKey(b []byte, x *Index, birth model.BirthPk, at model.UtxoPk) []byte {
	return at.AppendTo(birth.AppendTo(b, x.Kind.HasOrdinal()))
}

func (x *Index) ParseRelationRow(key, value []byte) (RelationRow, error) {
	r := reader{b: key}
	row := RelationRow{r.birth(x.Kind.HasOrdinal()), r.utxo()}
	return row, r.keyOnly(value)
}

var balanceFamily = declare(IndexBalance, "I_balance_by_birth_pk", storage.Lookup, present|deferred,
	"birth_pk", "uvarint outputs|uvarint unspent|uvarint txs|length|received|sent",
	"option balance: the account of a value; txs counts the transactions that pay to it or spend from it, "+
		"length is one byte, received and sent are big-endian without leading zeros")

// Account is the balance of a value.
type Account struct {
	Received, Sent        Int128
	Outputs, Unspent, Txs int64
}

// Balance is the amount in the unspent outputs.
func (a *Account) Balance() Int128 { return a.Received.Sub(a.Sent) }

// AppendAccountRow appends a row of sums: see [storage.SumsBatch]. A negative number of unspent outputs, in a change,
// is encoded modulo 2^64; the other numbers must not be negative.
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
	count := func(what string) int64 { return int64(r.atMost(1<<63-1, what)) }
	a.Outputs, a.Unspent, a.Txs = count("outputs"), count("unspent outputs"), count("transactions")
	received := r.take(int(r.take(1, "length of received")[0]), "received")
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

// ReceivedLess reports whether the value of an account row received less than an amount, so that its balance is less, too.
// It is false for a damaged row.
func ReceivedLess(b []byte, amount Int128) bool {
	for range 3 {
		_, n := binary.Uvarint(b)
		if n <= 0 {
			return false
		}
		b = b[n:]
	}
	if len(b) == 0 || len(b)-1 < int(b[0]) || b[0] > 0 && b[1] == 0 {
		return false
	}
	if size := amount.size(); !amount.Negative() && int(b[0]) != size {
		return int(b[0]) < size
	}
	received, err := ParseInt128(b[1 : 1+b[0]])
	return err == nil && received.Cmp(amount) < 0
}

// Apply adds the changes c. It returns false if a sum is negative.
func (a *Account) Apply(c *Account) bool {
	a.Received, a.Sent = a.Received.Add(c.Received), a.Sent.Add(c.Sent)
	a.Outputs, a.Unspent, a.Txs = a.Outputs+c.Outputs, a.Unspent+c.Unspent, a.Txs+c.Txs
	return !a.Received.Negative() && !a.Sent.Negative() && a.Outputs >= 0 && a.Unspent >= 0 && a.Txs >= 0
}

// The list of the largest balances depends on when it was built, so that the chain does not determine its rows. Other
// rows of the family, by their first byte, are its state: see RichestState.
var richestFamily = declare(IndexRichest, "I_richest", storage.Grouped, 0,
	"1|inverted_balance|birth_pk", "uvarint unspent",
	"option balance: the values with the largest balances, in descending order, and all ones of the balance less the "+
		"balance as key. The state of the list is row `0`, `checksum|uvarint count|last key`: its number of rows and the last "+
		"key that belongs to it, none for all; nothing after the checksum, the CRC-32C of the rest: there is no exact list. "+
		"Row `2`: the list is being built, and a row `3|birth_pk` is a value that changed meanwhile")

const (
	richestState = iota
	richestRow
	richestBuilding
	richestChanged
)

// The keys of the rows that describe the list.
var (
	RichestState    = []byte{richestState}
	RichestBuilding = []byte{richestBuilding}
)

// RichestList is the state of the list of the largest balances of an index. The list has every value with unspent
// outputs whose key is not after Last.
type RichestList struct {
	Count uint64 // rows
	Last  []byte // empty: the list has every value with unspent outputs
}

// Whole reports whether the list has every value with unspent outputs.
func (l *RichestList) Whole() bool { return len(l.Last) == 0 }

// Has reports whether a key of [AppendRichestKey] belongs to the list.
func (l *RichestList) Has(key []byte) bool { return l.Whole() || bytes.Compare(key, l.Last) <= 0 }

// AppendRichestState appends the value of [RichestState]; nil: there is no exact list.
func AppendRichestState(b []byte, l *RichestList) []byte {
	var rest []byte
	if l != nil {
		rest = append(binary.AppendUvarint(rest, l.Count), l.Last...)
	}
	return append(binary.BigEndian.AppendUint32(b, crc32.Checksum(rest, castagnoli)), rest...)
}

// ParseRichestState decodes the value of [RichestState], nil for no row. The result is nil if there is no exact list.
func ParseRichestState(b []byte) (*RichestList, error) {
	if b == nil {
		return nil, nil
	}
	r := reader{b: b}
	if sum := r.take(crc32.Size, "checksum"); binary.BigEndian.Uint32(sum) != crc32.Checksum(r.b, castagnoli) {
		r.fail("wrong checksum")
	}
	if r.err != nil || len(r.b) == 0 {
		return nil, r.err
	}
	l := &RichestList{Count: r.uvarint("count")}
	l.Last = r.b
	return l, r.err
}

// ReadRichest reads the state of the list; nil: there is no exact list.
func (x *Index) ReadRichest(r storage.Reader) (*RichestList, error) {
	b, err := find(r, x.Family(IndexRichest), RichestState)
	if err != nil {
		return nil, err
	}
	l, err := ParseRichestState(b)
	if err != nil {
		err = fmt.Errorf("the list of the largest balances of index %s: %w", x.Name, err)
	}
	return l, err
}

// AppendRichestKey appends the key of a value with a balance. The order of keys is that of the list: by balance, the
// highest first, then by birth.
func AppendRichestKey(b []byte, x *Index, balance Int128, birth model.BirthPk) []byte {
	b = append(b, richestRow)
	b = binary.BigEndian.AppendUint64(b, ^uint64(balance.Hi))
	b = binary.BigEndian.AppendUint64(b, ^balance.Lo)
	return birth.AppendTo(b, x.Kind.HasOrdinal())
}

func AppendRichestRow(b []byte, unspent uint64) []byte { return binary.AppendUvarint(b, unspent) }

// RichestRow is a value of the list.
type RichestRow struct {
	Birth   model.BirthPk
	Balance Int128
	Unspent uint64
}

func (x *Index) ParseRichestRow(key, value []byte) (RichestRow, error) {
	k, v := reader{b: key}, reader{b: value}
	if kind := k.take(1, "kind"); kind[0] != richestRow {
		k.fail("expected a row of a value")
	}
	high, low := k.take(8, "balance"), k.take(8, "balance")
	row := RichestRow{k.birth(x.Kind.HasOrdinal()),
		Int128{Hi: int64(^binary.BigEndian.Uint64(high)), Lo: ^binary.BigEndian.Uint64(low)}, v.uvarint("unspent outputs")}
	return row, both(&k, &v)
}

// RichestRows returns the range of the keys of the list.
func RichestRows() (from, to []byte) { return []byte{richestRow}, []byte{richestRow + 1} }

// RichestChanges returns the range of the keys of [AppendRichestChanged].
func RichestChanges() (from, to []byte) { return []byte{richestChanged}, []byte{richestChanged + 1} }

// AppendRichestChanged appends the key of a value that changed while the list is being built.
func AppendRichestChanged(b []byte, x *Index, birth model.BirthPk) []byte {
	return birth.AppendTo(append(b, richestChanged), x.Kind.HasOrdinal())
}

// ParseRichestOther parses a row of the family that is not a value of the list.
func (x *Index) ParseRichestOther(key, value []byte) error {
	switch {
	case bytes.Equal(key, RichestState):
		_, err := ParseRichestState(value)
		return err
	case bytes.Equal(key, RichestBuilding):
		k := reader{}
		return k.keyOnly(value)
	case len(key) > 0 && key[0] == richestChanged:
		_, err := x.ParseRichestChanged(key)
		k := reader{err: err}
		return k.keyOnly(value)
	}
	return fmt.Errorf("%w: unknown kind", ErrRow)
}

// ParseRichestChanged returns the birth of such a key.
func (x *Index) ParseRichestChanged(key []byte) (model.BirthPk, error) {
	k := reader{b: key}
	k.take(1, "kind")
	birth := k.birth(x.Kind.HasOrdinal())
	return birth, k.end()
}

var heldFamily = declare(IndexHeld, "I_held_assets", storage.Lookup, present,
	"birth_pk|asset_birth_pk", "amount", "option balance: the amount of an asset in the unspent outputs of a value")

// HeldRow is the amount of an asset that a value holds.
type HeldRow struct {
	Birth  model.BirthPk
	Asset  model.AssetBirthPk
	Amount model.Uint128
}

func AppendHeldKey(b []byte, x *Index, birth model.BirthPk, asset model.AssetBirthPk) []byte {
	return asset.AppendTo(birth.AppendTo(b, x.Kind.HasOrdinal()))
}

func (x *Index) ParseHeldRow(key, value []byte) (HeldRow, error) {
	r := reader{b: key}
	row := HeldRow{Birth: r.birth(x.Kind.HasOrdinal()), Asset: r.assetBirth()}
	if r.end() == nil {
		row.Amount, r.err = ParseHolding(value)
	}
	return row, r.err
}

var historyFamily = declare(IndexHistory, "I_history", storage.Grouped, deferred,
	"birth_pk|tx_pk", "uvarint received|uvarint sent",
	"option history: a transaction that pays to a value or spends from it, and the amounts")

// HistoryRow has the amounts that a value received and sent in one transaction.
type HistoryRow struct {
	Birth model.BirthPk
	TxAmounts
}

// TxAmounts are the amounts that a value received and sent in one transaction.
type TxAmounts struct {
	Tx             model.TxPk
	Received, Sent uint64
}

func AppendHistoryKey(b []byte, x *Index, birth model.BirthPk, tx model.TxPk) []byte {
	return tx.AppendTo(birth.AppendTo(b, x.Kind.HasOrdinal()))
}

func AppendHistoryRow(b []byte, m TxAmounts) []byte {
	return binary.AppendUvarint(binary.AppendUvarint(b, m.Received), m.Sent)
}

func (x *Index) ParseHistoryRow(key, value []byte) (HistoryRow, error) {
	k, v := reader{b: key}, reader{b: value}
	row := HistoryRow{k.birth(x.Kind.HasOrdinal()), TxAmounts{k.tx(), v.uvarint("received"), v.uvarint("sent")}}
	return row, both(&k, &v)
}

// The beginning of a text does not determine a range of stored values: base 58 is one large number with a checksum.
// Therefore texts have a family of their own.
var textFamily = declare(IndexText, "I_texts", storage.Grouped, 0,
	"text|0|birth_pk", "", "option prefix: the text of a value, at most its first 255 bytes")

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

var blocksFamily = declare(IndexBlocks, "I_blocks", storage.Grouped, 0,
	"value of I|height_pk", "", "a block with a value; the only family of an index of blocks")

// AppendBlocksKey appends the key of the block at h with a value. A key of another value differs in its bytes or in its
// length.
func AppendBlocksKey(b, value []byte, h model.HeightPk) []byte {
	return h.AppendTo(append(b, value...))
}

// BlocksRow is a block with a value.
type BlocksRow struct {
	Value  []byte
	Height model.HeightPk
}

func ParseBlocksRow(key, value []byte) (row BlocksRow, err error) {
	r := reader{b: key}
	row.Value = r.take(max(1, len(key)-model.HeightPkSize), "value")
	row.Height = r.height()
	return row, r.keyOnly(value)
}

// BlocksKey returns the key of the block at h in an index of blocks; nil if the block has no value.
func (x *Index) BlocksKey(header []byte, h model.HeightPk) ([]byte, error) {
	value, err := x.OfHeader(header)
	if err != nil {
		return nil, fmt.Errorf("%s of the block at height %d: %w", x.Name, h, err)
	}
	if len(value) == 0 {
		return nil, nil
	}
	return AppendBlocksKey(nil, value, h), nil
}

// BlocksWith yields the heights of the blocks with a value, from <= height < to.
func (x *Index) BlocksWith(r storage.Reader, value []byte, from, to model.HeightPk, descending bool) iter.Seq2[model.HeightPk, error] {
	return func(yield func(model.HeightPk, error) bool) {
		first, end := AppendBlocksKey(nil, value, from), AppendBlocksKey(nil, value, to)
		for kv, err := range r.Scan(x.Family(IndexBlocks), first, end, descending) {
			if err == nil && len(kv.Key) != len(first) {
				continue // of a longer value
			}
			var row BlocksRow
			if err == nil {
				row, err = ParseBlocksRow(kv.Key, kv.Value)
			}
			if !yield(row.Height, err) || err != nil {
				return
			}
		}
	}
}
