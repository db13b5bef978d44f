package schema

import (
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"slices"

	"birthmark/model"
	"birthmark/storage"
)

// A key that maps a hash or a value to a pointer begins with a prefix of 8 bytes: the first bytes of a transaction
// hash, or of the SHA-256 of any other value. Prefixes are evenly distributed. The pointer follows the prefix, so the
// key is unique and can be written without a read, and values with the same prefix are adjacent. Readers compare the
// full value, which the reverse family stores: a collision, accidental or deliberate, costs one comparison.

// PrefixBits masks the prefix. All bits are set except in tests that need collisions.
var PrefixBits = ^uint64(0)

// appendPrefix appends the prefix of a value of an index, or of an asset id.
func appendPrefix(b, value []byte) []byte {
	sum := sha256.Sum256(value)
	return appendHashPrefix(b, sum[:])
}

func appendHashPrefix(b, hash []byte) []byte {
	return binary.BigEndian.AppendUint64(b, binary.BigEndian.Uint64(hash)&PrefixBits)
}

// AppendBirthKey appends a key of the family that maps a value to its birth; encoded is the birth.
func AppendBirthKey(b, value, encoded []byte) []byte {
	return append(appendPrefix(b, value), encoded...)
}

// ParsePrefixKey splits a key of a [storage.Hashed] family; size is the size of the pointer in bytes.
func ParsePrefixKey(b []byte, size int) (prefix, pointer []byte, err error) {
	r := reader{b: b}
	prefix, pointer = r.take(storage.PrefixSize, "prefix"), r.take(size, "pointer")
	return prefix, pointer, r.end()
}

// TxPks returns the transactions with each hash, newest first. A hash has more than one only if it is repeated (BIP
// 30).
func TxPks(r storage.Reader, hashes []model.Hash) ([][]model.TxPk, error) {
	prefixes := make([][]byte, len(hashes))
	for i := range hashes {
		prefixes[i] = appendHashPrefix(nil, hashes[i][:])
	}
	found := make([][]model.TxPk, len(hashes))
	err := candidates(r, FamilyTxPk, prefixes, FamilyTxHash, model.PkSize, func(i int, pointer, row []byte) error {
		pk, err := model.ParseTxPk(pointer)
		if err != nil {
			return err
		}
		hash, _, err := ParseTxHashRow(row)
		if hash == hashes[i] {
			found[i] = append(found[i], pk)
		}
		return err
	})
	for _, pks := range found {
		slices.Reverse(pks)
	}
	return found, err
}

// Births returns the births of values of a space; nil for a value that the database does not have.
func (c *Layout) Births(r storage.Reader, space int, values [][]byte) ([]*model.BirthPk, error) {
	f, back, wide := c.BirthFamilies(space)
	prefixes := make([][]byte, len(values))
	for i, v := range values {
		prefixes[i] = appendPrefix(nil, v)
	}
	births := make([]*model.BirthPk, len(values))
	err := candidates(r, f, prefixes, back, PointerSize(wide), func(i int, pointer, value []byte) error {
		birth, err := model.ParseBirthPk(pointer, wide)
		if string(value) == string(values[i]) {
			births[i] = &birth
		}
		return err
	})
	return births, err
}

// Birth returns the birth of one value, nil if the database does not have it.
func (c *Layout) Birth(r storage.Reader, space int, value []byte) (*model.BirthPk, error) {
	births, err := c.Births(r, space, [][]byte{value})
	if err != nil {
		return nil, err
	}
	return births[0], nil
}

// BirthFamilies returns the family that maps prefixes to births, the family that maps births to values, and whether the
// births have an ordinal (10 bytes instead of 8).
func (c *Layout) BirthFamilies(space int) (births, values storage.Family, wide bool) {
	if space == AssetSpace {
		return FamilyAssetBirth, FamilyAssetID, true
	}
	x := c.ByNumber(uint64(space))
	return x.Family(IndexBirth), x.Family(IndexValue), x.Kind.HasOrdinal()
}

// candidates calls visit with every pointer that follows prefixes[i] in f, and with the row of the reverse family at
// the pointer: visit compares the full value. size is the size of a pointer in bytes.
func candidates(
	r storage.Reader, f storage.Family, prefixes [][]byte, reverse storage.Family, size int,
	visit func(i int, pointer, row []byte) error,
) error {
	suffixes, err := r.Suffixes(f, prefixes)
	if err != nil {
		return err
	}
	var pointers [][]byte
	var of []int // pointers[n] follows prefixes[of[n]]
	for i, suffix := range suffixes {
		if len(suffix)%size != 0 {
			return fmt.Errorf("%w: prefix %x is followed by %x, pointers have %d bytes", ErrRow, prefixes[i], suffix, size)
		}
		for ; len(suffix) > 0; suffix = suffix[size:] {
			pointers, of = append(pointers, suffix[:size:size]), append(of, i)
		}
	}
	rows, err := r.GetMany(reverse, pointers)
	if err != nil {
		return err
	}
	for n, row := range rows {
		if row == nil {
			return fmt.Errorf("row %x is missing, to which prefix %x points: run check", pointers[n], prefixes[of[n]])
		}
		if err := visit(of[n], pointers[n], row); err != nil {
			return err
		}
	}
	return nil
}
