package query

import (
	"encoding/json"

	"birthmark/model"
)

// The answers to queries, in the JSON shapes of the contract. Amounts are decimal strings. Hashes and values are in
// the chain's text format. Nil and absent fields mean unknown or not applicable. In CSV, fields with the tag amount are
// amounts of the asset that a field Asset names, or else of the coin, and those with the tag time are Unix seconds: see
// [birthmark/api/csvlist].

// BlockAnswer is one block with its transaction hashes.
type BlockAnswer struct {
	Chain    string   `json:"chain"`
	Height   uint32   `json:"height"`
	Hash     string   `json:"hash"`
	PrevHash string   `json:"prev_hash,omitempty"`
	Time     int64    `json:"time"`
	Size     int      `json:"size"`
	TxCount  int      `json:"tx_count"`
	Txs      []string `json:"txs"`
	Header   any      `json:"header"`
}

// BlockTotalsAnswer is the sums of a block. Values are in the smallest unit.
type BlockTotalsAnswer struct {
	Chain       string `json:"chain"`
	Height      uint32 `json:"height"`
	Hash        string `json:"hash"`
	TxCount     int    `json:"tx_count"`
	Size        int    `json:"size"`
	Weight      int    `json:"weight,omitempty"` // Bitcoin, with raw transactions
	Inputs      int    `json:"inputs"`           // that spend an output
	Outputs     int    `json:"outputs"`
	InputValue  string `json:"input_value"`
	OutputValue string `json:"output_value"`
	Fees        string `json:"fees,omitempty"` // absent if a fee is unknown
}

// BlocksAnswer is a page of the blocks of the chain.
type BlocksAnswer struct {
	Chain  string               `json:"chain"`
	Blocks []BlockSummaryAnswer `json:"blocks"`
	Next   *string              `json:"next"`
}

// BlockSummaryAnswer is a block without its transactions and header.
type BlockSummaryAnswer struct {
	Height  uint32 `json:"height"`
	Hash    string `json:"hash"`
	Time    int64  `json:"time" csv:"time"`
	Size    int    `json:"size"`
	TxCount int    `json:"tx_count"`
}

// StatisticsNamesAnswer is the series of a database.
type StatisticsNamesAnswer struct {
	Chain  string                 `json:"chain"`
	Series []StatisticsNameAnswer `json:"series"`
}

// StatisticsNameAnswer is a series.
type StatisticsNameAnswer struct {
	Name        string `json:"name"`
	Unit        string `json:"unit"` // count, bytes, or amount, in the smallest unit of the coin
	Description string `json:"description"`
}

// StatisticsAnswer is a page of a series.
type StatisticsAnswer struct {
	Chain  string            `json:"chain"`
	Name   string            `json:"name"`
	By     string            `json:"by"`   // block, day, week or month
	Unit   string            `json:"unit"` // as in [StatisticsNameAnswer]
	Values []StatisticAnswer `json:"values"`
	Next   *string           `json:"next"`
}

// StatisticAnswer is the number of a block or a period.
type StatisticAnswer struct {
	Height *uint32 `json:"height,omitempty"`   // of a block
	From   int64   `json:"from" csv:"time"`    // unix seconds: the time of a block, or the first second of a period
	To     int64   `json:"to" csv:"time"`      // the time of a block, or the last second of a period
	Value  *string `json:"value" csv:"amount"` // in the unit of the series; nil: unknown
}

// TxAnswer is one transaction with its inputs resolved.
type TxAnswer struct {
	Chain     string         `json:"chain"`
	Hash      string         `json:"hash"`
	Height    uint32         `json:"height"`
	Index     int            `json:"index"`
	BlockHash string         `json:"block_hash,omitempty"` // absent for genesis transactions
	Time      int64          `json:"time,omitempty"`
	Coinbase  bool           `json:"coinbase"`
	Fee       string         `json:"fee,omitempty"`
	Inputs    []InputAnswer  `json:"inputs"`
	Outputs   []OutputAnswer `json:"outputs"`
	Mints     []MintAnswer   `json:"mints,omitempty"`

	Confirmations uint32 `json:"confirmations,omitempty"` // absent for genesis transactions

	// Only if the serialized transaction is known.
	Size    int      `json:"size,omitempty"`     // bytes
	FeeRate *float64 `json:"fee_rate,omitempty"` // smallest units per virtual byte, rounded to 3 decimals
	model.TxDetails
}

