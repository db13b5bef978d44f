package rocks

import (
	"strings"

	"birthmark/storage"
)

// layout determines the options of a column family. It is part of the column family's name, because RocksDB needs the
// options when it opens the database, before any family is declared. A column family keeps the layout it was created
// with.
type layout struct {
	access                                   storage.Access
	incompressible, deferCompaction, present bool // see storage.Declaration
}

var accessNames = [...]string{
	storage.Ordered: "ordered", storage.Lookup: "lookup", storage.Grouped: "grouped", storage.Hashed: "hashed",
}

// Marks of the hints of [storage.Declaration] in names on disk.
const (
	hashesMark  = "+hashes"
	laterMark   = "+later"
	presentMark = "+present"
)

// layouts returns all possible layouts.
func layouts() (all []layout) {
	for access := range accessNames {
		for hints := range 8 {
			all = append(all, layout{storage.Access(access), hints&1 != 0, hints&2 != 0, hints&4 != 0})
		}
	}
	return all
}

// columnName returns the name of a declaration's column family: family#access and the marks of its hints.
func columnName(d storage.Declaration) string {
	name := d.Name + "#" + accessNames[d.Access]
	if d.Incompressible {
		name += hashesMark
	}
	if d.DeferCompaction {
		name += laterMark
	}
	if d.Present {
		name += presentMark
	}
	return name
}

// familyOf returns the name of the family that a column family was created for.
func familyOf(column string) string {
	if i := strings.LastIndexByte(column, '#'); i >= 0 {
		return column[:i]
	}
	return column
}

// layoutOf returns the layout that a column family was created with, the zero layout for RocksDB's default one.
func layoutOf(column string) layout {
	l, hints := layout{}, column[len(familyOf(column)):]
	for access, name := range accessNames {
		if strings.HasPrefix(hints, "#"+name) {
			l.access = storage.Access(access)
		}
	}
	l.incompressible, l.deferCompaction = strings.Contains(hints, hashesMark), strings.Contains(hints, laterMark)
	l.present = strings.Contains(hints, presentMark)
	return l
}
