package schema

import (
	"bytes"
	"encoding/binary"
	"flag"
	"fmt"
	"hash/crc32"
	"math/big"
	"os"
	"slices"
	"strings"
	"testing"

	"birthmark/model"
	"birthmark/storage"
)

var update = flag.Bool("update", false, "write testdata/rows.golden")

// goldenRow is one row as its codec writes it.
type goldenRow struct {
	family, keyLayout, valueLayout string
	key, value                     []byte
	many                           bool // the row is of a many-valued index: births have an ordinal
}

// goldenRows returns one row per family and per row of meta, and one per family of a many-valued index.
func goldenRows() (rows []goldenRow) {
	const pk = model.UtxoPk(700_000<<38 | 12<<19 | 3)
	var (
		hash   = model.Hash(bytes.Repeat([]byte{0xab}, 32))
		parent = model.Hash(bytes.Repeat([]byte{0xcd}, 32))
		birth  = model.BirthPk{Utxo: pk - 5<<38, Ordinal: 2}
		asset  = model.AssetBirthPk{Utxo: pk - 6<<38, Index: 1}
		text   = []byte("text")
		amount = model.Uint128Of(300)
		layout = rowLayout()
	)
	burned := SupplyOf(big.NewInt(-1000))
	put := func(d declaration, key, value []byte) {
		rows = append(rows, goldenRow{d.Name, d.key, d.value, key, value, false})
	}
	one, many := layout.ByNumber(1), layout.ByNumber(200)
	row := UtxoRow{Value: 5_000_000_000, Occurrences: []Occurrence{{one, birth}, {many, birth}}}
	entry := AssetEntry{Amount: model.Uint128Of(250), Birth: asset, Minted: true}
	totals := AssetTotals{Outputs: 9, Unspent: 2, Holders: 1, Mints: 3, Burns: 1}
	totals.Minted.SetInt64(1000)
	totals.Burned.SetInt64(5)

	put(metaFamily, MetaChain, []byte("bitcoin"))
	put(blockFamily, pk.Height().AppendTo(nil), AppendBlockRow(nil,
		&BlockRow{Hash: hash, Parent: parent, Time: 1_600_000_000, Slot: 7, TxCount: 2000, Size: 1_000_000, Header: []byte("header")}))
	put(heightFamily, hash[:], AppendHeightRow(nil, pk.Height(), 1_600_000_000))
	put(txHashFamily, pk.Tx().AppendTo(nil), AppendTxHashRow(nil, &hash, model.Fee{Stated: true, Amount: 170_000}))
	put(txPkFamily, AppendTxPkKey(nil, &hash, pk.Tx()), nil)
	put(utxoFamily, pk.AppendTo(nil), AppendUtxoRow(nil, pk, &row))
	put(spentUtxoFamily, model.InputPk(pk+9).AppendTo(nil), pk.AppendTo(nil))
	put(spentInputFamily, pk.AppendTo(nil), model.InputPk(pk+9).AppendTo(nil))
	put(assetsFamily, pk.AppendTo(nil), AppendAssetEntry(AppendAssetEntry(nil, pk, entry), pk, AssetEntry{Amount: model.Uint128Of(1), Birth: asset}))
	put(assetIDFamily, asset.AppendTo(nil), text)
	put(assetBirthFamily, AppendBirthKey(nil, text, asset.AppendTo(nil)), nil)
	put(assetRelationsFamily, AppendAssetRelationKey(nil, asset, model.AssetPk{Utxo: pk, Index: 4}), nil)
	put(supplyFamily, AppendSupplyKey(nil, asset, pk.Tx()), AppendSupplyRow(nil, &burned))
	orphan := OrphanRow{Number: 3, Height: pk.Height(), Hash: hash, Time: 1_600_000_000, OrphanedAt: 1_600_000_700, Depth: 1}
	put(orphanFamily, OrphanKey(3), AppendOrphanRow(nil, &orphan))
	put(fingerprintFamily, text, asset.AppendTo(nil))
	put(holdingsFamily, AppendHoldingKey(nil, HoldingKey{asset, birth}), AppendHolding(nil, amount))
	put(assetTotalsFamily, asset.AppendTo(nil), AppendAssetTotalsRow(nil, &totals))
	put(assetInfoFamily, asset.AppendTo(nil), text)
	put(rawFamily, pk.Tx().AppendTo(nil), text)
	place := model.Place{File: "/node/blocks/blk00123.dat", Offset: 70_000, Sizes: []int{200, 70, 4_000}}
	put(placeFamily, pk.Height().AppendTo(nil), AppendPlaceRow(nil, pk.Height(), &place))
	put(sizesFamily, pk.Height().AppendTo(nil), AppendSizesRow(nil, &place))
	account := Account{Received: Int128{1, 0}, Sent: Int128Of(400, 1), Outputs: 300, Unspent: 1, Txs: 301}
	for _, x := range []*Index{one, many} {
		encoded := birth.AppendTo(nil, x.Kind.HasOrdinal())
		first := len(rows)
		put(valueFamily, encoded, text)
		put(birthFamily, AppendBirthKey(nil, text, encoded), nil)
		put(relationsFamily, AppendRelationKey(nil, x, birth, pk), nil)
		put(balanceFamily, encoded, AppendAccountRow(nil, &account))
		put(richestFamily, AppendRichestKey(nil, x, account.Balance(), birth), AppendRichestRow(nil, 300))
		put(heldFamily, AppendHeldKey(nil, x, birth, asset), AppendHolding(nil, amount))
		put(unspentFamily, AppendRelationKey(nil, x, birth, pk), nil)
		put(historyFamily, AppendHistoryKey(nil, x, birth, pk.Tx()), AppendHistoryRow(nil, TxAmounts{Received: 500, Sent: 1}))
		shown := model.Index{Format: func(value []byte) string { return "text of " + string(value) }}
		put(textFamily, AppendTextKey(nil, &shown, text, encoded), nil)
		for i := range rows[first:] {
			rows[first+i].many = x == many
			rows[first+i].family += ", " + x.Kind.String()
		}
	}
	put(valuesFamily, pk.Height().AppendTo(nil), AppendBlockValues(nil, BlockValues{New: 3, Active: 700, First: 500}))
	put(valuesDayFamily, DayOf(1_600_000_000).AppendTo(nil), AppendDayValues(nil, DayValues{First: pk.Height(), New: 3, Active: 500}))
	put(blocksFamily, AppendBlocksKey(nil, text, pk.Height()), nil)
	sums := Statistics{Txs: 2000, Inputs: 5000, Outputs: 6000, Bytes: 1_000_000, Spent: amount, Created: amount, Fees: amount,
		FeesUnknown: 1, Assets: 2, Mints: 3, Burns: 4}
	put(sumsFamily, pk.Height().AppendTo(nil), AppendBlockStatistics(nil, &BlockStatistics{Statistics: sums, Unspent: 9, Supply: amount}))
	put(sumsDayFamily, DayOf(1_600_000_000).AppendTo(nil), AppendDayStatistics(nil, &DayStatistics{Blocks: 144, Statistics: sums}))
	counts := map[storage.Family]uint64{FamilyBlock: 700_001, FamilyUtxo: 9}
	change := IndexChange{Index: many, BuiltTo: model.Point{Height: 9, Hash: hash, Slot: 3}, Rows: counts, CleanedTo: pk}
	for _, m := range metaSchema {
		var value []byte
		switch m.name {
		case string(MetaFormat):
			value = binary.AppendUvarint(nil, FormatVersion)
		case string(MetaChain), string(MetaNetwork):
			value = []byte(m.name)
		case string(MetaIndexes):
			value = layout.AppendTo(nil)
		case string(MetaTip):
			value = AppendTip(nil, model.Point{Height: pk.Height(), Hash: hash, Slot: 77})
		case string(MetaTotals):
			value = (&Totals{Assets: 1, GenesisTxs: 2, GenesisOutputs: 300, UnspentValue: 4, Checksum: 1 << 63, Rows: counts}).AppendTo(nil)
		case string(MetaChange):
			value = change.AppendTo(nil)
		}
		rows = append(rows, goldenRow{"meta " + m.name, "name", m.value, []byte(m.name), value, false})
	}
	for _, m := range segmentSchema {
		value := []byte("http://primary.example.org/v1/bitcoin")
		if m.name == string(SegmentPosition) {
			value = AppendPosition(nil, &Position{Lineage: Lineage{0: 0xab, 15: 0xcd}, Seq: 70_000, Hash: hash})
		}
		rows = append(rows, goldenRow{segmentFamily.Name + " " + m.name, "name", m.value, []byte(m.name), value, false})
	}
	return rows
}

