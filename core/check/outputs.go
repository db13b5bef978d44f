package check

import (
	"bytes"
	"errors"
	"fmt"

	"birthmark/core/schema"
	"birthmark/model"
)

// inputs checks that the inputs of a transaction have no gap, that each follows the output it spends, and that both
// families of spends map to each other.
func (c *checker) inputs() error {
	spent, utxos, txs := c.join(schema.FamilySpentInput), c.join(schema.FamilyUtxo), c.join(schema.FamilyTxHash)
	next := model.InputPk(0)
	err := c.scan(schema.FamilySpentUtxo, func(k, v []byte) error {
		input, err1 := model.ParseInputPk(k)
		utxo, err2 := model.ParseUtxoPk(v)
		if err := errors.Join(err1, err2); err != nil {
			return err
		}
		key := append([]byte(nil), k...)
		if input != next && input.Index() != 0 {
			c.problem(schema.FamilySpentUtxo, key, "the input before it is missing")
		}
		next = input + 1
		if utxo.Tx() >= input.Tx() {
			c.problem(schema.FamilySpentUtxo, key, "spends %v, which is not before it in the chain", utxo)
		}
		if input.Index() == 0 {
			txs.add(input.Tx().AppendTo(nil), func(v []byte) {
				if v == nil {
					c.problem(schema.FamilySpentUtxo, key, "its transaction is missing")
				}
			})
		}
		at := utxo.AppendTo(nil)
		spent.add(at, func(v []byte) {
			if by, err := model.ParseInputPk(v); err != nil || by != input {
				c.problem(schema.FamilySpentUtxo, key, "the row of output %v does not point back to it", utxo)
			}
		})
		utxos.add(at, func(v []byte) {
			value, err := schema.ParseUtxoValue(v)
			if err != nil {
				c.problem(schema.FamilySpentUtxo, key, "spends %v, whose row is missing or has a wrong layout", utxo)
			}
			c.unspentValue -= value
		})
		return flushFull(spent, utxos, txs)
	})
	if err != nil {
		return err
	}
	if err := flushAll(spent, utxos, txs); err != nil {
		return err
	}
	return c.count(schema.FamilySpentInput, c.rows[schema.FamilySpentUtxo], "inputs")
}

// indexCounts counts the occurrences of an index in outputs.
type indexCounts struct{ births, relations uint64 }

// outputs checks that the outputs of a transaction have no gap, that every value that occurs has a birth, and that
// every later occurrence has a relation.
func (c *checker) outputs() error {
	txs := c.join(schema.FamilyTxHash)
	values, relations := map[*schema.Index]*join{}, map[*schema.Index]*join{}
	counts := map[*schema.Index]*indexCounts{}
	joins := []*join{txs}
	for _, x := range c.checked() {
		values[x], relations[x] = c.join(x.Family(schema.IndexValue)), c.join(x.Family(schema.IndexRelations))
		counts[x] = &indexCounts{}
		joins = append(joins, values[x])
		if x.Kind != model.OneToOne {
			joins = append(joins, relations[x])
		}
	}
	next := model.UtxoPk(0)
	genesis := uint64(0)
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
		key := append([]byte(nil), k...)
		first := pk.Index() == 0 || c.Traits.OutputOffset && pk.Tx() != next.Tx()
		if pk != next && !first {
			c.problem(schema.FamilyUtxo, key, "the output before it is missing")
		}
		next = pk + 1
		if pk.Height() == 0 && uint64(pk.TxIndex()) < c.Totals.GenesisTxs {
			genesis++
		}
		if first {
			txs.add(pk.Tx().AppendTo(nil), func(v []byte) {
				if v == nil {
					c.problem(schema.FamilyUtxo, key, "its transaction is missing")
				}
			})
		}
		for i, o := range row.Occurrences {
			if c.only != nil && c.only != o.Index {
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
			values[o.Index].add(o.Birth.AppendTo(nil, o.Index.Kind.HasOrdinal()), func(v []byte) {
				if v == nil {
					c.problem(schema.FamilyUtxo, key, "value of %s born at %v is missing", o.Index.Name, o.Birth)
				}
			})
			if o.BornAt(pk) {
				counts[o.Index].births++
				continue
			}
			counts[o.Index].relations++
			if o.Index.Kind == model.OneToOne {
				c.problem(schema.FamilyUtxo, key, "value of %s, which is %v, occurs again", o.Index.Name, o.Index.Kind)
				continue
			}
			relations[o.Index].add(schema.AppendRelationKey(nil, o.Index, o.Birth, pk), func(v []byte) {
				if v == nil {
					c.problem(schema.FamilyUtxo, key, "relation of %s born at %v to it is missing", o.Index.Name, o.Birth)
				}
			})
		}
		return flushFull(joins...)
	})
	if err != nil {
		return err
	}
	if err := flushAll(joins...); err != nil {
		return err
	}
	if c.only == nil && genesis != c.Totals.GenesisOutputs {
		c.problem(schema.FamilyMeta, schema.MetaTotals, "the totals count %d genesis outputs, there are %d",
			c.Totals.GenesisOutputs, genesis)
	}
	for _, x := range c.checked() {
		if x.Kind != model.OneToOne {
			if err := c.relations(x, counts[x].relations); err != nil {
				return err
			}
		}
		if err := c.values(x, counts[x].births); err != nil {
			return err
		}
	}
	return nil
}

