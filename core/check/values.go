package check

import (
	"bytes"
	"cmp"

	"birthmark/core/schema"
	"birthmark/model"
)

// featuresAt returns the features of an index whose rows for a block exist.
func (c *checker) featuresAt(x *schema.Index, h model.HeightPk) schema.Features {
	if c.builtTo != nil && h <= *c.builtTo {
		return x.Active | x.Building
	}
	return x.Active
}

// values checks that births and values of an index map to each other, and that every value has its row of texts.
func (c *checker) values(x *schema.Index, births uint64) error {
	texts, want := c.join(x.Family(schema.IndexText)), uint64(0)
	err := c.inverse(x.Number, births, func(birth, value []byte) {
		at, err := model.ParseBirthPk(birth, x.Kind.HasOrdinal())
		if err == nil && c.featuresAt(x, at.Utxo.Height()).Has(schema.FeaturePrefix) {
			want++
			texts.expect(schema.AppendTextKey(nil, &x.Index, value, birth), presentAndEmpty, x.Family(schema.IndexValue), birth,
				"the row of its text is missing or has a value")
		}
	})
	if err != nil || !(x.Active | x.Building).Has(schema.FeaturePrefix) {
		return err
	}
	return c.count(x.Family(schema.IndexText), want, "values", anyLayout)
}

// inverse checks that births and values of a space map to each other, and that no value has two births. It calls
// visit with each birth and its value. Another pass found a value for each of the want births in outputs, so want
// values mean that there is no other.
func (c *checker) inverse(space int, want uint64, visit func(birth, value []byte)) error {
	births, values, wide := c.BirthFamilies(space)
	back := c.join(births)
	err := c.count(values, want, "births in outputs", func(k, v []byte) error {
		if _, err := model.ParseBirthPk(k, wide); err != nil {
			return err
		}
		key := bytes.Clone(k)
		visit(key, v)
		back.expect(schema.AppendBirthKey(nil, v, k), present, values, key, "the row of its value does not point back to it")
		return nil
	})
	if err != nil {
		return err
	}
	// Two values may share a hash prefix. Compare the full values to prove that they differ.
	var prefix []byte
	var born [][]byte // with this prefix
	var failed error
	compare := func() {
		if len(born) < 2 || failed != nil {
			return
		}
		vs, err := c.r.GetMany(values, born)
		seen := map[string]bool{}
		for i, v := range vs {
			if v != nil && seen[string(v)] {
				c.problem(values, born[i], "its value has an earlier birth")
			}
			seen[string(v)] = true
		}
		failed = err
	}
	err = c.count(births, c.rows[values], "values", func(k, v []byte) error {
		h, birth, err := schema.ParsePrefixKey(k, schema.PointerSize(wide))
		if err = cmp.Or(err, noValue(v)); err != nil {
			return err
		}
		if !bytes.Equal(h, prefix) {
			compare()
			prefix, born = append(prefix[:0], h...), born[:0]
		}
		born = append(born, bytes.Clone(birth))
		return nil
	})
	compare()
	return cmp.Or(err, failed)
}