// sizeOf returns the size in bytes of a field with a fixed size, else 0.
func sizeOf(field string, many bool) int {
	for _, p := range pointers {
		if slices.Contains(p.names, field) {
			if field == "birth_pk" && many {
				return model.PkOrdinalSize
			}
			return p.size
		}
	}
	switch field {
	case "block_hash", "parent_hash", "tx_hash", "segment_hash":
		return len(model.Hash{})
	case "lineage":
		return len(Lineage{})
	case "seq":
		return 8
	case "day":
		return 4
	case "inverted_balance":
		return int128Size
	case "sign", "0", "1", "kind", "live", "coming", "own", "length":
		return 1
	case "checksum":
		return crc32.Size
	}
	if strings.HasPrefix(field, "prefix of ") {
		return storage.PrefixSize
	}
	return 0
}

// dissect splits b as a layout in the notation of docs/schema.md describes it, one line per field. It fails if the
// fields do not add up to b.
func dissect(layout string, b []byte, many bool) (lines []string, err error) {
	repeated := ""
	if i := strings.IndexByte(layout, '['); i >= 0 {
		layout, repeated = strings.TrimSuffix(layout[:i], "|"), strings.TrimSuffix(layout[i+1:], "]")
	}
	length := -1 // length of the next field, if it has a length prefix
	split := func(layout string) error {
		fields := strings.Split(layout, "|")
		ordinals := true // this element has an ordinal
		for i, field := range fields {
			if layout == "" {
				return nil
			}
			size, note := sizeOf(field, many), ""
			kind, name, typed := strings.Cut(field, " ")
			switch {
			case field == "uvarint ordinal if many-valued" && !ordinals:
				continue
			case typed && (kind == "uvarint" || kind == "varint"):
				v, n := binary.Uvarint(b)
				if n <= 0 {
					return fmt.Errorf("%s: %x is not a uvarint", field, b)
				}
				if size, note = n, fmt.Sprintf(" = %d", v); kind == "varint" {
					signed, _ := binary.Varint(b)
					note = fmt.Sprintf(" = %d", signed)
				}
				if name == "length" {
					length = int(v)
				}
				if name == "index_number" {
					ordinals = v == 200
				}
			case typed && kind == "text":
				v, n := binary.Uvarint(b)
				size = n + int(v)
			case length >= 0:
				size, length = length, -1
			case field == "length":
				length = int(b[0])
			case size == 0: // the rest, except for fields of fixed sizes
				size = len(b)
				for _, after := range fields[i+1:] {
					size -= sizeOf(after, many)
				}
			}
			if size > len(b) {
				return fmt.Errorf("%s has %d bytes, %d are left", field, size, len(b))
			}
			lines = append(lines, fmt.Sprintf("    %-30s %x%s", field, b[:size], note))
			b = b[size:]
		}
		return nil
	}
	err = split(layout)
	for err == nil && repeated != "" && len(b) > 0 {
		err = split(repeated)
	}
	if err == nil && len(b) > 0 {
		err = fmt.Errorf("%x is left", b)
	}
	return lines, err
}