// RawTxAnswer is the serialized form of a transaction.
type RawTxAnswer struct {
	Tx  string `json:"tx"`
	Raw string `json:"raw"` // hex
}

// InputAnswer is the output that an input spends. Its SpentBy is omitted.
type InputAnswer struct {
	Index  int          `json:"index"`
	Output OutputAnswer `json:"output"`

	*model.InputDetails // only if the serialized transaction is known
}

// OutputAnswer is one output.
type OutputAnswer struct {
	Tx      string                   `json:"tx"`
	Index   int                      `json:"index"`
	Height  uint32                   `json:"height"`
	TxIndex int                      `json:"tx_index"`
	Value   string                   `json:"value" csv:"amount"`
	Keys    map[string]any           `json:"keys"` // index name -> string, or []string for a many-valued index
	Assets  []AssetEntryAnswer       `json:"assets,omitempty"`
	SpentBy *Optional[SpentByAnswer] `json:"spent_by,omitempty"` // nil: omitted; empty: null, unspent

	Path string `json:"path,omitempty" csv:"wallet"` // of the value in a wallet: see [DerivedAnswer]

	Confirmations uint32 `json:"confirmations,omitempty"`         // absent for genesis outputs, as the next
	BlockTime     int64  `json:"block_time,omitempty" csv:"time"` // unix seconds

	*model.OutputDetails `csv:"-"` // only in one transaction or output, if the serialized transaction is known
}

// Optional marshals to null if Value is nil, unlike an omitted field.
type Optional[T any] struct{ Value *T }

// MarshalJSON writes the value or null.
func (o Optional[T]) MarshalJSON() ([]byte, error) { return json.Marshal(o.Value) }

// WrapsJSON lets a writer of JSON append the value without the method above, which is slow.
func (Optional[T]) WrapsJSON() {}

// SpentByAnswer is the input that spends an output.
type SpentByAnswer struct {
	Tx     string `json:"tx"`
	Input  int    `json:"input"`
	Height uint32 `json:"height"`
}

// SpendingAnswer is an output and the input that spends it.
type SpendingAnswer struct {
	Tx      string                  `json:"tx"`
	Index   int                     `json:"index"`
	SpentBy Optional[SpentByAnswer] `json:"spent_by"` // null: unspent
}

// AssetEntryAnswer is one asset of an output. Action is "mint" if the output's transaction mints the asset, else
// "transfer".
type AssetEntryAnswer struct {
	Asset  string `json:"asset"`
	Amount string `json:"amount" csv:"amount"`
	Action string `json:"action"`
	*AssetParts
}

// AssetParts are the parts of the id of an asset, and its fingerprint, on chains whose assets have one (Cardano: CIP-14).
// Only answers about transactions, and about outputs by reference, have them.
type AssetParts struct {
	Policy      string   `json:"policy,omitempty"`
	Name        *string  `json:"name,omitempty"`      // hex; may be empty
	NameText    **string `json:"name_text,omitempty"` // without the prefix of CIP-67; null: empty or no printable UTF-8
	Fingerprint string   `json:"fingerprint,omitempty"`
}

// MintAnswer is the amount of an asset that a transaction minted (positive) or burned (negative).
type MintAnswer struct {
	Asset  string `json:"asset"`
	Amount string `json:"amount"`
	*AssetParts
}

// FirstSeenAnswer is the output in which a value or an asset first occurred.
type FirstSeenAnswer struct {
	Tx     string `json:"tx"`
	Index  int    `json:"index"`
	Height uint32 `json:"height"`
}

