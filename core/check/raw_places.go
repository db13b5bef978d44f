package check

import (
	"bytes"
	"errors"
	"fmt"

	"birthmark/core/schema"
	"birthmark/model"
)

// places checks that every block with a place in a node's files has a size for each of its transactions, that they fit
// into the block, and the checksum of both rows. It reads no file of the node: every answer checks the bytes that it
// read from one.
func (c *checker) places() error {
	if c.RawPlaces.Dropped() {
		return nil
	}
	places := c.join(schema.FamilyPlace)
	err := c.scan(schema.FamilySizes, func(k, v []byte) error {
		if _, err := schema.ParseSizesRow(v); err != nil {
			return err
		}
		places.expect(bytes.Clone(k), present, schema.FamilySizes, bytes.Clone(k), "the place of the block is missing")
		return nil
	})
	if err != nil {
		return err
	}
	sizes, blocks := c.join(schema.FamilySizes), c.join(schema.FamilyBlock) // in the order of their lookups
	return c.scan(schema.FamilyPlace, func(k, v []byte) error {
		h, err := model.ParseHeightPk(k)
		if err != nil {
			return err
		}
		p, err := schema.ParsePlaceRow(v)
		if err != nil {
			return err
		}
		key, value := bytes.Clone(k), bytes.Clone(v)
		sizes.add(key, func(row []byte) {
			if p.Sizes, err = schema.ParseSizesRow(row); err != nil || row == nil {
				c.problem(schema.FamilyPlace, key, "the sizes of the transactions are missing")
				err = errors.New("no sizes")
			} else if !bytes.Equal(schema.AppendPlaceRow(nil, h, &p), value) {
				c.problem(schema.FamilyPlace, key, "the checksum of the place or of the sizes is wrong")
			}
		})
		blocks.add(key, func(row []byte) {
			if row == nil {
				c.problem(schema.FamilyPlace, key, "there is no such block")
				return
			}
			block, failed := schema.ParseBlockRow(row)
			if err != nil || failed != nil {
				return // reported by sizes or blocks
			}
			if err := schema.CheckPlace(&p, &block); err != nil {
				c.problem(schema.FamilyPlace, key, "%v", fmt.Errorf("not the place of the block: %w", err))
			}
		})
		return nil
	})
}
