package ledger

import (
	"cmp"
	"fmt"
	"slices"

	"birthmark/core/schema"
	"birthmark/model"
	"birthmark/storage"
)

// Applier adds deltas to the stored rows.
type Applier struct {
	Reader storage.Reader
	Batch  storage.Batch
	Totals *schema.Totals
	// Values and assets born at NewFrom or later have no rows yet, so none are looked up.
	NewFrom model.UtxoPk

	key, row  []byte // of the current row
	spentHere []bool // of the current value, by delta: an output that the same blocks spend
}

// BatchRows is the number of rows that an Applier reads at once.
const BatchRows = 16 << 10

// Apply adds the changes of assets, and the sorted deltas of each index.
func (a *Applier) Apply(assets *AssetDeltas, indexes []*Deltas) error {
	if err := a.assets(assets); err != nil {
		return err
	}
	for _, d := range indexes {
		if err := a.ApplyDeltas(d); err != nil {
			return err
		}
	}
	return nil
}

// update replaces the row of each change. next appends the new row to b, or nothing to delete the row; row is the
// stored one, nil if there is none. key also reports whether the row cannot exist yet.
func update[C any](a *Applier, f storage.Family, changes []C, key func(*C) (key []byte, isNew bool),
	next func(c *C, b, row []byte) ([]byte, error)) error {
	for part := range slices.Chunk(changes, BatchRows) {
		keys, isNew := make([][]byte, len(part)), make([]bool, len(part))
		var lookups [][]byte
		for i := range part {
			if keys[i], isNew[i] = key(&part[i]); !isNew[i] {
				lookups = append(lookups, keys[i])
			}
		}
		found, err := a.Reader.GetMany(f, lookups)
		if err != nil {
			return err
		}
		for i := range part {
			var row []byte
			if !isNew[i] {
				row, found = found[0], found[1:]
			}
			if a.row, err = next(&part[i], a.row[:0], row); err != nil {
				return err
			}
			if row == nil {
				a.Totals.Rows[f]++
			}
			if len(a.row) > 0 {
				a.Batch.Put(f, keys[i], a.row)
			} else {
				a.Batch.Delete(f, keys[i])
				a.Totals.Rows[f]--
			}
		}
	}
	return nil
}

// parse decodes a stored sum; the zero value if there is none.
func parse[T any](row []byte, decode func([]byte) (T, error)) (sum T, err error) {
	if row != nil {
		sum, err = decode(row)
	}
	return sum, err
}

// invalid returns the error of a sum that cannot be parsed, or that becomes negative if err is nil.
func invalid(err error, sum string, args ...any) error {
	sum = fmt.Sprintf(sum, args...)
	if err == nil {
		return fmt.Errorf("%s would become negative: run check", sum)
	}
	return fmt.Errorf("%s: %w", sum, err)
}

// assets adds the changes of holdings and of the totals of assets.
func (a *Applier) assets(d *AssetDeltas) error {
	totals, holdings, err := d.sum()
	if err != nil {
		return err
	}
	last := 0 // the asset of the last holding: both are in the order of assets
	err = a.holdings(schema.FamilyHoldings, holdings, schema.AppendHoldingKey, func(h *holdingDelta, rows int) {
		for totals[last].asset != h.Asset {
			last++
		}
		totals[last].Holders += uint64(rows)
	})
	if err != nil {
		return err
	}
	return update(a, schema.FamilyAssetTotals, totals,
		func(d *totalsDelta) ([]byte, bool) { return d.asset.AppendTo(nil), d.asset.Utxo >= a.NewFrom },
		func(d *totalsDelta, b, row []byte) ([]byte, error) {
			t, err := parse(row, schema.ParseAssetTotalsRow)
			if err != nil || !d.addTo(&t) {
				return b, invalid(err, "the totals of the asset born at %v", d.asset)
			}
			if t.Outputs == 0 {
				return b, nil
			}
			return schema.AppendAssetTotalsRow(b, &t), nil
		})
}

// holdings adds changes of the amounts that values hold of assets. It calls counted with the number of rows that each
// change adds: 1, 0 or -1.
func (a *Applier) holdings(f storage.Family, changes []holdingDelta, key func([]byte, schema.HoldingKey) []byte,
	counted func(d *holdingDelta, rows int)) error {
	changes = slices.DeleteFunc(changes, func(d holdingDelta) bool { return d.amount == schema.Int128{} })
	return update(a, f, changes,
		func(d *holdingDelta) ([]byte, bool) {
			return key(nil, d.HoldingKey), d.Asset.Utxo >= a.NewFrom || d.Holder.Utxo >= a.NewFrom
		},
		func(d *holdingDelta, b, row []byte) ([]byte, error) {
			amount, err := parse(row, schema.ParseHolding)
			if amount = amount.Add(d.amount); err != nil || amount.Negative() {
				return b, invalid(err, "the amount that the value born at %v holds of the asset born at %v", d.Holder, d.Asset)
			}
			if row == nil {
				counted(d, 1)
			} else if (amount == schema.Int128{}) {
				counted(d, -1)
			}
			return schema.AppendHolding(b, amount), nil // nothing for an amount of 0
		})
}

