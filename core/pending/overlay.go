package pending

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"hash/maphash"
	"iter"
	"slices"

	"github.com/tidwall/btree"

	"birthmark/core/meter"
	"birthmark/model"
)

// State is the state of an overlay.
type State uint8

const (
	None    State = iota // the source has no mempool, or it is not open yet
	Filling              // transactions of the source are missing: it is being read, or the tip is far from the source's
	Old                  // the source has not answered for 30 seconds
	Partial              // transactions with low fee rates were left out to save memory
	Live
)

var stateNames = [...]string{"none", "filling", "old", "partial", "live"}

// String returns the state as written in answers.
func (s State) String() string { return stateNames[s] }

// Overlay is a set of unconfirmed transactions. It is immutable and safe for concurrent use.
type Overlay struct {
	tables
	state   State
	filled  bool // the source was read since the overlay was emptied
	indexes []string
	wanted  int
	shared  *Overlay // see Shared; nil: this one
}

// Info are totals of an overlay.
type Info struct {
	State  State
	Count  int    // transactions
	Wanted int    // transactions of the source; 0: unknown
	Size   uint64 // bytes of the serialized transactions
	VSize  uint64
	Fees   uint64 // in the chain's smallest unit
	Memory int64  // bytes of memory that the overlay needs, estimated
}

// tables are the tables of an overlay. Their copies share unchanged nodes.
type tables struct {
	txs       *btree.BTreeG[txRow]
	spends    *btree.BTreeG[spendRow]
	values    *btree.BTreeG[valueRow]
	assets    *btree.BTreeG[valueRow] // without assets empty
	arrivals  *btree.BTreeG[*Tx]
	rates     *btree.BTreeG[rateRow]
	ancestors *btree.BTreeG[ancestorsRow] // of transactions with an unconfirmed parent only
	fates     *btree.BTreeG[fateRow]
	replaced  *btree.BTreeG[replacedRow] // the fates of transactions that were replaced

	size, vsize, fees uint64
	memory            int64

	meter *meter.Meter // of the request that walks; nil: walks are not counted
}

// A row with a nil pointer precedes the rows with the same hash prefix: it is where a search starts.

type txRow struct {
	prefix uint64
	tx     *Tx
}

type spendRow struct {
	prefix uint64 // of the spent transaction
	in     *Input
}

type valueRow struct {
	hash uint64 // of the index and the value, or of the asset
	tx   *Tx
}

type rateRow struct {
	rate float64
	tx   *Tx
}

// Ancestors are a transaction and its unconfirmed ancestors.
type Ancestors struct {
	Count int    // 1: all parents are confirmed
	VSize uint64 // of all
	Fee   uint64 // of all
	Few   bool   // some are not counted: a transaction with more than 500 ancestors has several unconfirmed parents
}

// only returns a transaction without ancestors.
func only(tx *Tx) Ancestors { return Ancestors{Count: 1, VSize: uint64(tx.VSize), Fee: tx.Fee} }

func (a *Ancestors) add(b Ancestors) {
	a.Count, a.VSize, a.Fee, a.Few = a.Count+b.Count, a.VSize+b.VSize, a.Fee+b.Fee, a.Few || b.Few
}

type ancestorsRow struct {
	prefix uint64
	tx     *Tx
	Ancestors
}

// Reason is why a transaction left the overlay.
type Reason uint8

const (
	Confirmed Reason = iota // a block has it
	Replaced                // a transaction that spends one of its inputs arrived: it or an ancestor was replaced
	Conflict                // a block has a transaction that spends one of its inputs, or one of an ancestor
	Dropped                 // the source no longer has it
	Evicted                 // it was left out to save memory
	Changed                 // a block changed its derived assets, or those of an ancestor: it is back with others
)

var reasonNames = [...]string{"confirmed", "replaced", "conflict", "dropped", "evicted", "changed"}

// String returns the reason as written in answers.
func (r Reason) String() string { return reasonNames[r] }

