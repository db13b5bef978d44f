package schema

import (
	"fmt"
	"io"
	"strings"

	"birthmark/model"
	"birthmark/storage"
)

// FormatVersion is the version of the layout below. Opening a database with another version fails.
const FormatVersion = 5

// The families of every database. The numbers are stored and must not change.
const (
	FamilyMeta storage.Family = iota
	FamilyBlock
	FamilyHeight
	FamilyTxHash
	FamilyTxPk
	FamilyUtxo
	FamilySpentUtxo
	FamilySpentInput
	FamilyAssets
	FamilyAssetID
	FamilyAssetBirth
	FamilyAssetRelations
	FamilyAssetSupply
	FamilyOrphanBlock
	FamilyFingerprint
	FamilyHoldings
	FamilyAssetTotals
	FamilyAssetInfo
	FamilyRaw
	fixedFamilies
)

// The families of index n are FirstIndexFamily + n*FamiliesPerIndex + one of these.
const (
	IndexValue     = iota // value by birth
	IndexBirth            // birth by value
	IndexRelations        // later occurrences
	IndexBalance          // balances, with the option balance
	IndexHeld             // held assets, with the option balance
	IndexUnspent          // unspent outputs, with the option unspent
	IndexHistory          // transactions, with the option history
	IndexText             // values in the order of their texts, with the option prefix

	FirstIndexFamily storage.Family = 64
	FamiliesPerIndex storage.Family = 16
)

// declaration declares a family: its layout in the notation of docs/schema.md, and its purpose. The functions in
// rows.go named for the family encode and decode exactly this layout.
type declaration struct {
	storage.Declaration
	key, value, purpose string
}

var Schema = []declaration{
	{storage.Declaration{Family: FamilyMeta, Name: "meta", Access: storage.Lookup},
		"name", "bytes",
		"properties and state of the database: its rows are listed below"},
	{storage.Declaration{Family: FamilyBlock, Name: "block_by_height_pk", Access: storage.Ordered},
		"height_pk", "block_hash|parent_hash|varint time|uvarint slot|uvarint tx_count|uvarint size|header",
		"a block; the header is the chain's own bytes"},
	{storage.Declaration{Family: FamilyHeight, Name: "height_pk_by_block_hash", Access: storage.Lookup},
		"block_hash", "height_pk|varint time",
		"the height of a block"},
	{storage.Declaration{Family: FamilyTxHash, Name: "tx_hash_by_tx_pk", Access: storage.Ordered, Incompressible: true},
		"tx_pk", "tx_hash|[uvarint fee]",
		"a transaction; the fee only if the transaction states it"},
	{storage.Declaration{Family: FamilyTxPk, Name: "tx_pk_by_tx_hash", Access: storage.Hashed, Incompressible: true, DeferCompaction: true},
		"prefix of tx_hash|tx_pk", "",
		"the transactions with a hash, several if it is repeated (BIP 30); tx_hash_by_tx_pk has the full hash to compare"},
	{storage.Declaration{Family: FamilyUtxo, Name: "utxo_by_utxo_pk", Access: storage.Ordered},
		"utxo_pk", "uvarint value|[uvarint index_number|uvarint utxo_pk-birth_pk|uvarint ordinal if many-valued]",
		"an output: its value and the births of the values that occur in it; distance 0 is a birth"},
	{storage.Declaration{Family: FamilySpentUtxo, Name: "spent_utxo_pk_by_input_pk", Access: storage.Ordered},
		"input_pk", "utxo_pk",
		"the output that an input spends"},
	{storage.Declaration{Family: FamilySpentInput, Name: "spent_input_pk_by_utxo_pk", Access: storage.Lookup, DeferCompaction: true},
		"utxo_pk", "input_pk",
		"the input that spends an output; a row exists if and only if it is spent"},
	{storage.Declaration{Family: FamilyAssets, Name: "assets_by_utxo_pk", Access: storage.Lookup},
		"utxo_pk", "[uvarint amount|uvarint utxo_pk-birth_pk|uvarint birth_index*2+minted]",
		"the asset entries of an output, in order: entry n is asset_pk utxo_pk|n; minted: its transaction mints the asset"},
	{storage.Declaration{Family: FamilyAssetID, Name: "asset_id_by_birth_pk", Access: storage.Ordered, Incompressible: true},
		"asset_birth_pk", "asset_id",
		"an asset"},
	{storage.Declaration{Family: FamilyAssetBirth, Name: "birth_pk_by_asset_id", Access: storage.Hashed, Incompressible: true},
		"prefix of asset_id|asset_birth_pk", "",
		"the birth of an asset; asset_id_by_birth_pk has the full id to compare"},
	{storage.Declaration{Family: FamilyAssetRelations, Name: "asset_relations", Access: storage.Grouped, DeferCompaction: true},
		"asset_birth_pk|asset_pk", "",
		"every occurrence of an asset after its birth"},
	{storage.Declaration{Family: FamilyAssetSupply, Name: "asset_supply_by_tx_pk", Access: storage.Grouped},
		"asset_birth_pk|tx_pk", "sign|magnitude",
		"the amount of an asset that a transaction minted (sign 0) or burned (sign 1)"},
	{storage.Declaration{Family: FamilyOrphanBlock, Name: "lost_block_by_lost_pk", Access: storage.Ordered},
		"lost_pk", "height_pk|block_hash|varint time|varint time_lost|uvarint depth",
		"the last 1,000 orphaned blocks; depth 1 was the tip, and each block below it one deeper. This is history and not determined by the chain: dumps and the counts in meta leave it out"},
	{storage.Declaration{Family: FamilyFingerprint, Name: "birth_pk_by_asset_fingerprint", Access: storage.Lookup},
		"fingerprint", "asset_birth_pk",
		"the birth of the asset with a fingerprint, on chains with fingerprints (Cardano: CIP-14)"},
	{storage.Declaration{Family: FamilyHoldings, Name: "asset_holdings", Access: storage.Lookup},
		"asset_birth_pk|birth_pk", "amount",
		"the amount of an asset in the unspent outputs of a holder, a value of the index address; a page of holders reads that many rows"},
	{storage.Declaration{Family: FamilyAssetTotals, Name: "asset_totals_by_birth_pk", Access: storage.Lookup},
		"asset_birth_pk", "uvarint outputs|uvarint unspent|uvarint holders|uvarint mints|uvarint burns|uvarint length|minted|burned",
		"totals of an asset: outputs with it, unspent ones, holders, transactions that minted or burned it, and the amounts"},
	{storage.Declaration{Family: FamilyAssetInfo, Name: "asset_info_by_birth_pk", Access: storage.Ordered},
		"asset_birth_pk", "info",
		"the description of an asset by its first minting transaction (Ergo: registers R4 to R6, EIP-4); no row if there is none"},
}

