package export

import (
	"bytes"
	"encoding/json"
	"slices"

	"birthmark/core/export/tablefile"
	"birthmark/model"
)

// ManifestName is the name of the manifest in the folder of an export.
const ManifestName = "manifest.json"

const manifestVersion = 1

// Manifest describes the files of an export. It is written after the files that it lists.
type Manifest struct {
	Version       int             `json:"version"`
	Chain         string          `json:"chain"`
	Network       string          `json:"network"`
	Format        string          `json:"format"`
	Hashes        string          `json:"hashes"`
	Partition     int             `json:"partition"`
	Confirmations int             `json:"confirmations"`
	From          uint32          `json:"from"`
	To            *uint32         `json:"to,omitempty"` // absent: the tip
	Tables        []ManifestTable `json:"tables"`
	Complete      bool            `json:"complete"` // false: files up to the tip are missing
	Tip           *ManifestTip    `json:"tip"`      // the last block; null: none
	Parts         []Part          `json:"parts"`
}

// ManifestTable is the columns of a table.
type ManifestTable struct {
	Name    string           `json:"name"`
	Columns []ManifestColumn `json:"columns"`
}

// ManifestColumn is a column of a table.
type ManifestColumn struct {
	Name string `json:"name"`
	Type string `json:"type"` // as in SQL
}

// ManifestTip is the last block of an export.
type ManifestTip struct {
	Height uint32 `json:"height"`
	Hash   string `json:"hash"`
	Time   int64  `json:"time"` // unix seconds
}

// Part is the files for some consecutive blocks.
type Part struct {
	From  uint32 `json:"from"`
	To    uint32 `json:"to"`
	Hash  string `json:"hash"` // of block To
	Final bool   `json:"final"`
	Txs   uint64 `json:"txs"`
	Files []File `json:"files"` // one per table
}

// File is a file of a table.
type File struct {
	Table  string `json:"table"`
	Path   string `json:"path"`
	Rows   uint64 `json:"rows"`
	Bytes  uint64 `json:"bytes"`
	SHA256 string `json:"sha256"`
}

func (m *Manifest) encode() ([]byte, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetIndent("", " ")
	err := e.Encode(m)
	return b.Bytes(), err
}

func parseManifest(text []byte) (*Manifest, error) {
	m := &Manifest{}
	d := json.NewDecoder(bytes.NewReader(text))
	d.DisallowUnknownFields()
	if err := d.Decode(m); err != nil || m.Version != manifestVersion {
		return nil, model.Errorf(model.Refused, "export_mismatch",
			"%s is not a manifest of this release (version %d): export to another folder", ManifestName, manifestVersion)
	}
	return m, nil
}

// describe returns the manifest of an export without parts.
func describe(chain model.Chain, tables []*tablefile.Table, o *Options) *Manifest {
	m := &Manifest{
		Version: manifestVersion, Chain: chain.Name(), Network: chain.Network(), Format: o.Format, Hashes: o.Hashes,
		Partition: o.Partition, Confirmations: o.Confirmations, From: uint32(o.From), Parts: []Part{},
	}
	if o.To != nil {
		to := uint32(*o.To)
		m.To = &to
	}
	for _, t := range tables {
		table := ManifestTable{Name: t.Name}
		for i := range t.Fields {
			table.Columns = append(table.Columns, ManifestColumn{t.Fields[i].Name, t.Fields[i].SQL()})
		}
		m.Tables = append(m.Tables, table)
	}
	return m
}

// mismatch returns the setting in which an export differs from an earlier one; empty: none.
func (m *Manifest) mismatch(earlier *Manifest) string {
	same := func(a, b ManifestTable) bool { return a.Name == b.Name && slices.Equal(a.Columns, b.Columns) }
	names := func(m *Manifest) (all []string) {
		for _, t := range m.Tables {
			all = append(all, t.Name)
		}
		return all
	}
	switch {
	case m.Chain != earlier.Chain:
		return "chain"
	case m.Network != earlier.Network:
		return "network"
	case m.Format != earlier.Format:
		return "format"
	case m.Hashes != earlier.Hashes:
		return "hashes"
	case m.Partition != earlier.Partition:
		return "partition"
	case m.From != earlier.From:
		return "from"
	case !slices.Equal(names(m), names(earlier)):
		return "tables"
	case !slices.EqualFunc(m.Tables, earlier.Tables, same):
		return "columns, because the database has other indexes"
	}
	return ""
}
