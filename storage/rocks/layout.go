package rocks

import (
	"strings"

	"birthmark/storage"
)

// layout is what decides how a column family's rows lie. It stands in the column family's name, because RocksDB wants to
// know it before anybody can be asked. A column family keeps the one it was made with.
type layout struct {
	access                          storage.Access
	incompressible, deferCompaction bool // see storage.Declaration
}

var accessNames = [...]string{storage.Ordered: "ordered", storage.Lookup: "lookup", storage.Grouped: "grouped", storage.Hashed: "hashed"}

const (
	hashesMark = "+hashes"
	laterMark  = "+later"
)

// layouts are all there can be.
func layouts() (all []layout) {
	for access := range accessNames {
		for hints := range 4 {
			all = append(all, layout{storage.Access(access), hints&1 != 0, hints&2 != 0})
		}
	}
	return all
}

// columnName is what the column family of a declaration is called: family#access, then the hints that are given.
func columnName(d storage.Declaration) string {
	name := d.Name + "#" + accessNames[d.Access]
	if d.Incompressible {
		name += hashesMark
	}
	if d.DeferCompaction {
		name += laterMark
	}
	return name
}

// familyOf is the name of the family that a column family was made for.
func familyOf(column string) string {
	if i := strings.LastIndexByte(column, '#'); i >= 0 {
		return column[:i]
	}
	return column
}

// layoutOf is the layout that a column family was made with. RocksDB's own has the first.
func layoutOf(column string) layout {
	l, hints := layout{}, column[len(familyOf(column)):]
	for access, name := range accessNames {
		if strings.HasPrefix(hints, "#"+name) {
			l.access = storage.Access(access)
		}
	}
	l.incompressible, l.deferCompaction = strings.Contains(hints, hashesMark), strings.Contains(hints, laterMark)
	return l
}
