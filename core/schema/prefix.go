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

func AppendTxPkKey(b []byte, hash *model.Hash, pk model.TxPk) []byte {
	return pk.AppendTo(appendHashPrefix(b, hash[:]))
}

// AppendBirthKey appends a key of the family that maps a value to its birth; encoded is the birth.
func AppendBirthKey(b, value, encoded []byte) []byte {
	return append(appendPrefix(b, value), encoded...)
}

// ParsePrefixKey splits such a key; size is the size of the pointer in bytes.
func ParsePrefixKey(b []byte, size int) (head, pointer []byte, err error) {
	r := reader{b: b}
	head, pointer = r.take(storage.PrefixSize, "head"), r.take(size, "pointer")
	return head, pointer, r.end()
}

// TxPks returns the transactions with each hash, newest first. A hash has more than one only if it is repeated (BIP
// 30).
func TxPks(r storage.Reader, hashes []model.Hash) ([][]model.TxPk, error) {
	heads := make([][]byte, len(hashes))
	for i := range hashes {
		heads[i] = appendHashPrefix(nil, hashes[i][:])
	}
	candidates, err := candidatesOf(r, FamilyTxPk, heads, model.PkSize)
	if err != nil {
		return nil, err
	}
	rows, err := r.GetMany(FamilyTxHash, candidates.pointers)
	if err != nil {
		return nil, err
	}
	found := make([][]model.TxPk, len(hashes))
	for i, b := range rows {
		pk, err := model.ParseTxPk(candidates.pointers[i])
		if err != nil {
			return nil, err
		}
		if b == nil {
			return nil, fmt.Errorf("no transaction stands at %v, where %x leads: run check", pk, heads[candidates.of[i]])
		}
		hash, _, err := ParseTxHashRow(b)
		if err != nil {
			return nil, err
		}
		if of := candidates.of[i]; hash == hashes[of] {
			found[of] = append(found[of], pk)
		}
	}
	for _, pks := range found {
		slices.Reverse(pks)
	}
	return found, nil
}

// Births returns the births of values of a space; nil for a value that the database does not have.
func (c *Layout) Births(r storage.Reader, space int, values [][]byte) ([]*model.BirthPk, error) {
	f, back, wide := c.BirthFamilies(space)
	heads := make([][]byte, len(values))
	for i, v := range values {
		heads[i] = appendPrefix(nil, v)
	}
	candidates, err := candidatesOf(r, f, heads, PointerSize(wide))
	if err != nil {
		return nil, err
	}
	stored, err := r.GetMany(back, candidates.pointers)
	if err != nil {
		return nil, err
	}
	births := make([]*model.BirthPk, len(values))
	for i, v := range stored {
		birth, err := model.ParseBirthPk(candidates.pointers[i], wide)
		if err != nil {
			return nil, err
		}
		if v == nil {
			return nil, fmt.Errorf("no value was born at %v, where %x leads: run check", birth, heads[candidates.of[i]])
		}
		if of := candidates.of[i]; string(v) == string(values[of]) {
			births[of] = &birth
		}
	}
	return births, nil
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

// candidates are the pointers that follow prefixes, in the order of the prefixes: pointers[i] follows prefix number
// of[i].
type candidates struct {
	pointers [][]byte
	of       []int
}

func candidatesOf(r storage.Reader, f storage.Family, heads [][]byte, size int) (c candidates, err error) {
	tails, err := r.Suffixes(f, heads)
	if err != nil {
		return c, err
	}
	for i, tail := range tails {
		if len(tail)%size != 0 {
			return c, fmt.Errorf("%w: %x leads to %x, pointers have %d bytes", ErrRow, heads[i], tail, size)
		}
		for ; len(tail) > 0; tail = tail[size:] {
			c.pointers, c.of = append(c.pointers, tail[:size:size]), append(c.of, i)
		}
	}
	return c, nil
}
