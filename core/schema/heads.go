package schema

import (
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"slices"

	"birthmark/model"
	"birthmark/storage"
)

// The keys of families that lead from a hash or a value to its pointer begin with a head: eight bytes that spread
// evenly, of a transaction's hash the first, of a value those of its SHA-256. The pointer behind the head makes the key
// one of its own, so that nothing has to be read to write it, and two values with one head stand beside each other. What
// a head leads to is compared with the value itself, which stands in the family of the way back: a collision, by accident
// or made on purpose, costs a comparison.

// PrefixBits are the bits of a head that are used: all of them, but where a test wants many values to have the same.
var PrefixBits = ^uint64(0)

// appendPrefix appends the head of a value of an index, or of an asset id.
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

// AppendBirthKey makes a key of the family that leads from a value to its birth; encoded is the birth.
func AppendBirthKey(b, value, encoded []byte) []byte {
	return append(appendPrefix(b, value), encoded...)
}

// ParsePrefixKey takes such a key apart; size is that of the pointer.
func ParsePrefixKey(b []byte, size int) (head, pointer []byte, err error) {
	r := reader{b: b}
	head, pointer = r.take(storage.PrefixSize, "head"), r.take(size, "pointer")
	return head, pointer, r.end()
}

// TxPks is the transactions with each of the hashes, newest first: more than one only where a hash occurs again (BIP 30).
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

// Births is where values of a space were born; nil for those that the database does not have.
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

// Birth is where one value was born.
func (c *Layout) Birth(r storage.Reader, space int, value []byte) (*model.BirthPk, error) {
	births, err := c.Births(r, space, [][]byte{value})
	if err != nil {
		return nil, err
	}
	return births[0], nil
}

// BirthFamilies are the family that leads from a head to where values of a space were born, the one that leads back to the
// values, and whether their pointers are wide.
func (c *Layout) BirthFamilies(space int) (births, values storage.Family, wide bool) {
	if space == AssetSpace {
		return FamilyAssetBirth, FamilyAssetID, true
	}
	x := c.ByNumber(uint64(space))
	return x.Family(IndexBirth), x.Family(IndexValue), x.Kind.HasOrdinal()
}

// candidates are the pointers that heads lead to, in their order: pointer i is one of head number of[i].
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
