package tikv

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"regexp"
)

// names are the names that a database can have in a cluster.
var names = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$`)

// keys builds the keys of a database.
type keys struct{ prefix []byte }

func newKeys(name string) (keys, error) {
	if !names.MatchString(name) {
		return keys{}, fmt.Errorf("invalid name of a database in TiKV %q: use 1 to 64 letters, digits, dots, - and _", name)
	}
	return keys{[]byte("bm/" + name + "/")}, nil
}

// state is the key of a row of the database's own state.
func (k keys) state(name string) []byte { return append(append(bytes.Clone(k.prefix), 'c'), name...) }

func (k keys) log(part int) []byte { return k.state(fmt.Sprintf("log/%08d", part)) }

// row is the key of a row of a family.
func (k keys) row(number uint32, key []byte) []byte {
	b := make([]byte, 0, len(k.prefix)+5+len(key))
	b = append(append(b, k.prefix...), 'r')
	return append(binary.BigEndian.AppendUint32(b, number), key...)
}

// head is the size of the part of a row's key before the key in its family.
func (k keys) head() int { return len(k.prefix) + 5 }

// bounds are the keys of [from, to) in a family; nil leaves an end open.
func (k keys) bounds(number uint32, from, to []byte) (first, end []byte) {
	first = k.row(number, from)
	if to == nil {
		return first, k.row(number+1, nil)
	}
	return first, k.row(number, to)
}

// escape makes a value storable: TiKV has no values of zero bytes, and many rows of the core have none. A value of n
// zero bytes, n from 0, is stored as n+1 zero bytes, every other value as it is.
func escape(value []byte) []byte {
	if allZero(value) {
		return make([]byte, len(value)+1)
	}
	return value
}

// unescape inverts escape. The result is never nil.
func unescape(stored []byte) []byte {
	if len(stored) > 0 && allZero(stored) {
		return stored[:len(stored)-1]
	}
	return stored
}

func allZero(b []byte) bool {
	for _, c := range b {
		if c != 0 {
			return false
		}
	}
	return true
}