// Fate is how a transaction left the overlay.
type Fate struct {
	ID     model.Hash
	Reason Reason
	By     model.Hash  // of Replaced: the transaction that arrived
	Block  model.Point // of Confirmed and Conflict
	At     int64       // Unix seconds

	Fee      uint64  // of Replaced, in the chain's smallest unit
	Rate     float64 // of Replaced: its fee per virtual byte
	FeeKnown bool    // of Replaced
}

type fateRow struct {
	prefix uint64
	*Fate
}

type replacedRow struct {
	prefix uint64 // of the transaction that arrived
	*Fate
}

func prefixOf(id *model.Hash) uint64 { return binary.BigEndian.Uint64(id[:]) }

func newTables() tables {
	o := btree.Options{NoLocks: true}
	id := func(a, b *Tx) bool {
		return a == nil && b != nil || a != nil && b != nil && bytes.Compare(a.ID[:], b.ID[:]) < 0
	}
	return tables{
		txs: btree.NewBTreeGOptions(func(a, b txRow) bool {
			return a.prefix < b.prefix || a.prefix == b.prefix && id(a.tx, b.tx)
		}, o),
		spends: btree.NewBTreeGOptions(func(a, b spendRow) bool {
			return a.prefix < b.prefix || a.prefix == b.prefix && lessInput(a.in, b.in)
		}, o),
		values:   btree.NewBTreeGOptions(lessValue, o),
		assets:   btree.NewBTreeGOptions(lessValue, o),
		arrivals: btree.NewBTreeGOptions(func(a, b *Tx) bool { return a.Arrival < b.Arrival }, o),
		rates: btree.NewBTreeGOptions(func(a, b rateRow) bool {
			return a.rate > b.rate || a.rate == b.rate && a.tx.Arrival < b.tx.Arrival
		}, o),
		ancestors: btree.NewBTreeGOptions(func(a, b ancestorsRow) bool {
			return a.prefix < b.prefix || a.prefix == b.prefix && id(a.tx, b.tx)
		}, o),
		fates: btree.NewBTreeGOptions(func(a, b fateRow) bool {
			return a.prefix < b.prefix ||
				a.prefix == b.prefix && (a.Fate == nil && b.Fate != nil ||
					a.Fate != nil && b.Fate != nil && bytes.Compare(a.ID[:], b.ID[:]) < 0)
		}, o),
		replaced: btree.NewBTreeGOptions(func(a, b replacedRow) bool {
			return a.prefix < b.prefix || a.prefix == b.prefix && lessReplaced(a.Fate, b.Fate)
		}, o),
	}
}

// lessReplaced sorts by the transaction that arrived, then by time.
func lessReplaced(a, b *Fate) bool {
	if a == nil || b == nil {
		return a == nil && b != nil
	}
	return cmp.Or(bytes.Compare(a.By[:], b.By[:]), cmp.Compare(a.At, b.At), bytes.Compare(a.ID[:], b.ID[:])) < 0
}

func lessInput(a, b *Input) bool {
	switch {
	case a == nil || b == nil:
		return a == nil && b != nil
	case a.Outpoint.Tx != b.Outpoint.Tx:
		return bytes.Compare(a.Outpoint.Tx[:], b.Outpoint.Tx[:]) < 0
	}
	return a.Outpoint.Index < b.Outpoint.Index
}

func lessValue(a, b valueRow) bool {
	switch {
	case a.hash != b.hash:
		return a.hash < b.hash
	case a.tx == nil || b.tx == nil:
		return a.tx == nil && b.tx != nil
	}
	return a.tx.Arrival < b.tx.Arrival
}

// copy returns a copy that shares all nodes until one of the two is changed.
func (t *tables) copy() tables {
	c := *t
	c.txs, c.spends, c.values, c.assets = t.txs.Copy(), t.spends.Copy(), t.values.Copy(), t.assets.Copy()
	c.arrivals, c.rates, c.ancestors = t.arrivals.Copy(), t.rates.Copy(), t.ancestors.Copy()
	c.fates, c.replaced = t.fates.Copy(), t.replaced.Copy()
	return c
}

var valueSeed = maphash.MakeSeed()

func hashOfValue(index int, value []byte) uint64 {
	return maphash.Bytes(valueSeed, value) + uint64(index)*0x9e3779b97f4a7c15
}