// The layouts in docs/schema.md match the codecs: each field of a row has the size that its layout specifies.
// testdata/rows.golden shows one row per family, field by field, and its decoded form.
func TestLayout(t *testing.T) {
	var text strings.Builder
	shown := map[string]bool{}
	for _, row := range goldenRows() {
		name, _, _ := strings.Cut(row.family, ",")
		shown[name] = true
		fmt.Fprintf(&text, "%s\n", row.family)
		for _, part := range []struct {
			name, layout string
			b            []byte
		}{{"key", row.keyLayout, row.key}, {"value", row.valueLayout, row.value}} {
			lines, err := dissect(part.layout, part.b, row.many)
			if err != nil {
				t.Errorf("%s: the %s %x does not match the layout %s: %v", row.family, part.name, part.b, part.layout, err)
			}
			fmt.Fprintf(&text, "  %s %x\n%s\n", part.name, part.b, strings.Join(append(lines, ""), "\n"))
		}
		row, err := decoded(row)
		if err != nil {
			t.Errorf("%s: %v", name, err)
		} else if row != "" {
			fmt.Fprintf(&text, "  decoded %s\n", row)
		}
	}
	for _, d := range slices.Concat(Schema, []declaration{rawFamily, placeFamily, sizesFamily}, outputsSchema, blocksSchema, sumsSchema) {
		if !shown[d.Name] {
			t.Errorf("family %s has no golden row", d.Name)
		}
	}
	const golden = "testdata/rows.golden"
	got := strings.ReplaceAll(text.String(), "\n\n", "\n")
	if *update {
		if err := os.WriteFile(golden, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if want, err := os.ReadFile(golden); err != nil || string(want) != got {
		t.Errorf("%s differs from the rows that are written (%v): stored rows must not change; -update shows how", golden, err)
	}
}

// decoded formats the decoded row of a family. It is empty for families whose values need no decoder.
func decoded(row goldenRow) (string, error) {
	const pk = 700_000<<38 | 12<<19 | 3
	layout := rowLayout()
	x := layout.ByNumber(1)
	if row.many {
		x = layout.ByNumber(200)
	}
	show := func(row any, err error) (string, error) { return fmt.Sprintf("%+v", row), err }
	name, _, _ := strings.Cut(row.family, ",")
	switch name {
	case "block_by_height_pk":
		return show(ParseBlockRow(row.value))
	case "lost_block_by_lost_pk":
		return show(ParseOrphanRow(row.key, row.value))
	case "utxo_by_utxo_pk":
		utxo, err := layout.ParseUtxoRow(pk, row.value)
		text := fmt.Sprintf("{Value:%d", utxo.Value)
		for _, o := range utxo.Occurrences {
			text += fmt.Sprintf(" %s:%v", o.Index.Name, o.Birth)
		}
		return text + "}", err
	case "assets_by_utxo_pk":
		return show(ParseAssetsRow(pk, row.value))
	case "spent_utxo_pk_by_input_pk":
		return show(ParseSpendRow(row.key, row.value))
	case "asset_relations":
		return show(ParseAssetRelationRow(row.key, row.value))
	case "asset_supply_by_tx_pk":
		return show(ParseSupplyRow(row.key, row.value))
	case "asset_holdings":
		return show(ParseHoldingRow(row.key, row.value))
	case "asset_totals_by_birth_pk":
		t, err := ParseAssetTotalsRow(row.value)
		return fmt.Sprintf("{Outputs:%d Unspent:%d Holders:%d Mints:%d Burns:%d Minted:%v Burned:%v}",
			t.Outputs, t.Unspent, t.Holders, t.Mints, t.Burns, &t.Minted, &t.Burned), err
	case "I_statistics_by_height_pk":
		return show(ParseBlockValues(row.value))
	case "I_statistics_by_day":
		return show(ParseDayValues(row.value))
	case "I_by_height_pk":
		return show(ParseBlockStatistics(row.value))
	case "I_by_day":
		return show(ParseDayStatistics(row.value))
	case "I_relations", "I_unspent":
		return show(x.ParseRelationRow(row.key, row.value))
	case "I_balance_by_birth_pk":
		return show(ParseAccountRow(row.value))
	case "I_richest":
		return show(x.ParseRichestRow(row.key, row.value))
	case "I_held_assets":
		return show(x.ParseHeldRow(row.key, row.value))
	case "I_blocks":
		return show(ParseBlocksRow(row.key, row.value))
	case "I_history":
		return show(x.ParseHistoryRow(row.key, row.value))
	}
	return "", nil
}
