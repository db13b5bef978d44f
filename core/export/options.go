package export

import (
	"slices"
	"strings"

	"birthmark/core/export/tablefile"
	"birthmark/core/schema"
	"birthmark/model"
)

// Tables are the names of the tables.
var Tables = []string{"blocks", "transactions", "outputs", "inputs", "assets", "asset_events"}

// Formats are the formats of files.
var Formats = tablefile.Formats

// Representations of hashes.
const (
	HashesHex    = "hex"
	HashesBinary = "binary"
)

// Defaults of [Options].
const (
	DefaultConfirmations = 100
	DefaultMemory        = 256 << 20
	smallBlocks          = 100_000 // blocks of a part on chains with many small blocks
	largeBlocks          = 10_000
)

// Options select the content and the form of an export.
type Options struct {
	Tables        []string        // nil: all
	From          model.HeightPk  // the first block
	To            *model.HeightPk // the last block; nil: the tip
	Format        string          // of Formats
	Partition     int             // blocks of a partition; 0: DefaultPartition
	Confirmations int             // depth at which the last block of a partition makes it final
	Hashes        string          // HashesHex or HashesBinary
	Memory        int64           // bytes for tables of recent outputs and texts; 0: DefaultMemory
	Jobs          int             // parts at the same time; 0: one
	Progress      func(Progress)  // nil: none. It is called concurrently
}

// Progress is the progress of an export.
type Progress struct {
	Txs, AllTxs uint64 // transactions whose rows are in the files, and all; AllTxs 0: unknown
	Skipped     uint64 // of Txs: they were in the files before
	Rows        uint64 // of all tables, in this run
}

// DefaultPartition returns the number of blocks of a partition for a chain.
func DefaultPartition(chain string) int {
	if chain == "cardano" || chain == "ergo" {
		return smallBlocks
	}
	return largeBlocks
}

// check sets defaults and rejects invalid values.
func (o *Options) check(l *schema.Layout) error {
	if o.Tables == nil {
		o.Tables = Tables
	}
	for _, name := range o.Tables {
		if !slices.Contains(Tables, name) {
			return badOption("no table %q: expected %s", name, strings.Join(Tables, ", "))
		}
	}
	if o.Format == "" {
		o.Format = Formats[0]
	}
	if !slices.Contains(Formats, o.Format) {
		return badOption("no format %q: expected %s", o.Format, strings.Join(Formats, ", "))
	}
	if o.Hashes == "" {
		o.Hashes = HashesHex
	}
	if o.Hashes != HashesHex && o.Hashes != HashesBinary {
		return badOption("hashes %q: expected %s or %s", o.Hashes, HashesHex, HashesBinary)
	}
	if o.Partition == 0 {
		o.Partition = DefaultPartition(l.Chain.Name())
	}
	if o.Partition < 1 || o.Confirmations < 0 {
		return badOption("partition %d and confirmations %d: expected at least 1 and 0", o.Partition, o.Confirmations)
	}
	if o.To != nil && *o.To < o.From {
		return badOption("the last block %d is below the first one, %d", *o.To, o.From)
	}
	if o.Memory == 0 {
		o.Memory = DefaultMemory
	}
	return nil
}

func badOption(format string, args ...any) error {
	return model.Errorf(model.Usage, "bad_value", format, args...)
}
