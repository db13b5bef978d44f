package rocks

import (
	"testing"

	"birthmark/storage"
)

func TestColumnNameEncodesLayout(t *testing.T) {
	seen := map[string]bool{}
	for _, l := range layouts() {
		for _, name := range []string{"meta", "birth_pk_by_address", "odd#name+hashes"} {
			column := columnName(storage.Declaration{Name: name, Access: l.access, Incompressible: l.incompressible, DeferCompaction: l.deferCompaction, Present: l.present})
			if got := layoutOf(column); got != l || familyOf(column) != name || seen[column] {
				t.Errorf("%s is of family %s, %+v; want %s, %+v, once", column, familyOf(column), got, name, l)
			}
			seen[column] = true
		}
	}
	if l := layoutOf(defaultColumn); l != (layout{}) || familyOf(defaultColumn) != defaultColumn {
		t.Errorf("RocksDB's own column family has %+v", l)
	}
}