// Info returns the totals of the overlay.
func (o *Overlay) Info() Info {
	return Info{o.state, o.Count(), o.wanted, o.size, o.vsize, o.fees, o.memory}
}

// State returns the state of the overlay.
func (o *Overlay) State() State { return o.state }

// Count returns the number of transactions.
func (t *tables) Count() int { return t.arrivals.Len() }

// Indexes returns the names of the indexes whose values the transactions have. Methods identify an index by its
// position in this list.
func (o *Overlay) Indexes() []string { return o.indexes }

// Index returns the position of an index in [Overlay.Indexes]; -1 if the transactions do not have its values.
func (o *Overlay) Index(name string) int {
	for i, x := range o.indexes {
		if x == name {
			return i
		}
	}
	return -1
}

// Contains reports whether a transaction is in the overlay, which can be nil.
func (o *Overlay) Contains(id model.Hash) bool { return o != nil && o.Tx(id) != nil }

// Tx returns a transaction; nil if it is not in the overlay.
func (t *tables) Tx(id model.Hash) (found *Tx) {
	prefix := prefixOf(&id)
	t.txs.Ascend(txRow{prefix: prefix}, func(r txRow) bool {
		if r.prefix == prefix && r.tx.ID == id {
			found = r.tx
		}
		return found == nil && r.prefix == prefix
	})
	return found
}

// Spender returns the input that spends an output, confirmed or not; nil if no unconfirmed transaction spends it.
func (t *tables) Spender(out Outpoint) *Input {
	r, _ := t.spends.Get(spendRow{prefixOf(&out.Tx), &Input{Outpoint: out}})
	return r.in
}

// Spenders yields the inputs that spend outputs of a transaction, confirmed or not, in the order of the outputs.
func (t *tables) Spenders(id model.Hash) iter.Seq[*Input] {
	return func(yield func(*Input) bool) {
		prefix := prefixOf(&id)
		t.spends.Ascend(spendRow{prefix: prefix}, func(r spendRow) bool {
			return r.prefix == prefix && (r.in.Outpoint.Tx != id || yield(r.in))
		})
	}
}

// Value yields the transactions that pay to a value of an index or spend from it, in the order of arrival. The index is
// a position in [Overlay.Indexes].
func (t *tables) Value(index int, value []byte) iter.Seq[*Tx] { return t.ValueAfter(index, value, 0) }

// ValueAfter yields those of [Overlay.Value] that arrived after number after.
func (t *tables) ValueAfter(index int, value []byte, after uint64) iter.Seq[*Tx] {
	return t.counted(func(yield func(*Tx) bool) {
		hash := hashOfValue(index, value)
		t.values.Ascend(valueRow{hash, &Tx{Arrival: after + 1}}, func(r valueRow) bool {
			return r.hash == hash && (!r.tx.touches(index, value) || yield(r.tx))
		})
	})
}

// touches reports whether an input or output has a value.
func (t *Tx) touches(index int, value []byte) bool {
	for i := range t.outputs {
		if t.Output(i).Has(index, value) {
			return true
		}
	}
	for i := range t.inputs {
		if t.inputs[i].Spends().Has(index, value) {
			return true
		}
	}
	return false
}

// Asset yields the transactions whose inputs or outputs have an asset, in the order of arrival.
func (t *tables) Asset(id []byte) iter.Seq[*Tx] { return t.AssetAfter(id, 0) }

// AssetAfter yields those of [Overlay.Asset] that arrived after number after.
func (t *tables) AssetAfter(id []byte, after uint64) iter.Seq[*Tx] {
	return t.counted(func(yield func(*Tx) bool) {
		hash := hashOfValue(assetSpace, id)
		t.assets.Ascend(valueRow{hash, &Tx{Arrival: after + 1}}, func(r valueRow) bool {
			return r.hash == hash && (!r.tx.hasAsset(id) || yield(r.tx))
		})
	})
}

// assetSpace is the index of assets in hashes.
const assetSpace = -1

func (t *Tx) hasAsset(id []byte) (found bool) {
	t.each(func(o Output) {
		for _, a := range o.Assets() {
			found = found || string(a.ID) == string(id)
		}
	})
	return found
}

