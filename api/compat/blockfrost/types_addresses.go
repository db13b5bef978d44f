package blockfrost

// amount is a quantity of lovelace or of an asset.
type amount struct {
	Unit     string `json:"unit"`
	Quantity string `json:"quantity"`
}

// extendedAmount is an amount and the properties of its asset that are on the chain.
type extendedAmount struct {
	amount
	Decimals    *int64 `json:"decimals"` // null: unknown; registries outside of the chain are not read
	HasMetadata bool   `json:"has_nft_onchain_metadata"`
}

// addressValue is an address.
type addressValue[A any] struct {
	Address      string  `json:"address"`
	Amount       []A     `json:"amount"`
	StakeAddress *string `json:"stake_address"`
	Type         string  `json:"type"`
	Script       bool    `json:"script"`
}

// ownAddressValue is an address of an account.
type ownAddressValue struct {
	Address string `json:"address"`
}

// totalValue is the sums of an address.
type totalValue struct {
	Address      string   `json:"address,omitempty"`
	StakeAddress string   `json:"stake_address,omitempty"`
	Received     []amount `json:"received_sum"`
	Sent         []amount `json:"sent_sum"`
	TxCount      int64    `json:"tx_count"`
}

// utxoValue is an unspent output.
type utxoValue struct {
	Address             string   `json:"address"`
	TxHash              string   `json:"tx_hash"`
	TxIndex             *int     `json:"tx_index,omitempty"` // equals OutputIndex; not in lists of a script
	OutputIndex         int      `json:"output_index"`
	Amount              []amount `json:"amount"`
	Block               string   `json:"block"`
	DataHash            *string  `json:"data_hash"`
	InlineDatum         *string  `json:"inline_datum"`
	ReferenceScriptHash *string  `json:"reference_script_hash"`
}

// accountValue is the state of an account. A node does not keep the sums, nor the time of its last registration, which
// is null.
type accountValue struct {
	StakeAddress       string  `json:"stake_address"`
	Active             bool    `json:"active"`
	Registered         bool    `json:"registered"`
	ActiveEpoch        *int    `json:"active_epoch"`
	ControlledAmount   string  `json:"controlled_amount"`
	RewardsSum         *string `json:"rewards_sum"`
	WithdrawalsSum     *string `json:"withdrawals_sum"`
	ReservesSum        *string `json:"reserves_sum"`
	TreasurySum        *string `json:"treasury_sum"`
	WithdrawableAmount string  `json:"withdrawable_amount"`
	PoolID             *string `json:"pool_id"`
	DRepID             *string `json:"drep_id"`
}

type accountDelegationValue struct {
	ActiveEpoch uint64 `json:"active_epoch"`
	TxHash      string `json:"tx_hash"`
	Amount      string `json:"amount"`
	PoolID      string `json:"pool_id"`
	placeValue
}

type registrationValue struct {
	TxHash  string  `json:"tx_hash"`
	Action  string  `json:"action"`
	Deposit *string `json:"deposit"`
	placeValue
}

// paymentValue is an amount that an account receives or withdraws.
type paymentValue struct {
	TxHash string `json:"tx_hash"`
	Amount string `json:"amount"`
	placeValue
}

type xpubValue struct {
	XPub    string `json:"xpub"`
	Role    uint64 `json:"role"`
	Index   uint64 `json:"index"`
	Address string `json:"address"`
}
