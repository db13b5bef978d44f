package core

import (
	"bytes"
	"errors"
	"fmt"

	"birthmark/model"
)

// inputs checks that the inputs of a transaction have no gap, that each follows the output it spends, and that both
// families of spends map to each other.
func (c *checker) inputs() error {
	spent, utxos, txs := c.join(familySpentInput), c.join(familyUtxo), c.join(familyTxHash)
	next := model.InputPk(0)
	err := c.scan(familySpentUtxo, func(k, v []byte) error {
		input, err1 := model.ParseInputPk(k)
		utxo, err2 := model.ParseUtxoPk(v)
		if err := errors.Join(err1, err2); err != nil {
			return err
		}
		key := append([]byte(nil), k...)
		if input != next && input.Index() != 0 {
			c.problem(familySpentUtxo, key, "the input before it is missing")
		}
		next = input + 1
		if utxo.Tx() >= input.Tx() {
			c.problem(familySpentUtxo, key, "spends %v, which is not before it in the chain", utxo)
		}
		if input.Index() == 0 {
			txs.add(input.Tx().AppendTo(nil), func(v []byte) {
				if v == nil {
					c.problem(familySpentUtxo, key, "its transaction is missing")
				}
			})
		}
		at := utxo.AppendTo(nil)
		spent.add(at, func(v []byte) {
			if by, err := model.ParseInputPk(v); err != nil || by != input {
				c.problem(familySpentUtxo, key, "the row of output %v does not point back to it", utxo)
			}
		})
		utxos.add(at, func(v []byte) {
			value, err := parseUtxoValue(v)
			if err != nil {
				c.problem(familySpentUtxo, key, "spends %v, whose row is missing or has a wrong layout", utxo)
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
	return c.count(familySpentInput, c.rows[familySpentUtxo], "inputs")
}

// indexCounts counts the occurrences of an index in outputs.
type indexCounts struct{ births, relations uint64 }

// outputs checks that the outputs of a transaction have no gap, that every value that occurs has a birth, and that every
// later occurrence has a relation.
func (c *checker) outputs() error {
	txs := c.join(familyTxHash)
	values, relations := map[*index]*join{}, map[*index]*join{}
	counts := map[*index]*indexCounts{}
	joins := []*join{txs}
	for _, x := range c.checked() {
		values[x], relations[x] = c.join(x.family(indexValue)), c.join(x.family(indexRelations))
		counts[x] = &indexCounts{}
		joins = append(joins, values[x])
		if x.Kind != model.OneToOne {
			joins = append(joins, relations[x])
		}
	}
	next := model.UtxoPk(0)
	genesis := uint64(0)
	err := c.scan(familyUtxo, func(k, v []byte) error {
		pk, err := model.ParseUtxoPk(k)
		if err != nil {
			return err
		}
		row, err := c.db.catalogue().parseUtxoRow(pk, v)
		if err != nil {
			return err
		}
		c.unspentValue += row.value
		c.checksum += row.value
		key := append([]byte(nil), k...)
		first := pk.Index() == 0 || c.db.catalogue().traits.OutputOffset && pk.Tx() != next.Tx()
		if pk != next && !first {
			c.problem(familyUtxo, key, "the output before it is missing")
		}
		next = pk + 1
		if pk.Height() == 0 && uint64(pk.TxIndex()) < c.totals.genesisTxs {
			genesis++
		}
		if first {
			txs.add(pk.Tx().AppendTo(nil), func(v []byte) {
				if v == nil {
					c.problem(familyUtxo, key, "its transaction is missing")
				}
			})
		}
		for i, o := range row.occurrences {
			if c.only != nil && c.only != o.index {
				continue
			}
			before := 0
			for _, p := range row.occurrences[:i] {
				if p.index == o.index {
					before++
				}
			}
			if before > 0 && !o.index.Kind.HasOrdinal() {
				c.problem(familyUtxo, key, "two values of %s, which is %v", o.index.Name, o.index.Kind)
			}
			if o.born(pk) && int(o.birth.Ordinal) != before {
				c.problem(familyUtxo, key, "value %d of %s is born with ordinal %d", before, o.index.Name, o.birth.Ordinal)
			}
			values[o.index].add(o.birth.AppendTo(nil, o.index.Kind.HasOrdinal()), func(v []byte) {
				if v == nil {
					c.problem(familyUtxo, key, "value of %s born at %v is missing", o.index.Name, o.birth)
				}
			})
			if o.born(pk) {
				counts[o.index].births++
				continue
			}
			counts[o.index].relations++
			if o.index.Kind == model.OneToOne {
				c.problem(familyUtxo, key, "value of %s, which is %v, occurs again", o.index.Name, o.index.Kind)
				continue
			}
			relations[o.index].add(appendRelationKey(nil, o.index, o.birth, pk), func(v []byte) {
				if v == nil {
					c.problem(familyUtxo, key, "relation of %s born at %v to it is missing", o.index.Name, o.birth)
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
	if c.only == nil && genesis != c.totals.genesisOutputs {
		c.problem(familyMeta, metaTotals, "the totals count %d genesis outputs, there are %d", c.totals.genesisOutputs, genesis)
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
func (c *checker) checked() (xs []*index) {
	for _, x := range c.db.catalogue().all {
		if (x.live | x.coming).has(partValues) && (c.only == nil || c.only == x) {
			xs = append(xs, x)
		}
	}
	return xs
}

// values checks that births and values of an index map to each other, and that every value has its row of texts.
func (c *checker) values(x *index, births uint64) error {
	if !(x.live | x.coming).has(partPrefix) {
		return c.inverse(x.number, births, func(_, _ []byte) {})
	}
	texts, want := c.join(x.family(indexText)), uint64(0)
	var failed error
	err := c.inverse(x.number, births, func(birth, value []byte) {
		at, err := model.ParseBirthPk(birth, x.Kind.HasOrdinal())
		if failed != nil || err != nil || !x.live.has(partPrefix) && (c.builtTo == nil || at.Utxo.Height() > *c.builtTo) {
			return
		}
		want++
		texts.add(appendTextKey(nil, &x.Index, value, birth), func(v []byte) {
			if v == nil || len(v) > 0 {
				c.problem(x.family(indexValue), birth, "the row of its text is missing or has a value")
			}
		})
		failed = flushFull(texts)
	})
	if err := errors.Join(err, failed, texts.flush()); err != nil {
		return err
	}
	return c.count(x.family(indexText), want, "values")
}

func (c *checker) relations(x *index, want uint64) error {
	f := x.family(indexRelations)
	err := c.scan(f, func(k, v []byte) error {
		_, _, err := parseRelationKey(x, k)
		if err == nil && len(v) > 0 {
			err = fmt.Errorf("%w: a relation has no value", errRow)
		}
		return err
	})
	if err == nil && c.rows[f] != want {
		c.problem(f, nil, "%d rows for %d later occurrences in outputs", c.rows[f], want)
	}
	return err
}

// inverse checks that births and values of a space map to each other, and that no value has two births. It calls visit with
// each birth and its value. Another pass found a value for each of the want births in outputs, so want values mean that
// there is no other.
func (c *checker) inverse(space int, want uint64, visit func(birth, value []byte)) error {
	births, values, wide := c.db.catalogue().birthFamilies(space)
	back := c.join(births)
	err := c.scan(values, func(k, v []byte) error {
		if _, err := model.ParseBirthPk(k, wide); err != nil {
			return err
		}
		key := append([]byte(nil), k...)
		visit(key, v)
		back.add(appendBirthKey(nil, v, k), func(v []byte) {
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
		h, birth, err := parseHeadKey(k, pointerSize(wide))
		if err == nil && len(v) > 0 {
			err = fmt.Errorf("%w: it must not have a value", errRow)
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