// ApplyDeltas adds the sorted deltas of an index.
func (a *Applier) ApplyDeltas(d *Deltas) error {
	if err := a.index(d); err != nil {
		return fmt.Errorf("index %s: %w", d.Index.Name, err)
	}
	return nil
}

func (a *Applier) index(d *Deltas) error {
	var accounts []accountDelta
	for len(d.Outputs) > 0 {
		n := 1
		for n < len(d.Outputs) && d.Outputs[n].birth == d.Outputs[0].birth {
			n++
		}
		accounts = append(accounts, a.value(d, d.Outputs[:n]))
		if d.Outputs = d.Outputs[n:]; len(accounts) == BatchRows || len(d.Outputs) == 0 {
			if err := a.balances(d, accounts); err != nil {
				return err
			}
			accounts = accounts[:0]
		}
	}
	held := d.assets[:0]
	for _, h := range d.assets {
		held = addHolding(held, h)
	}
	d.assets = nil
	key := func(b []byte, h schema.HoldingKey) []byte { return schema.AppendHeldKey(b, d.Index, h.Holder, h.Asset) }
	return a.holdings(d.Index.Family(schema.IndexHeld), held, key, func(*holdingDelta, int) {})
}

// accountDelta is the net change of the balance of a value.
type accountDelta struct {
	birth model.BirthPk
	schema.Account
}

// change adds a row if blocks are added, and deletes it if they are removed.
func (a *Applier) change(f storage.Family, sign int64, key, value []byte) {
	if sign > 0 {
		a.Batch.Put(f, key, value)
	} else {
		a.Batch.Delete(f, key)
	}
	a.Totals.Rows[f] += uint64(sign)
}

// value writes the rows of the history and of the unspent outputs of one value, and returns the change of its balance.
func (a *Applier) value(d *Deltas, outputs []OutputDelta) accountDelta {
	c := accountDelta{birth: outputs[0].birth}
	for rest := outputs; len(rest) > 0; {
		tx := rest[0].tx
		var m schema.TxAmounts
		for ; len(rest) > 0 && rest[0].tx == tx; rest = rest[1:] {
			if rest[0].spent {
				m.Sent += rest[0].value
				c.Sent = c.Sent.Add(schema.Int128Of(rest[0].value, d.Sign))
				c.Unspent -= d.Sign
				continue
			}
			m.Received += rest[0].value
			c.Received = c.Received.Add(schema.Int128Of(rest[0].value, d.Sign))
			c.Outputs += d.Sign
			c.Unspent += d.Sign
		}
		c.Txs += d.Sign
		if d.Features.Has(schema.FeatureHistory) {
			a.key = schema.AppendHistoryKey(a.key[:0], d.Index, c.birth, tx)
			a.row = schema.AppendHistoryRow(a.row[:0], m)
			a.change(d.Index.Family(schema.IndexHistory), d.Sign, a.key, a.row)
		}
	}
	if d.Features.Has(schema.FeatureUnspent) {
		a.unspent(d, outputs)
	}
	return c
}

// unspent adds the outputs of one value that become unspent, and deletes the ones that become spent. Outputs that the
// same blocks create and spend change nothing.
func (a *Applier) unspent(d *Deltas, outputs []OutputDelta) {
	change := func(o *OutputDelta, sign int64) {
		a.key = schema.AppendRelationKey(a.key[:0], d.Index, o.birth, o.utxo)
		a.change(d.Index.Family(schema.IndexUnspent), sign, a.key, nil)
	}
	a.spentHere = append(a.spentHere[:0], make([]bool, len(outputs))...)
	for i := range outputs {
		if !outputs[i].spent {
			continue
		}
		created, found := slices.BinarySearchFunc(outputs, outputs[i].utxo, func(o OutputDelta, utxo model.UtxoPk) int {
			return cmp.Or(cmp.Compare(o.tx, utxo.Tx()), cmp.Compare(o.utxo, utxo))
		})
		if found {
			a.spentHere[created] = true
		} else {
			change(&outputs[i], -d.Sign)
		}
	}
	for i := range outputs {
		if !outputs[i].spent && !a.spentHere[i] {
			change(&outputs[i], d.Sign)
		}
	}
}

// balances adds changes of balances.
func (a *Applier) balances(d *Deltas, changes []accountDelta) error {
	if !d.Features.Has(schema.FeatureBalance) {
		return nil
	}
	return update(a, d.Index.Family(schema.IndexBalance), changes,
		func(c *accountDelta) ([]byte, bool) {
			return c.birth.AppendTo(nil, d.Index.Kind.HasOrdinal()), c.birth.Utxo >= a.NewFrom
		},
		func(c *accountDelta, b, row []byte) ([]byte, error) {
			account, err := parse(row, schema.ParseAccountRow)
			if err != nil || !account.Apply(&c.Account) {
				return b, invalid(err, "the balance of the value born at %v", c.birth)
			}
			if account.Outputs == 0 {
				return b, nil
			}
			return schema.AppendAccountRow(b, &account), nil
		})
}