// each calls visit with all outputs, and with all outputs that the inputs spend.
func (t *Tx) each(visit func(Output)) {
	for i := range t.outputs {
		visit(t.Output(i))
	}
	for i := range t.inputs {
		visit(t.inputs[i].Spends())
	}
}

// Arrivals yields the transactions that arrived after number after, in the order of arrival.
func (t *tables) Arrivals(after uint64) iter.Seq[*Tx] {
	return t.counted(func(yield func(*Tx) bool) { t.arrivals.Ascend(&Tx{Arrival: after + 1}, yield) })
}

// LastArrival returns the number of the newest transaction; 0 if there are none.
func (t *tables) LastArrival() uint64 {
	if newest, ok := t.arrivals.Max(); ok {
		return newest.Arrival
	}
	return 0
}

// Newest yields the transactions in reverse order of arrival.
func (t *tables) Newest() iter.Seq[*Tx] {
	return t.counted(func(yield func(*Tx) bool) { t.arrivals.Reverse(yield) })
}

// ByRate yields the transactions by fee rate, highest first; those of one rate in the order of arrival. With a
// transaction it begins after that one, which need not be in the overlay.
func (t *tables) ByRate(after *Tx) iter.Seq[*Tx] {
	return t.counted(func(yield func(*Tx) bool) {
		if after == nil {
			t.rates.Scan(func(r rateRow) bool { return yield(r.tx) })
			return
		}
		t.rates.Ascend(rateRow{after.Rate(), after}, func(r rateRow) bool {
			return r.tx.Arrival == after.Arrival || yield(r.tx)
		})
	})
}

// Ancestors returns the totals of a transaction of the overlay and its unconfirmed ancestors.
func (t *tables) Ancestors(tx *Tx) Ancestors {
	if r, ok := t.ancestors.Get(ancestorsRow{prefix: prefixOf(&tx.ID), tx: tx}); ok {
		return r.Ancestors
	}
	return only(tx)
}

// UnconfirmedParent reports whether a transaction of the overlay spends an output of another one.
func (t *tables) UnconfirmedParent(tx *Tx) bool { return t.Ancestors(tx).Count > 1 }

// Gone returns how a transaction left the overlay; nil if it did not within the last day, or is not known.
func (t *tables) Gone(id model.Hash) (found *Fate) {
	prefix := prefixOf(&id)
	t.fates.Ascend(fateRow{prefix: prefix}, func(r fateRow) bool {
		if r.prefix == prefix && r.ID == id {
			found = r.Fate
		}
		return found == nil && r.prefix == prefix
	})
	return found
}

// ReplacedBy yields how the transactions left that a transaction replaced, within the last day, in the order of time.
func (t *tables) ReplacedBy(id model.Hash) iter.Seq[*Fate] {
	return func(yield func(*Fate) bool) {
		prefix := prefixOf(&id)
		t.replaced.Ascend(replacedRow{prefix: prefix}, func(r replacedRow) bool {
			return r.prefix == prefix && (r.By != id || yield(r.Fate))
		})
	}
}

// Replacements returns how the transactions left that a transaction replaced, directly or not, and how it and its
// replacements left: at most most, oldest first. more: there are others.
func (t *tables) Replacements(id model.Hash, most int) (list []*Fate, more bool) {
	seen := map[model.Hash]bool{id: true}
	add := func(f *Fate) bool {
		if more = len(list) == most; !more {
			list = append(list, f)
		}
		return !more
	}
	for wait := []model.Hash{id}; len(wait) > 0 && !more; wait = wait[1:] {
		for f := range t.ReplacedBy(wait[0]) {
			if seen[f.ID] {
				continue
			}
			if seen[f.ID] = true; !add(f) {
				break
			}
			wait = append(wait, f.ID)
		}
	}
	slices.Reverse(list)
	for next := t.Gone(id); next != nil && next.Reason == Replaced && add(next) && !seen[next.By]; next = t.Gone(next.By) {
		seen[next.By] = true
	}
	slices.SortStableFunc(list, func(a, b *Fate) int { return cmp.Compare(a.At, b.At) })
	return list, more
}
