package query

// Unconfirmed transactions in answers. They are apart from the confirmed ones: no total contains both.

// PendingBalanceAnswer is the change of a value's totals by unconfirmed transactions.
type PendingBalanceAnswer struct {
	State       string `json:"state"`   // of the mempool: live, filling, old, partial or none
	Balance     string `json:"balance"` // the change: received minus sent
	Received    string `json:"received"`
	Sent        string `json:"sent"`
	TxCount     int    `json:"tx_count"`
	OutputCount int    `json:"output_count"` // outputs that they create
	SpentCount  int    `json:"spent_count"`  // outputs that they spend, confirmed or not

	Assets []PendingAssetBalanceAnswer `json:"assets,omitempty"` // in the order of first occurrence
}

// PendingAssetBalanceAnswer is the change of the balance of a value in an asset by unconfirmed transactions.
type PendingAssetBalanceAnswer struct {
	Asset    string `json:"asset"`
	Balance  string `json:"balance"` // the change: received minus sent
	Received string `json:"received"`
	Sent     string `json:"sent"`
}

// PendingHistoryAnswer is the unconfirmed transactions that pay to a value or spend from it, in the order of arrival.
type PendingHistoryAnswer struct {
	State   string                   `json:"state"`
	TxCount int                      `json:"tx_count"`
	Txs     []PendingHistoryTxAnswer `json:"txs"` // at most 10,000
}

// PendingHistoryTxAnswer is the amounts that a value receives and sends in one unconfirmed transaction.
type PendingHistoryTxAnswer struct {
	Hash              string `json:"hash"`
	FirstSeen         int64  `json:"first_seen"` // Unix seconds
	Received          string `json:"received"`
	Sent              string `json:"sent"`
	UnconfirmedParent bool   `json:"unconfirmed_parent"`
}

// PendingFindAnswer is the outputs of a value that unconfirmed transactions create and spend, in the order of arrival.
type PendingFindAnswer struct {
	State   string                `json:"state"`
	Outputs []PendingOutputAnswer `json:"outputs"` // created; at most 10,000
	Spends  []PendingSpendAnswer  `json:"spends"`  // spent, confirmed or not; at most 10,000
	More    bool                  `json:"more,omitempty"`
}

// PendingOutputAnswer is an output of an unconfirmed transaction, or one that it spends.
type PendingOutputAnswer struct {
	Tx      string                          `json:"tx"`
	Index   int                             `json:"index"`
	Value   string                          `json:"value"`
	Keys    map[string]any                  `json:"keys"` // as in [OutputAnswer]
	Assets  []PendingAssetAnswer            `json:"assets,omitempty"`
	SpentBy *Optional[PendingSpentByAnswer] `json:"spent_by,omitempty"` // nil: omitted; empty: null, unspent
}

// PendingAssetAnswer is one asset of an output of an unconfirmed transaction.
type PendingAssetAnswer struct {
	Asset  string `json:"asset"`
	Amount string `json:"amount"`
}

// PendingSpentByAnswer is an input of an unconfirmed transaction.
type PendingSpentByAnswer struct {
	Tx    string `json:"tx"`
	Input int    `json:"input"`
}

// PendingSpendAnswer is an output that an unconfirmed transaction spends.
type PendingSpendAnswer struct {
	Tx      string               `json:"tx"`
	Index   int                  `json:"index"`
	Value   string               `json:"value"`
	SpentBy PendingSpentByAnswer `json:"spent_by"`
}

// PendingTxAnswer is an unconfirmed transaction.
type PendingTxAnswer struct {
	PendingTxSummaryAnswer
	Chain   string                `json:"chain"`
	Status  string                `json:"status"` // unconfirmed
	Inputs  []PendingInputAnswer  `json:"inputs"`
	Outputs []PendingOutputAnswer `json:"outputs"`
	Mints   []MintAnswer          `json:"mints,omitempty"`
	Creates []PendingCreateAnswer `json:"creates,omitempty"` // derived assets that are described
}

// PendingCreateAnswer is an asset that an unconfirmed transaction creates.
type PendingCreateAnswer struct {
	Asset       string `json:"asset"` // of a rune the transaction: the id of a rune depends on its block
	Name        string `json:"name,omitempty"`
	Description string `json:"description,omitempty"`
	Decimals    *int   `json:"decimals,omitempty"`
}

// PendingInputAnswer is the output that an input of an unconfirmed transaction spends.
type PendingInputAnswer struct {
	Index  int                 `json:"index"`
	Output PendingOutputAnswer `json:"output"` // without spent_by
}