// FindAnswer is a page of the outputs that contain a value.
type FindAnswer struct {
	Index     string           `json:"index"`
	Value     string           `json:"value"`
	And       []Term           `json:"and,omitempty"`
	Or        []Term           `json:"or,omitempty"`
	FirstSeen *FirstSeenAnswer `json:"first_seen"` // null: no output has it
	Outputs   []OutputAnswer   `json:"outputs"`
	Next      *string          `json:"next"`

	Derived *DerivedAnswer     `json:"derived,omitempty"` // if the value is a wallet
	Mempool *PendingFindAnswer `json:"mempool,omitempty"` // if it was requested
}

// HistoryAnswer is a page of the transactions that pay to a value or spend from it.
type HistoryAnswer struct {
	Index     string            `json:"index"`
	Value     string            `json:"value"`
	FirstSeen *FirstSeenAnswer  `json:"first_seen"` // null: no output has it
	Txs       []HistoryTxAnswer `json:"txs"`
	GroupBy   string            `json:"group_by,omitempty"` // if it was requested: txs is empty
	Periods   []PeriodAnswer    `json:"periods,omitempty"`
	Next      *string           `json:"next"`

	Derived *DerivedAnswer        `json:"derived,omitempty"` // if the value is a wallet
	Mempool *PendingHistoryAnswer `json:"mempool,omitempty"` // if it was requested
}

// HistoryTxAnswer is the amounts that a value received and sent in one transaction.
type HistoryTxAnswer struct {
	Hash     string `json:"hash"`
	Height   uint32 `json:"height"`
	Index    int    `json:"index"`
	Received string `json:"received" csv:"amount"`
	Sent     string `json:"sent" csv:"amount"`

	Time    int64                `json:"time,omitempty" csv:"time"`         // unix seconds; absent for genesis transactions
	Balance string               `json:"balance,omitempty" csv:"amount"`    // after the transaction; absent if it is expensive to compute
	Net     string               `json:"net,omitempty" csv:"amount,wallet"` // of a wallet: received minus sent
	Assets  []HistoryAssetAnswer `json:"assets,omitempty"`
}

// HistoryAssetAnswer is the amounts of an asset that a value received and sent in one transaction.
type HistoryAssetAnswer struct {
	Asset    string `json:"asset"`
	Received string `json:"received" csv:"amount"`
	Sent     string `json:"sent" csv:"amount"`
}

// PeriodAnswer is the sums of the transactions of a value in a period.
type PeriodAnswer struct {
	From     int64  `json:"from" csv:"time"` // unix seconds
	To       int64  `json:"to" csv:"time"`   // last second
	Received string `json:"received" csv:"amount"`
	Sent     string `json:"sent" csv:"amount"`
	TxCount  uint64 `json:"tx_count"`
	Balance  string `json:"balance,omitempty" csv:"amount"` // at the end; absent if it is expensive to compute
}

// BalanceAnswer is the totals of a value.
type BalanceAnswer struct {
	Index        string               `json:"index"`
	Value        string               `json:"value"`
	Balance      string               `json:"balance"`
	Received     string               `json:"received"`
	Sent         string               `json:"sent"`
	TxCount      uint64               `json:"tx_count"`
	OutputCount  uint64               `json:"output_count"`
	UnspentCount *uint64              `json:"unspent_count,omitempty"` // absent if it is expensive to compute
	Assets       []AssetBalanceAnswer `json:"assets"`
	At           *TipAnswer           `json:"at,omitempty"` // the last block that counts, if one was requested

	// OutputTypes are the types of the outputs of an address that outputs of several types pay, such as P2PKH and P2PK,
	// which wallets that search by script do not count. Absent if the indexes do not store their numbers.
	OutputTypes []OutputTypeAnswer `json:"output_types,omitempty"`

	Derived *DerivedAnswer        `json:"derived,omitempty"` // if the value is a wallet
	Mempool *PendingBalanceAnswer `json:"mempool,omitempty"` // if it was requested
}

