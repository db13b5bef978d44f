package pointers

import (
	"fmt"
	"path/filepath"

	"birthmark/core/schema"
	"birthmark/model"
)

// fileRaws reads transactions from the files of a node.
func (q *Reader) fileRaws(pks []model.TxPk, hashes []model.Hash) ([][]byte, error) {
	heights := make([]model.HeightPk, len(pks))
	for i, pk := range pks {
		heights[i] = pk.Height()
	}
	places, err := q.R.GetMany(schema.FamilyPlace, schema.Keys(heights))
	if err != nil {
		return nil, err
	}
	sizes, err := q.R.GetMany(schema.FamilySizes, schema.Keys(heights))
	if err != nil {
		return nil, err
	}
	raws := make([][]byte, len(pks))
	var unknown []int
	for i, pk := range pks {
		if err := q.Ctx.Err(); err != nil {
			return nil, err
		}
		if places[i] == nil {
			unknown = append(unknown, i)
			continue
		}
		if raws[i], err = q.fileRaw(pk, places[i], sizes[i]); err != nil {
			return nil, err
		}
		if err := q.R.meter.Bytes(len(raws[i])); err != nil {
			return nil, err
		}
		if err := q.checkRaw(hashes[i], raws[i]); err != nil {
			place, _ := schema.ParsePlaceRow(places[i])
			return nil, q.replacedFile(q.rawPath(place.File), hashes[i], err)
		}
	}
	return raws, q.addUnplaced(raws, unknown, pks, hashes)
}

// addUnplaced reads the transactions of blocks whose place is unknown from the node.
func (q *Reader) addUnplaced(raws [][]byte, unknown []int, pks []model.TxPk, hashes []model.Hash) error {
	if len(unknown) == 0 {
		return nil
	}
	if q.Raws == nil || q.Raws.Node == nil {
		return model.Errorf(model.NotFound, "no_raw",
			"the place of block %d in the node's files is not known: birthmark index add raw --raw=files adds it", pks[unknown[0]].Height())
	}
	var of []model.TxPk
	var ids []model.Hash
	for _, i := range unknown {
		of, ids = append(of, pks[i]), append(ids, hashes[i])
	}
	found, err := q.nodeRaws(of, ids)
	if err == nil {
		for n, i := range unknown {
			raws[i] = found[n]
		}
	}
	return err
}

// fileRaw reads a transaction at the place of its block.
func (q *Reader) fileRaw(pk model.TxPk, placeRow, sizesRow []byte) ([]byte, error) {
	place, err := schema.ParsePlaceRow(placeRow)
	if err != nil {
		return nil, err
	}
	before, size, err := schema.SizeAt(sizesRow, q.TxIndex(pk))
	if err != nil {
		return nil, err
	}
	if q.Raws == nil || q.Raws.Files == nil {
		return nil, model.Errorf(model.NotFound, "no_raw", "%s has no raw transactions in files", q.Chain.Name())
	}
	return q.Raws.Files.ReadRaw(q.rawPath(place.File), place.Offset+before, size)
}

// rawPath returns the path of a node's file.
func (q *Reader) rawPath(stored string) string {
	if q.Raws == nil || q.Raws.Folder == "" {
		return stored
	}
	return filepath.Join(q.Raws.Folder, filepath.Base(stored))
}

// eachFileRaw reads the transactions of a block from its file at once; done is false if the place of the block is not
// known.
func (q *Reader) eachFileRaw(h model.HeightPk, visit func(raw []byte) error) (done bool, err error) {
	key := [][]byte{h.AppendTo(nil)}
	places, err := q.R.GetMany(schema.FamilyPlace, key)
	if err != nil || places[0] == nil || q.Raws == nil || q.Raws.Files == nil {
		return false, err
	}
	rows, err := q.Many(schema.FamilySizes, key)
	if err != nil {
		return false, err
	}
	place, err := schema.ParsePlaceRow(places[0])
	if err != nil {
		return false, err
	}
	if place.Sizes, err = schema.ParseSizesRow(rows[0]); err != nil {
		return false, err
	}
	pks, err := q.blockTxs(h)
	if err != nil {
		return false, err
	}
	hashes, err := q.TxIDs(pks)
	if err != nil {
		return false, err
	}
	total := 0
	for _, size := range place.Sizes {
		total += size
	}
	if err := q.R.meter.Bytes(total); err != nil {
		return false, err
	}
	path := q.rawPath(place.File)
	raw, err := q.Raws.Files.ReadRaw(path, place.Offset, total)
	if err != nil {
		return false, err
	}
	if len(hashes) != len(place.Sizes) {
		return false, fmt.Errorf("block %d has %d transactions and %d sizes of them: run check", h, len(hashes), len(place.Sizes))
	}
	for i, size := range place.Sizes {
		if err := q.checkRaw(hashes[i], raw[:size]); err != nil {
			return false, q.replacedFile(path, hashes[i], err)
		}
		if err := visit(raw[:size:size]); err != nil {
			return false, err
		}
		raw = raw[size:]
	}
	return true, nil
}

// replacedFile is the error of a file that has other bytes than those of a transaction at its stored place.
func (q *Reader) replacedFile(path string, hash model.Hash, err error) error {
	return model.Errorf(model.NotFound, "no_raw", "%s does not have transaction %s at the stored place: %w "+
		"(the file was replaced: birthmark index add raw --raw=files finds the places of all blocks again)", path, q.Chain.FormatHash(hash), err)
}
