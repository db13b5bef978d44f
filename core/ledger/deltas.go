package ledger

import (
	"cmp"
	"fmt"
	"slices"

	"birthmark/core/schema"
	"birthmark/model"
	"birthmark/storage"
)

// Deltas are the changes that added or removed blocks make to the accounts of one index. They are collected for a whole
// write and summed at its end, as [AssetDeltas] are.
type Deltas struct {
	Index    *schema.Index
	Features schema.Features // the families to write
	Sign     int64           // 1: blocks are added, -1: they are removed
	Outputs  []OutputDelta
	assets   []assetDelta
}

// OutputDelta is an output of a value that a transaction creates or spends.
type OutputDelta struct {
	birth model.BirthPk
	tx    model.TxPk
	utxo  model.UtxoPk
	value uint64
	spent bool
}

// assetDelta is an asset that a value receives or sends.
type assetDelta struct {
	birth  model.BirthPk
	asset  model.AssetBirthPk
	amount uint64
	sign   int64
}

// NewDeltas returns Deltas for each index with accounts.
func NewDeltas(c *schema.Layout, sign int64) []*Deltas {
	var ts []*Deltas
	for _, x := range c.Indexes {
		if x.Active&schema.AccountFeatures != 0 {
			ts = append(ts, &Deltas{Index: x, Features: x.Active, Sign: sign})
		}
	}
	return ts
}

// DeltasOf returns the Deltas of an index; nil if it has no accounts.
func DeltasOf(ts []*Deltas, x *schema.Index) *Deltas {
	for _, y := range ts {
		if y.Index == x {
			return y
		}
	}
	return nil
}

func (y *Deltas) AddOutput(birth model.BirthPk, utxo model.UtxoPk, value uint64) {
	y.Outputs = append(y.Outputs, OutputDelta{birth, utxo.Tx(), utxo, value, false})
}

func (y *Deltas) AddSpend(birth model.BirthPk, tx model.TxPk, utxo model.UtxoPk, value uint64) {
	y.Outputs = append(y.Outputs, OutputDelta{birth, tx, utxo, value, true})
}

// AddAssets adds the assets of an output that a transaction creates (1) or spends (-1).
func (y *Deltas) AddAssets(birth model.BirthPk, entries []schema.AssetEntry, sign int64) {
	if !y.Features.Has(schema.FeatureBalance) {
		return
	}
	for _, e := range entries {
		y.assets = append(y.assets, assetDelta{birth, e.Birth, e.Amount, sign * y.Sign})
	}
}

// Sort sorts the deltas in the order of the rows: by value, then by transaction, spends before outputs. They were added
// by transaction.
func (y *Deltas) Sort() {
	if y.Sign < 0 {
		slices.SortFunc(y.Outputs, func(a, b OutputDelta) int { return cmp.Or(cmp.Compare(a.tx, b.tx), cmp.Compare(a.utxo, b.utxo)) })
	}
	y.Outputs = byBirth(y.Outputs)
	slices.SortFunc(y.assets, func(a, b assetDelta) int {
		return cmp.Or(schema.CompareBirths(a.birth, b.birth), schema.CompareAssetBirths(a.asset, b.asset))
	})
}

// birthKey is the sort key of a delta, 16 bytes instead of the 48 of a delta.
type birthKey struct {
	birth   uint64
	at      uint32
	ordinal uint16
}