// OutputTypeAnswer is a number of outputs of one type.
type OutputTypeAnswer struct {
	Type        string `json:"type"`
	OutputCount uint64 `json:"output_count"`
}

// DerivedAnswer describes the values of a wallet: those of each branch up to the last used one, and Gap unused ones after
// it.
type DerivedAnswer struct {
	Gap       int                    `json:"gap"`
	UsedCount int                    `json:"used_count"`
	Used      []DerivedBalanceAnswer `json:"used,omitempty"` // of a balance, in the order of branches and indexes
	Next      []DerivedValueAnswer   `json:"next,omitempty"` // of a balance: the first unused value of each branch
}

// DerivedValueAnswer is a value of a wallet.
type DerivedValueAnswer struct {
	Value  string `json:"value"`
	Branch int    `json:"branch"` // 0: receiving; 1: change, in the usual wallets
	Index  int    `json:"index"`  // in the branch
	Path   string `json:"path,omitempty"`
}

// DerivedBalanceAnswer is the totals of a value of a wallet.
type DerivedBalanceAnswer struct {
	DerivedValueAnswer
	Balance  string `json:"balance"`
	Received string `json:"received"`
	Sent     string `json:"sent"`
	TxCount  uint64 `json:"tx_count"`
}

// AssetBalanceAnswer is the balance of one asset.
type AssetBalanceAnswer struct {
	Asset   string `json:"asset"`
	Balance string `json:"balance"`
}

// AssetAnswer is the totals of an asset.
type AssetAnswer struct {
	Asset        string          `json:"asset"`
	Fingerprint  string          `json:"fingerprint,omitempty"` // only on chains whose assets have one
	Name         string          `json:"name,omitempty"`        // metadata from the minter, not verified
	Description  string          `json:"description,omitempty"` // likewise
	Decimals     *int            `json:"decimals,omitempty"`    // likewise
	FirstSeen    FirstSeenAnswer `json:"first_seen"`
	Minted       string          `json:"minted" csv:"amount"`
	Burned       string          `json:"burned" csv:"amount"`
	Supply       string          `json:"supply" csv:"amount"`
	MintCount    uint64          `json:"mint_count"`
	BurnCount    uint64          `json:"burn_count"`
	OutputCount  uint64          `json:"output_count"`
	UnspentCount uint64          `json:"unspent_count"`
	HolderCount  *uint64         `json:"holder_count,omitempty"` // absent without an index of addresses
}

// AssetsAnswer is a page of all assets, in the order of first occurrence.
type AssetsAnswer struct {
	Count  uint64        `json:"count"` // total number of assets
	Assets []AssetAnswer `json:"assets"`
	Next   *string       `json:"next"`
}

// ValuesAnswer is a page of the values of an index: all of them in the order of first occurrence, or the values with
// a prefix in the order of their texts.
type ValuesAnswer struct {
	Index  string        `json:"index"`
	Prefix string        `json:"prefix,omitempty"`
	Count  uint64        `json:"count"` // total number of values, with any prefix
	Values []ValueAnswer `json:"values"`
	Next   *string       `json:"next"`
}

// ValueAnswer is a value of an index and the output in which it first occurred.
type ValueAnswer struct {
	Value     string          `json:"value"`
	FirstSeen FirstSeenAnswer `json:"first_seen"`
}

// AssetEventsAnswer is a page of an asset's mints and burns.
type AssetEventsAnswer struct {
	Asset  string             `json:"asset"`
	Events []AssetEventAnswer `json:"events"`
	Next   *string            `json:"next"`
}

// AssetEventAnswer is one mint (positive) or burn (negative).
type AssetEventAnswer struct {
	Tx     string `json:"tx"`
	Height uint32 `json:"height"`
	Index  int    `json:"index"`
	Action string `json:"action"` // mint or burn
	Amount string `json:"amount" csv:"amount"`
}

// AssetHoldersAnswer is a page of the addresses that hold an asset.
type AssetHoldersAnswer struct {
	Asset   string         `json:"asset"`
	Holders []HolderAnswer `json:"holders"`
	Next    *string        `json:"next"`
}

