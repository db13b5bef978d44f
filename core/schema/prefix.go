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
	err := visitCandidates(r, candidates{FamilyTxPk, FamilyTxHash, prefixes, model.PkSize, func(i int, pointer, row []byte) error {
		pk, err := model.ParseTxPk(pointer)
		if err != nil {
			return err
		}
		hash, _, err := ParseTxHashRow(row)
		if hash == hashes[i] {
			found[i] = append(found[i], pk)
		}
		return err
	}})
	for _, pks := range found {
		slices.Reverse(pks)
	}
	return found, err
}

// BirthLookup is a search for the births of values of a space.
type BirthLookup struct {
	Space  int
	Values [][]byte
	Births []*model.BirthPk // the result: nil for a value that the database does not have
}

// FindBirths sets the births of all lookups with two sequential reads.
func (l *Layout) FindBirths(r storage.Reader, lookups ...*BirthLookup) error {
	all := make([]candidates, len(lookups))
	for n, of := range lookups {
		f, back, wide := l.BirthFamilies(of.Space)
		prefixes := make([][]byte, len(of.Values))
		for i, v := range of.Values {
			prefixes[i] = appendPrefix(nil, v)
		}
		of.Births = make([]*model.BirthPk, len(of.Values))
		all[n] = candidates{f, back, prefixes, PointerSize(wide), func(i int, pointer, value []byte) error {
			birth, err := model.ParseBirthPk(pointer, wide)
			if string(value) == string(of.Values[i]) {
				of.Births[i] = &birth
			}
			return err
		}}
	}
	return visitCandidates(r, all...)
}

// Births returns the births of values of a space; nil for a value that the database does not have.
func (l *Layout) Births(r storage.Reader, space int, values [][]byte) ([]*model.BirthPk, error) {
	lookup := BirthLookup{Space: space, Values: values}
	err := l.FindBirths(r, &lookup)
	return lookup.Births, err
}

// Birth returns the birth of one value, nil if the database does not have it.
func (l *Layout) Birth(r storage.Reader, space int, value []byte) (*model.BirthPk, error) {
	births, err := l.Births(r, space, [][]byte{value})
	if err != nil {
		return nil, err
	}
	return births[0], nil
}

// BirthFamilies returns the family that maps prefixes to births, the family that maps births to values, and whether the
// births have an ordinal (10 bytes instead of 8).
func (l *Layout) BirthFamilies(space int) (births, values storage.Family, wide bool) {
	if space == AssetSpace {
		return FamilyAssetBirth, FamilyAssetID, true
	}
	x := l.ByNumber(uint64(space))
	return x.Family(IndexBirth), x.Family(IndexValue), x.Kind.HasOrdinal()
}

// candidates are the pointers that follow prefixes in a family, and the rows at these pointers in the reverse family.
type candidates struct {
	family, reverse storage.Family
	prefixes        [][]byte
	size            int // of a pointer in bytes

	// visit is called with every pointer that follows prefixes[i], and its row. It compares the full value.
	visit func(i int, pointer, row []byte) error
}

// visitCandidates visits all candidates with two sequential reads.
func visitCandidates(r storage.Reader, all ...candidates) error {
	prefixes, rows := make([]*storage.Read, len(all)), make([]*storage.Read, len(all))
	for n := range all {
		prefixes[n] = &storage.Read{Family: all[n].family, Prefixes: all[n].prefixes}
		rows[n] = &storage.Read{Family: all[n].reverse}
	}
	if err := storage.ReadTogether(r, prefixes...); err != nil {
		return err
	}
	of := make([][]int, len(all)) // rows[n].Keys[k] follows prefix of[n][k]
	for n, c := range all {
		for i, suffix := range prefixes[n].Values {
			if len(suffix)%c.size != 0 {
				return fmt.Errorf("%w: prefix %x is followed by %x, pointers have %d bytes", ErrRow, c.prefixes[i], suffix, c.size)
			}
			for ; len(suffix) > 0; suffix = suffix[c.size:] {
				rows[n].Keys, of[n] = append(rows[n].Keys, suffix[:c.size:c.size]), append(of[n], i)
			}
		}
	}
	if err := storage.ReadTogether(r, rows...); err != nil {
		return err
	}
	for n, c := range all {
		for k, row := range rows[n].Values {
			i, pointer := of[n][k], rows[n].Keys[k]
			if row == nil {
				return fmt.Errorf("row %x is missing, to which prefix %x points: run check", pointer, c.prefixes[i])
			}
			if err := c.visit(i, pointer, row); err != nil {
				return err
			}
		}
	}
	return nil
}