// rawSchema is the family of databases that store raw transactions.
var rawSchema = []declaration{
	{storage.Declaration{Family: FamilyRaw, Name: "raw_by_tx_pk", Access: storage.Ordered},
		"tx_pk", "bytes",
		"a transaction in the form of its chain: Bitcoin with witness; Cardano as submitted to a node, an array of body, witnesses, since Alonzo the validity of its scripts, and auxiliary data or null; Ergo with proofs. Genesis outputs have none"},
}

// Determined reports whether the chain determines the rows of a family. Dumps and the counts in meta leave out the
// other family, the orphaned blocks, because it differs between databases of the same chain.
func Determined(f storage.Family) bool { return f != FamilyOrphanBlock }

// indexSchema declares the families of one index; I is a placeholder for its name.
var indexSchema = []declaration{
	{storage.Declaration{Family: IndexValue, Name: "I_by_birth_pk", Access: storage.Ordered, Incompressible: true},
		"birth_pk", "value of I",
		"a value of index I"},
	{storage.Declaration{Family: IndexBirth, Name: "birth_pk_by_I", Access: storage.Hashed, Incompressible: true},
		"prefix of value|birth_pk", "",
		"the birth of a value; I_by_birth_pk has the full value to compare"},
	{storage.Declaration{Family: IndexRelations, Name: "I_relations", Access: storage.Grouped, DeferCompaction: true},
		"birth_pk|utxo_pk", "",
		"every occurrence of a value after its birth; one-to-one indexes have none"},
	{storage.Declaration{Family: IndexBalance, Name: "I_balance_by_birth_pk", Access: storage.Lookup},
		"birth_pk", "uvarint outputs|uvarint unspent|uvarint txs|length|received|sent",
		"option balance: the account of a value; txs counts the transactions that pay to it or spend from it, length is one byte, received and sent are big-endian without leading zeros"},
	{storage.Declaration{Family: IndexHeld, Name: "I_held_assets", Access: storage.Lookup},
		"birth_pk|asset_birth_pk", "amount",
		"option balance: the amount of an asset in the unspent outputs of a value"},
	{storage.Declaration{Family: IndexUnspent, Name: "I_unspent", Access: storage.Grouped},
		"birth_pk|utxo_pk", "",
		"option unspent: the unspent outputs of a value, including its birth"},
	{storage.Declaration{Family: IndexHistory, Name: "I_history", Access: storage.Grouped, DeferCompaction: true},
		"birth_pk|tx_pk", "uvarint received|uvarint sent",
		"option history: a transaction that pays to a value or spends from it, and the amounts"},
	{storage.Declaration{Family: IndexText, Name: "I_texts", Access: storage.Grouped},
		"text|0|birth_pk", "",
		"option prefix: the text of a value, at most its first 255 bytes"},
}

func (x *Index) Family(which storage.Family) storage.Family {
	return FirstIndexFamily + storage.Family(x.Number)*FamiliesPerIndex + which
}

// FeatureOf returns the feature that a family of an index belongs to.
func FeatureOf(which storage.Family) Features {
	switch which {
	case IndexBalance, IndexHeld:
		return FeatureBalance
	case IndexUnspent:
		return FeatureUnspent
	case IndexHistory:
		return FeatureHistory
	case IndexText:
		return FeaturePrefix
	}
	return FeatureValues
}