// PendingTxSummaryAnswer is an unconfirmed transaction without its inputs and outputs.
type PendingTxSummaryAnswer struct {
	Hash      string          `json:"hash"`
	FirstSeen int64           `json:"first_seen"` // Unix seconds
	Size      int             `json:"size"`
	VSize     int             `json:"vsize"`
	Weight    int             `json:"weight,omitempty"`
	Fee       string          `json:"fee,omitempty"`      // absent if it is unknown
	FeeRate   float64         `json:"fee_rate,omitempty"` // per virtual byte
	Ancestors AncestorsAnswer `json:"ancestors"`
}

// AncestorsAnswer is the totals of a transaction and its unconfirmed ancestors.
type AncestorsAnswer struct {
	Count int    `json:"count"` // 1: all parents are confirmed
	VSize uint64 `json:"vsize"`
	Fee   string `json:"fee"`
}

// MempoolAnswer is the totals of the unconfirmed transactions.
type MempoolAnswer struct {
	Chain     string           `json:"chain"`
	Network   string           `json:"network"`
	State     string           `json:"state"` // live, filling, old, partial or none
	Count     int              `json:"count"`
	NodeCount int              `json:"node_count"` // transactions of the node
	Size      uint64           `json:"size"`       // bytes
	VSize     uint64           `json:"vsize"`
	Fees      string           `json:"fees"`
	Memory    int64            `json:"memory"`    // bytes, estimated
	Histogram []FeeRatesAnswer `json:"histogram"` // by fee rate, highest first
}

// ProjectedBlocksAnswer is the next blocks as they would be mined now. A chain whose miners do not select transactions by
// fee rate has none.
type ProjectedBlocksAnswer struct {
	Chain  string                 `json:"chain"`
	State  string                 `json:"state"`  // of the mempool, as in [MempoolAnswer]
	Blocks []ProjectedBlockAnswer `json:"blocks"` // at most 8
	Rest   MempoolRestAnswer      `json:"rest"`   // the transactions after these blocks
}

// ProjectedBlockAnswer is the transactions of a block. Fee rates are those of packages: a transaction and its ancestors
// that are in no block before it.
type ProjectedBlockAnswer struct {
	TxCount     int     `json:"tx_count"`
	VSize       uint64  `json:"vsize"`
	Fees        string  `json:"fees"`
	HighestRate float64 `json:"highest_rate"` // per virtual byte
	MedianRate  float64 `json:"median_rate"`  // of half of its bytes
	LowestRate  float64 `json:"lowest_rate"`
}

// MempoolRestAnswer is the transactions that are in none of the projected blocks.
type MempoolRestAnswer struct {
	TxCount int    `json:"tx_count"`
	VSize   uint64 `json:"vsize"`
	Fees    string `json:"fees"`
}

// BlockComparisonAnswer compares a block with the first projected block of the mempool just before the block arrived.
type BlockComparisonAnswer struct {
	Block    PointAnswer          `json:"block"`
	Expected ProjectedBlockAnswer `json:"expected"`
	Both     MempoolRestAnswer    `json:"both"`    // transactions of the projected block that the block has
	Missing  MempoolRestAnswer    `json:"missing"` // transactions of the projected block that the block lacks
	Added    MempoolRestAnswer    `json:"added"`   // transactions of the mempool that the block has, and the projected block lacks
	Unknown  int                  `json:"unknown"` // transactions of the block that the mempool lacked, with the coinbase

	MissingTxs []ComparedTxAnswer `json:"missing_txs"` // those with the highest fees, at most 10
	AddedTxs   []ComparedTxAnswer `json:"added_txs"`   // those with the highest fees, at most 10
}

// ComparedTxAnswer is a transaction that only one of two compared blocks has.
type ComparedTxAnswer struct {
	Hash  string  `json:"hash"`
	Fee   string  `json:"fee"`
	Rate  float64 `json:"rate"`            // per virtual byte, of its package in the projected blocks
	Block *int    `json:"block,omitempty"` // its projected block, from 0; absent: it was after all of them
}

// FeeRatesAnswer is the transactions of a range of fee rates: from that of the previous range down to FeeRate.
type FeeRatesAnswer struct {
	FeeRate float64 `json:"fee_rate"` // per virtual byte
	Count   int     `json:"count"`
	VSize   uint64  `json:"vsize"`
}

// MempoolTxsAnswer is a page of the unconfirmed transactions.
type MempoolTxsAnswer struct {
	State string                   `json:"state"`
	Count int                      `json:"count"` // total number
	Txs   []PendingTxSummaryAnswer `json:"txs"`
	Next  *string                  `json:"next"`
}