// HolderAnswer is an address and the amount that it holds.
type HolderAnswer struct {
	Address string `json:"address"`
	Amount  string `json:"amount" csv:"amount"`
}

// RichestAnswer is the values of an index with the highest balances.
type RichestAnswer struct {
	Index  string               `json:"index"`
	Asset  string               `json:"asset,omitempty"` // absent for the native coin
	Values []RichestValueAnswer `json:"values"`
}

// RichestValueAnswer is one value and its balance.
type RichestValueAnswer struct {
	Value        string  `json:"value"`
	Balance      string  `json:"balance" csv:"amount"`
	UnspentCount *uint64 `json:"unspent_count,omitempty"` // absent for an asset with more than 20,000 outputs
}

// StatusAnswer describes the contents of a database.
type StatusAnswer struct {
	Chain    string         `json:"chain"`
	Network  string         `json:"network"`
	Format   int            `json:"format"`
	Tip      *TipAnswer     `json:"tip"` // null before the first block
	Indexes  []IndexAnswer  `json:"indexes"`
	Totals   TotalsAnswer   `json:"totals"`
	Families []FamilyAnswer `json:"families"`
}

// TipAnswer is the last block written.
type TipAnswer struct {
	Height uint32 `json:"height"`
	Hash   string `json:"hash"`
	Time   int64  `json:"time"`
}

// IndexAnswer is one index and the number of its values.
type IndexAnswer struct {
	Name   string   `json:"name"`
	Kind   string   `json:"kind"`
	Values uint64   `json:"values"`
	Keeps  []string `json:"keeps,omitempty"` // enabled features
	When   string   `json:"when,omitempty"`  // of a custom index
	Value  string   `json:"value,omitempty"` // of a custom index
}

// TotalsAnswer counts the contents of the chain. Inputs excludes coinbase inputs. Txs and Outputs exclude genesis.
type TotalsAnswer struct {
	Blocks         uint64 `json:"blocks"`
	Txs            uint64 `json:"txs"`
	Inputs         uint64 `json:"inputs"`
	Outputs        uint64 `json:"outputs"`
	Assets         uint64 `json:"assets"`
	GenesisOutputs uint64 `json:"genesis_outputs"`
	Unspent        uint64 `json:"unspent"`
	UnspentValue   string `json:"unspent_value"`
}

// FamilyAnswer is the exact number of rows of a family, nil for the places of raw transactions, which are not counted,
// and its size in bytes as the store estimates it.
type FamilyAnswer struct {
	Name  string  `json:"name"`
	Keys  *uint64 `json:"keys,omitempty"`
	Bytes int64   `json:"bytes"`
}

// Rows returns the number of rows; 0 if it is unknown.
func (a *FamilyAnswer) Rows() uint64 {
	if a.Keys == nil {
		return 0
	}
	return *a.Keys
}

// ForksAnswer is a page of the orphaned blocks, newest reorganization first.
type ForksAnswer struct {
	Chain   string            `json:"chain"`
	Network string            `json:"network"`
	Forks   []LostBlockAnswer `json:"forks"`
	Next    *string           `json:"next"`
}

// LostBlockAnswer is an orphaned block. The lowest block of a reorganization comes first: its depth is the depth of
// the reorganization.
type LostBlockAnswer struct {
	Height     uint32  `json:"height"`
	Hash       string  `json:"hash"`
	Time       int64   `json:"time" csv:"time"`    // block time, unix seconds
	Depth      int     `json:"depth"`              // number of orphaned blocks from this one up to the old tip, inclusive
	LostAt     int64   `json:"lost_at" csv:"time"` // unix seconds
	ReplacedBy *string `json:"replaced_by"`        // hash of the next block at this height, may be equal; null: no block yet
}

// PointAnswer identifies a block.
type PointAnswer struct {
	Height uint32 `json:"height"`
	Hash   string `json:"hash"`
}