// byBirth sorts deltas by birth, stable: a radix sort, a byte at a time.
func byBirth(moves []OutputDelta) []OutputDelta {
	keys, to := make([]birthKey, len(moves)), make([]birthKey, len(moves))
	for i := range moves {
		keys[i] = birthKey{uint64(moves[i].birth.Utxo), uint32(i), moves[i].birth.Ordinal}
	}
	pass := func(digit func(k *birthKey) byte) {
		var starts [257]int
		for i := range keys {
			starts[int(digit(&keys[i]))+1]++
		}
		for d := range 256 {
			if starts[d+1] == len(keys) {
				return // all are equal
			}
			starts[d+1] += starts[d]
		}
		for i := range keys {
			d := digit(&keys[i])
			to[starts[d]] = keys[i]
			starts[d]++
		}
		keys, to = to, keys
	}
	for shift := 0; shift < 16; shift += 8 {
		pass(func(k *birthKey) byte { return byte(k.ordinal >> shift) })
	}
	for shift := 0; shift < 64; shift += 8 {
		pass(func(k *birthKey) byte { return byte(k.birth >> shift) })
	}
	sorted := make([]OutputDelta, len(moves))
	for i := range keys {
		sorted[i] = moves[keys[i].at]
	}
	return sorted
}

type accountSum struct {
	birth model.BirthPk
	schema.Account
}

// ApplyDeltas applies sorted Deltas to the stored rows.
func (s *Applier) ApplyDeltas(y *Deltas) error {
	var changed []accountSum
	for len(y.Outputs) > 0 {
		n := 1
		for n < len(y.Outputs) && y.Outputs[n].birth == y.Outputs[0].birth {
			n++
		}
		changed = append(changed, s.value(y, y.Outputs[:n]))
		if y.Outputs = y.Outputs[n:]; len(changed) == BatchRows || len(y.Outputs) == 0 {
			if err := s.accounts(y, changed); err != nil {
				return fmt.Errorf("index %s: %w", y.Index.Name, err)
			}
			changed = changed[:0]
		}
	}
	if err := s.heldAssets(y); err != nil {
		return fmt.Errorf("index %s: %w", y.Index.Name, err)
	}
	return nil
}

// change adds a row if blocks are added, and deletes it if they are removed.
func (s *Applier) change(f storage.Family, sign int64, key, value []byte) {
	if sign > 0 {
		s.Batch.Put(f, key, value)
	} else {
		s.Batch.Delete(f, key)
	}
	s.Totals.Rows[f] += uint64(sign)
}

// value writes history and unspent rows of one value, and sums up its account.
func (s *Applier) value(y *Deltas, moves []OutputDelta) accountSum {
	x := y.Index
	c := accountSum{birth: moves[0].birth}
	for rest := moves; len(rest) > 0; {
		tx := rest[0].tx
		var m schema.TxAmounts
		for ; len(rest) > 0 && rest[0].tx == tx; rest = rest[1:] {
			if rest[0].spent {
				m.Sent += rest[0].value
				c.Sent = c.Sent.Add(schema.Int128Of(rest[0].value, y.Sign))
				c.Unspent -= y.Sign
				continue
			}
			m.Received += rest[0].value
			c.Received = c.Received.Add(schema.Int128Of(rest[0].value, y.Sign))
			c.Outputs += y.Sign
			c.Unspent += y.Sign
		}
		c.Txs += y.Sign
		if y.Features.Has(schema.FeatureHistory) {
			s.key = schema.AppendHistoryKey(s.key[:0], x, c.birth, tx)
			s.row = schema.AppendHistoryRow(s.row[:0], m)
			s.change(x.Family(schema.IndexHistory), y.Sign, s.key, s.row)
		}
	}
	if y.Features.Has(schema.FeatureUnspent) {
		s.unspent(y, moves)
	}
	return c
}

// unspent adds the outputs of one value that become unspent, and deletes the ones that become spent. Outputs that the
// same blocks create and spend change nothing.
func (s *Applier) unspent(y *Deltas, moves []OutputDelta) {
	f := y.Index.Family(schema.IndexUnspent)
	here := make([]bool, len(moves)) // created and spent by the same blocks
	for i := range moves {
		m := &moves[i]
		if !m.spent {
			continue
		}
		made, found := slices.BinarySearchFunc(moves, m.utxo, func(o OutputDelta, utxo model.UtxoPk) int {
			return cmp.Or(cmp.Compare(o.tx, utxo.Tx()), cmp.Compare(o.utxo, utxo))
		})
		if found {
			here[made] = true
			continue
		}
		s.key = schema.AppendRelationKey(s.key[:0], y.Index, m.birth, m.utxo)
		s.change(f, -y.Sign, s.key, nil)
	}
	for i := range moves {
		if m := &moves[i]; !m.spent && !here[i] {
			s.key = schema.AppendRelationKey(s.key[:0], y.Index, m.birth, m.utxo)
			s.change(f, y.Sign, s.key, nil)
		}
	}
}