// checked returns the indexes that have values. An index that is being added has them up to its own last block.
func (c *checker) checked() (xs []*schema.Index) {
	for _, x := range c.All {
		if (x.Active | x.Building).Has(schema.FeatureValues) && (c.only == nil || c.only == x) {
			xs = append(xs, x)
		}
	}
	return xs
}

// values checks that births and values of an index map to each other, and that every value has its row of texts.
func (c *checker) values(x *schema.Index, births uint64) error {
	if !(x.Active | x.Building).Has(schema.FeaturePrefix) {
		return c.inverse(x.Number, births, func(_, _ []byte) {})
	}
	texts, want := c.join(x.Family(schema.IndexText)), uint64(0)
	var failed error
	err := c.inverse(x.Number, births, func(birth, value []byte) {
		at, err := model.ParseBirthPk(birth, x.Kind.HasOrdinal())
		if failed != nil || err != nil || !x.Active.Has(schema.FeaturePrefix) &&
			(c.builtTo == nil || at.Utxo.Height() > *c.builtTo) {
			return
		}
		want++
		texts.add(schema.AppendTextKey(nil, &x.Index, value, birth), func(v []byte) {
			if v == nil || len(v) > 0 {
				c.problem(x.Family(schema.IndexValue), birth, "the row of its text is missing or has a value")
			}
		})
		failed = flushFull(texts)
	})
	if err := errors.Join(err, failed, texts.flush()); err != nil {
		return err
	}
	return c.count(x.Family(schema.IndexText), want, "values")
}

func (c *checker) relations(x *schema.Index, want uint64) error {
	f := x.Family(schema.IndexRelations)
	err := c.scan(f, func(k, v []byte) error {
		_, _, err := schema.ParseRelationKey(x, k)
		if err == nil && len(v) > 0 {
			err = fmt.Errorf("%w: a relation has no value", schema.ErrRow)
		}
		return err
	})
	if err == nil && c.rows[f] != want {
		c.problem(f, nil, "%d rows for %d later occurrences in outputs", c.rows[f], want)
	}
	return err
}

// inverse checks that births and values of a space map to each other, and that no value has two births. It calls
// visit with each birth and its value. Another pass found a value for each of the want births in outputs, so want
// values mean that there is no other.
func (c *checker) inverse(space int, want uint64, visit func(birth, value []byte)) error {
	births, values, wide := c.BirthFamilies(space)
	back := c.join(births)
	err := c.scan(values, func(k, v []byte) error {
		if _, err := model.ParseBirthPk(k, wide); err != nil {
			return err
		}
		key := append([]byte(nil), k...)
		visit(key, v)
		back.add(schema.AppendBirthKey(nil, v, k), func(v []byte) {
			if v == nil {
				c.problem(values, key, "the row of its value does not point back to it")
			}
		})
		return flushFull(back)
	})
	if err = errors.Join(err, back.flush()); err != nil {
		return err
	}
	if c.rows[values] != want {
		c.problem(values, nil, "%d rows for %d births in outputs", c.rows[values], want)
	}
	// Two values may share a hash prefix. Compare the full values to prove that they differ.
	var head []byte
	var born [][]byte
	differ := func() error {
		if len(born) < 2 {
			return nil
		}
		vs, err := c.r.GetMany(values, born)
		seen := map[string]bool{}
		for i, v := range vs {
			if v != nil && seen[string(v)] {
				c.problem(values, born[i], "its value has an earlier birth")
			}
			seen[string(v)] = true
		}
		return err
	}
	err = c.scan(births, func(k, v []byte) error {
		h, birth, err := schema.ParsePrefixKey(k, schema.PointerSize(wide))
		if err == nil && len(v) > 0 {
			err = fmt.Errorf("%w: it must not have a value", schema.ErrRow)
		}
		if err != nil {
			return err
		}
		if !bytes.Equal(h, head) {
			if err := differ(); err != nil {
				return err
			}
			head, born = append(head[:0], h...), born[:0]
		}
		born = append(born, append([]byte(nil), birth...))
		return nil
	})
	if err = errors.Join(err, differ()); err != nil {
		return err
	}
	if c.rows[births] != c.rows[values] {
		c.problem(births, nil, "%d rows for %d values", c.rows[births], c.rows[values])
	}
	return nil
}
