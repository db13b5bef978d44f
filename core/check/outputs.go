package check

import (
	"bytes"

	"birthmark/core/schema"
	"birthmark/model"
)

// inputs checks that the inputs of a transaction have no gap, that each follows the output that it spends, or on
// unordered chains is in the same block, and that both families of spends map to each other.
func (c *checker) inputs() error {
	spent, utxos, txs := c.join(schema.FamilySpentInput), c.join(schema.FamilyUtxo), c.join(schema.FamilyTxHash)
	next := model.InputPk(0)
	err := c.scan(schema.FamilySpentUtxo, func(k, v []byte) error {
		spend, err := schema.ParseSpendRow(k, v)
		if err != nil {
			return err
		}
		key, input, utxo := bytes.Clone(k), spend.Input, spend.Output
		if input != next && input.Index() != 0 {
			c.problem(schema.FamilySpentUtxo, key, "the input before it is missing")
		}
		next = input + 1
		if at := utxo.Tx(); at >= input.Tx() && (at == input.Tx() || !c.Traits.Unordered || at.Height() > input.Height()) {
			c.problem(schema.FamilySpentUtxo, key, "spends %v, which is not before it in the chain", utxo)
		}
		if input.Index() == 0 {
			txs.expect(input.Tx().AppendTo(nil), present, schema.FamilySpentUtxo, key, "its transaction is missing")
		}
		at := utxo.AppendTo(nil)
		spent.expect(at, equal(key), schema.FamilySpentUtxo, key, "the row of the output does not point back to it")
		utxos.add(at, func(v []byte) {
			value, err := schema.ParseUtxoValue(v)
			if err != nil {
				c.problem(schema.FamilySpentUtxo, key, "spends %v, whose row is missing or has a wrong layout", utxo)
			}
			c.unspentValue -= value
		})
		return nil
	})
	if err != nil {
		return err
	}
	return c.count(schema.FamilySpentInput, c.rows[schema.FamilySpentUtxo], "inputs", anyLayout)
}

// occurrences counts the occurrences of the values of an index in outputs, and looks up their rows.
type occurrences struct {
	values, relations *join
	births, later     uint64
}

// outputs checks that the outputs of a transaction have no gap, that every value that occurs has a birth, and that
// every later occurrence has a relation.
func (c *checker) outputs() error {
	txs := c.join(schema.FamilyTxHash)
	found := make([]occurrences, c.FamilyCount()) // by number of the index
	var checked []*schema.Index
	for _, x := range c.All {
		// An index that is being added has values up to its own last block.
		if x.Kind.Valid() && (x.Active | x.Building).Has(schema.FeatureValues) && (c.only == nil || c.only == x) {
			checked = append(checked, x)
			found[x.Number].values = c.join(x.Family(schema.IndexValue))
			found[x.Number].relations = c.join(x.Family(schema.IndexRelations))
		}
	}
	next := model.UtxoPk(0)
	err := c.scan(schema.FamilyUtxo, func(k, v []byte) error {
		pk, err := model.ParseUtxoPk(k)
		if err != nil {
			return err
		}
		row, err := c.ParseUtxoRow(pk, v)
		if err != nil {
			return err
		}
		c.unspentValue += row.Value
		c.checksum += row.Value
		key := bytes.Clone(k)
		first := pk.Index() == 0 || c.Traits.OutputOffset && pk.Tx() != next.Tx()
		if pk != next && !first {
			c.problem(schema.FamilyUtxo, key, "the output before it is missing")
		}
		next = pk + 1
		if pk.Height() == 0 && uint64(pk.TxIndex()) < c.Totals.GenesisTxs {
			c.genesisOutputs++
		}
		if first {
			txs.expect(pk.Tx().AppendTo(nil), present, schema.FamilyUtxo, key, "its transaction is missing")
		}
		for i, o := range row.Occurrences {
			at := &found[o.Index.Number]
			if at.values == nil {
				continue
			}
			before := 0
			for _, p := range row.Occurrences[:i] {
				if p.Index == o.Index {
					before++
				}
			}
			if before > 0 && !o.Index.Kind.HasOrdinal() {
				c.problem(schema.FamilyUtxo, key, "two values of %s, which is %v", o.Index.Name, o.Index.Kind)
			}
			if o.BornAt(pk) && int(o.Birth.Ordinal) != before {
				c.problem(schema.FamilyUtxo, key, "value %d of %s is born with ordinal %d", before, o.Index.Name, o.Birth.Ordinal)
			}
			at.values.expect(o.Birth.AppendTo(nil, o.Index.Kind.HasOrdinal()), present, schema.FamilyUtxo, key,
				"a value that occurs in it is missing")
			if o.BornAt(pk) {
				at.births++
				continue
			}
			at.later++
			if o.Index.Kind == model.OneToOne {
				c.problem(schema.FamilyUtxo, key, "value of %s, which is %v, occurs again", o.Index.Name, o.Index.Kind)
				continue
			}
			at.relations.expect(schema.AppendRelationKey(nil, o.Index, o.Birth, pk), present, schema.FamilyUtxo, key,
				"the relation of a value to it is missing")
		}
		return nil
	})
	for _, x := range checked {
		at := &found[x.Number]
		if err == nil && x.Kind != model.OneToOne {
			layout := func(k, v []byte) error {
				_, err := x.ParseRelationRow(k, v)
				return err
			}
			err = c.count(x.Family(schema.IndexRelations), at.later, "later occurrences in outputs", layout)
		}
		if err == nil {
			err = c.values(x, at.births)
		}
	}
	return err
}
