package schema

import (
	"fmt"
	"io"
	"strings"

	"birthmark/model"
)

// pointers describes the pointers in keys and values.
var pointers = []struct {
	names []string
	size  int
	parts string
}{
	{[]string{"height_pk"}, model.HeightPkSize, "block height"},
	{[]string{"tx_pk"}, model.PkSize, "height, transaction, 0"},
	{[]string{"input_pk"}, model.PkSize, "height, transaction, input"},
	{[]string{"utxo_pk"}, model.PkSize, "height, transaction, output"},
	{[]string{"asset_pk", "asset_birth_pk"}, model.PkOrdinalSize, "utxo_pk, 16 bits asset entry"},
	{[]string{"birth_pk"}, model.PkSize,
		"utxo_pk of the output where a value first occurred; 10 with a 16-bit ordinal in many-valued indexes"},
	{[]string{"lost_pk"}, model.PkSize, "number of an orphaned block, counted from 1 in the order of removal"},
}

// WriteMarkdown writes docs/schema.md.
func WriteMarkdown(w io.Writer) error {
	var b strings.Builder
	fmt.Fprintf(&b, `# Schema

Format %d. Printed by `+"`birthmark schema`"+`; declared in core/schema/rows_*.go and meta.go.

`+"`->`"+` maps key to value, `+"`|`"+` joins, `+"`[ ]`"+` repeats. Pointers are big-endian, so that byte order is chain order:

| pointer | bytes | made of |
|---|---|---|
`, FormatVersion)
	for _, p := range pointers {
		fmt.Fprintf(&b, "| %s | %d | %s |\n", strings.Join(p.names, ", "), p.size, p.parts)
	}
	fmt.Fprintf(&b, `
Pointers of BSV are wide: they begin at %016x and have 21 bits of height, 24 of transaction, 18 of input or output.
All others are below, with 26, 19 and 19 bits ([ADR 1](adr/0001-a-pointer-is-one-uint64.md)).
`, uint64(model.WidePointers.First(0)))
	b.WriteString(`
A prefix has 8 bytes: the first of a transaction's hash as the chain serializes it, or the first of the SHA-256 of any other
value. Several rows can have the same prefix; the reverse family has the full values to compare.

Amounts of assets are big-endian, without leading zeros. uvarint and varint are those of Go's encoding/binary (base 128, the
latter zigzag). Genesis outputs have height 0 and come before the transactions of a block at height 0.

## Every database

`)
	row := func(name, layout, purpose string) {
		cell := strings.NewReplacer("|", `\|`).Replace
		fmt.Fprintf(&b, "| `%s` | `%s` | %s |\n", cell(name), cell(layout), cell(purpose))
	}
	or := func(value string) string {
		if value == "" {
			return `""`
		}
		return value
	}
	table := func(ds []declaration) {
		b.WriteString("| family | key -> value | purpose |\n|---|---|---|\n")
		for _, d := range ds {
			row(d.Name, d.key+" -> "+or(d.value), d.purpose)
		}
	}
	table(Schema)
	b.WriteString("\n### Rows of meta\n\nA text is its bytes; if more follows, its length as uvarint comes first.\n\n" +
		"| name | value | purpose |\n|---|---|---|\n")
	for _, m := range metaSchema {
		row(m.name, or(m.value), m.purpose)
	}
	b.WriteString("\n## With raw transactions\n\n")
	table([]declaration{rawFamily})
	b.WriteString("\n## With raw transactions in the files of a node\n\n")
	table([]declaration{placeFamily, sizesFamily})
	b.WriteString("\n## With recorded segments, and in replicas\n\n")
	table([]declaration{segmentFamily})
	b.WriteString("\n| name | value | purpose |\n|---|---|---|\n")
	for _, m := range segmentSchema {
		row(m.name, m.value, m.purpose)
	}
	b.WriteString("\n## Every index I\n\n")
	table(outputsSchema)
	b.WriteString("\n## Every index of blocks I\n\n")
	table(blocksSchema)
	b.WriteString("\n## The index statistics, with its name as I\n\n")
	table(sumsSchema)
	_, err := io.WriteString(w, b.String())
	return err
}