// accounts writes the changed balances.
func (s *Applier) accounts(y *Deltas, changed []accountSum) error {
	if !y.Features.Has(schema.FeatureBalance) {
		return nil
	}
	x := y.Index
	f := x.Family(schema.IndexBalance)
	keys := make([][]byte, len(changed))
	for i := range changed {
		keys[i] = changed[i].birth.AppendTo(nil, x.Kind.HasOrdinal())
	}
	rows, err := s.stored(f, keys, func(i int) bool { return changed[i].birth.Utxo >= s.NewFrom })
	if err != nil {
		return err
	}
	for i := range changed {
		var now schema.Account
		if rows[i] != nil {
			if now, err = schema.ParseAccountRow(rows[i]); err != nil {
				return fmt.Errorf("balance of the value born at %v: %w", changed[i].birth, err)
			}
		}
		if !now.Apply(&changed[i].Account) {
			return fmt.Errorf("the balance of the value born at %v would become negative: run check", changed[i].birth)
		}
		if now.Outputs == 0 {
			s.write(f, keys[i], rows[i], nil)
		} else {
			s.row = schema.AppendAccountRow(s.row[:0], &now)
			s.write(f, keys[i], rows[i], s.row)
		}
	}
	return nil
}

// heldAssets writes the changed asset amounts of values.
func (s *Applier) heldAssets(y *Deltas) error {
	var changed []assetSum
	for i := range y.assets {
		m := &y.assets[i]
		if n := len(changed); n == 0 || changed[n-1].birth != m.birth || changed[n-1].asset != m.asset {
			changed = append(changed, assetSum{birth: m.birth, asset: m.asset})
		}
		last := &changed[len(changed)-1]
		last.amount = last.amount.Add(schema.Int128Of(m.amount, m.sign))
	}
	changed = slices.DeleteFunc(changed, func(c assetSum) bool { return c.amount == schema.Int128{} })
	for part := range slices.Chunk(changed, BatchRows) {
		if err := s.heldAmounts(y.Index, part); err != nil {
			return err
		}
	}
	return nil
}

// assetSum is the net change of an asset of a value.
type assetSum struct {
	birth  model.BirthPk
	asset  model.AssetBirthPk
	amount schema.Int128
}

func (s *Applier) heldAmounts(x *schema.Index, changed []assetSum) error {
	f := x.Family(schema.IndexHeld)
	keys := make([][]byte, len(changed))
	for i := range changed {
		keys[i] = schema.AppendHeldKey(nil, x, changed[i].birth, changed[i].asset)
	}
	rows, err := s.stored(f, keys, func(i int) bool { return changed[i].birth.Utxo >= s.NewFrom || changed[i].asset.Utxo >= s.NewFrom })
	if err != nil {
		return err
	}
	for i := range changed {
		c := &changed[i]
		var amount schema.Int128
		if rows[i] != nil {
			if amount, err = schema.ParseHoldingRow(rows[i]); err != nil {
				return fmt.Errorf("what the value born at %v holds of the asset born at %v: %w", c.birth, c.asset, err)
			}
		}
		amount = amount.Add(c.amount)
		switch {
		case amount.Negative():
			return fmt.Errorf("the value born at %v would hold less than nothing of the asset born at %v: run check", c.birth, c.asset)
		case amount == schema.Int128{}:
			s.write(f, keys[i], rows[i], nil)
		default:
			s.write(f, keys[i], rows[i], schema.AppendHoldingRow(nil, amount))
		}
	}
	return nil
}
