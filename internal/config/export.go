package config

import (
	"fmt"
	"slices"
	"strings"
)

// Export are the settings of the tables that a server keeps up to date.
type Export struct {
	Dir    string   // a folder, or the URL of a bucket; empty: none
	Tables []string // nil: all
}

// ExportTables are the names of the tables.
var ExportTables = []string{"blocks", "transactions", "outputs", "inputs", "assets", "asset_events"}

var exportKeys = []key[Chain]{
	{name: "export.dir", set: func(c *Chain, v, _ string) error { return setFolderOrBucket(&c.Export.Dir, v) }},
	{name: "export.tables", list: true, set: func(c *Chain, v, _ string) error { return setList(&c.Export.Tables, v, parseTable) }},
}

func parseTable(name string) (string, error) {
	if !slices.Contains(ExportTables, name) {
		return "", fmt.Errorf("no table %q: expected %s", name, strings.Join(ExportTables, ", "))
	}
	return name, nil
}

// ExportView is the part of a [ChainView] with the settings of tables.
type ExportView struct {
	Dir    string   `yaml:"dir" json:"dir"`
	Tables []string `yaml:"tables,omitempty" json:"tables,omitempty"`
}

// view returns the settings for [ChainView]; nil if they are not set.
func (e *Export) view() *ExportView {
	if e.Dir == "" && e.Tables == nil {
		return nil
	}
	return &ExportView{e.Dir, e.Tables}
}
