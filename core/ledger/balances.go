package ledger

import (
	"cmp"
	"fmt"
	"slices"

	"birthmark/core/schema"
	"birthmark/model"
	"birthmark/storage"
)

// addIndex adds the sorted deltas of an index.
func (a *Applier) addIndex(d *Deltas) error {
	a.index = d.Index
	if d.Sign > 0 && d.Features.Has(schema.FeatureStatistics) {
		if err := a.values(d); err != nil {
			return fmt.Errorf("index %s: %w", d.Index.Name, err)
		}
	}
	if d.Features&schema.AccountFeatures == 0 {
		d.Outputs = nil // nothing else needs them
	}
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
			accounts = nil
		}
	}
	held := d.held
	d.held = nil
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
			if o.spent && o.tx == utxo.Tx() {
				return -1
			}
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

func (a *Applier) balances(d *Deltas, changes []accountDelta) error {
	if !d.Features.Has(schema.FeatureBalance) {
		return nil
	}
	f := d.Index.Family(schema.IndexBalance)
	sums, ok := a.Batch.(storage.SumsBatch)
	ok = ok && d.Sign > 0
	l, err := a.richestOf(d.Index, ok)
	if err != nil {
		return err
	}
	if ok && l.inBulk(a, changes) {
		a.addBalances(sums, f, d.Index, changes)
		return nil
	}
	return update(a, f, changes,
		func(b []byte, c *accountDelta) ([]byte, bool) {
			return c.birth.AppendTo(b, d.Index.Kind.HasOrdinal()), c.birth.Utxo >= a.NewFrom
		},
		func(c *accountDelta, b, row []byte) ([]byte, error) {
			before, err := parse(row, schema.ParseAccountRow)
			account := before
			if err != nil || !account.Apply(&c.Account) {
				return b, invalid(err, "the balance of the value born at %v", c.birth)
			}
			l.change(a.Batch, c.birth, &before, &account)
			if account.Outputs == 0 {
				return b, nil
			}
			return schema.AppendAccountRow(b, &account), nil
		})
}

// addBalances writes the changes of added blocks without reading the stored rows: in a large database nearly every read
// would miss the block cache. A negative sum is not noticed here, but by the check of the database.
func (a *Applier) addBalances(sums storage.SumsBatch, f storage.Family, x *schema.Index, changes []accountDelta) {
	for i := range changes {
		c := &changes[i]
		a.key = c.birth.AppendTo(a.key[:0], x.Kind.HasOrdinal())
		a.row = schema.AppendAccountRow(a.row[:0], &c.Account)
		if c.birth.Utxo >= a.NewFrom {
			a.Batch.Put(f, a.key, a.row)
			a.Totals.Rows[f]++
		} else {
			sums.AddSums(f, a.key, a.row)
		}
	}
}