// DeclarationsOf returns the families of some features of the index.
func (x *Index) DeclarationsOf(p Features) []storage.Declaration {
	var ds []storage.Declaration
	for _, d := range indexSchema {
		if !p.Has(FeatureOf(d.Family)) || x.Kind == model.OneToOne && d.Family == IndexRelations {
			continue
		}
		ds = append(ds, storage.Declaration{
			Family: x.Family(d.Family),
			Name:   strings.Replace(d.Name, "I", x.Name, 1),
			Access: d.Access, Incompressible: d.Incompressible, DeferCompaction: d.DeferCompaction,
		})
	}
	return ds
}

// metaSchema describes the rows of meta, as the AppendTo methods of their types encode them.
var metaSchema = []struct{ name, value, purpose string }{
	{string(MetaFormat), "uvarint version", "the version of this layout; a database with another version is refused"},
	{string(MetaChain), "text", "the chain; a database of another chain is refused"},
	{string(MetaNetwork), "text", "the network, checked likewise"},
	{string(MetaIndexes),
		"uvarint next_index_number|[uvarint index_number|kind|live|coming|own|text name|text when|text value]",
		"every index that ever existed, by number; kind, live, coming and own are bytes. live: bits of its families " +
			"(1 values, 2 balance, 4 unspent, 8 history, 16 prefix); coming: bits of the families being added; own 1: defined " +
			"in the settings, with its expressions"},
	{string(MetaTip), "height_pk|block_hash|uvarint slot", "the last block; no row before the first block"},
	{string(MetaTotals),
		"uvarint assets|uvarint genesis_txs|uvarint genesis_outputs|uvarint unspent_value|uvarint checksum|" +
			"[uvarint family|uvarint rows]",
		"counts, the value of all unspent outputs, and the number of rows of every family but meta and " +
			"lost_block_by_lost_pk. The checksum is the sum of all outputs' values, assets' amounts, stated fees, blocks' " +
			"sizes, slots and parents (as four big-endian words), transactions' hashes (the last three of their words), " +
			"the FNV-1a hashes of assets' infos, and the SipHash-2-4 of raw transactions keyed with their tx_pk, modulo 2^64"},
	{string(MetaRaw), "", "exists if raw transactions are stored"},
	{string(MetaChange), "uvarint index_number|utxo_pk|height_pk|block_hash|uvarint slot|[uvarint family|uvarint rows]",
		"the index that is being added or dropped, if any. Added: its last block, and the rows " +
			"of its families. Dropped: outputs below utxo_pk no longer contain it"},
}

// WriteMarkdown writes docs/schema.md.
func WriteMarkdown(w io.Writer) error {
	var b strings.Builder
	fmt.Fprintf(&b, `# Schema

Format %d. Printed by `+"`birthmark schema`"+`; declared in core/schema/schema.go.

`+"`->`"+` maps key to value, `+"`|`"+` joins, `+"`[ ]`"+` repeats. Pointers are big-endian, so that byte order is chain order:

| pointer | bytes | made of |
|---|---|---|
| height_pk | 4 | block height |
| tx_pk | 8 | 26 bits height, 19 bits transaction, 19 bits 0 |
| input_pk | 8 | 26 bits height, 19 bits transaction, 19 bits input |
| utxo_pk | 8 | 26 bits height, 19 bits transaction, 19 bits output |
| asset_pk, asset_birth_pk | 10 | utxo_pk, 16 bits asset entry |
| birth_pk | 8 | utxo_pk of the output where a value first occurred; 10 with a 16-bit ordinal in many-valued indexes |
| lost_pk | 8 | number of an orphaned block, counted from 1 in the order of removal |

A prefix has 8 bytes: the first of a transaction's hash as the chain serializes it, or the first of the SHA-256 of any other
value. Several rows can have the same prefix; the reverse family has the full values to compare.

Amounts of assets are big-endian, without leading zeros. uvarint and varint are those of Go's encoding/binary (base 128, the
latter zigzag). Genesis outputs have height 0 and come before the transactions of a block at height 0.

## Every database

`, FormatVersion)
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
	table(rawSchema)
	b.WriteString("\n## Every index I\n\n")
	table(indexSchema)
	_, err := io.WriteString(w, b.String())
	return err
}

func (c *Layout) Declarations() []storage.Declaration {
	var ds []storage.Declaration
	for _, d := range Schema {
		ds = append(ds, d.Declaration)
	}
	if c.Raw {
		ds = append(ds, rawSchema[0].Declaration)
	}
	for _, x := range c.All {
		ds = append(ds, x.DeclarationsOf(x.Active|x.Building)...)
	}
	return ds
}

// FamilyCount returns a number larger than any family number of the layout.
func (c *Layout) FamilyCount() int {
	most := fixedFamilies
	for _, x := range c.All {
		most = max(most, x.Family(FamiliesPerIndex))
	}
	return int(most)
}

func (c *Layout) FamilyName(f storage.Family) string {
	for _, d := range c.Declarations() {
		if d.Family == f {
			return d.Name
		}
	}
	return fmt.Sprintf("family %d", f)
}
