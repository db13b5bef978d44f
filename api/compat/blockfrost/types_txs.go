package blockfrost

// txHash is an entry of a list of transactions.
type txHash struct {
	TxHash string `json:"tx_hash"`
}

// txWithCBOR is a serialized transaction.
type txWithCBOR struct {
	TxHash string `json:"tx_hash"`
	CBOR   string `json:"cbor"`
}

// historyValue is a transaction in a list.
type historyValue struct {
	Address     string `json:"address,omitempty"` // in lists of an account
	TxHash      string `json:"tx_hash"`
	TxIndex     int    `json:"tx_index"`
	BlockHeight uint32 `json:"block_height"`
	BlockTime   int64  `json:"block_time"`
}

// txValue is a transaction.
type txValue struct {
	Hash        string `json:"hash"`
	Block       string `json:"block"`
	BlockHeight uint32 `json:"block_height"`
	BlockTime   int64  `json:"block_time"`
	Slot        uint64 `json:"slot"`
	Index       int    `json:"index"`
	txContents
	TreasuryDonation string `json:"treasury_donation"`
}

// txContents are the fields that a transaction has outside of its block too.
type txContents struct {
	OutputAmount         []amount `json:"output_amount"`
	Fees                 string   `json:"fees"`
	Deposit              string   `json:"deposit"`
	Size                 int      `json:"size"`
	InvalidBefore        *string  `json:"invalid_before"`
	InvalidHereafter     *string  `json:"invalid_hereafter"`
	UtxoCount            int      `json:"utxo_count"`
	WithdrawalCount      int      `json:"withdrawal_count"`
	MIRCertCount         int      `json:"mir_cert_count"`
	DelegationCount      int      `json:"delegation_count"`
	StakeCertCount       int      `json:"stake_cert_count"`
	PoolUpdateCount      int      `json:"pool_update_count"`
	PoolRetireCount      int      `json:"pool_retire_count"`
	AssetMintOrBurnCount int      `json:"asset_mint_or_burn_count"`
	RedeemerCount        int      `json:"redeemer_count"`
	ValidContract        bool     `json:"valid_contract"`
}

type txUTXOsValue struct {
	Hash    string        `json:"hash"`
	Inputs  []inputValue  `json:"inputs"`
	Outputs []outputValue `json:"outputs"`
}

// inputValue is an input of a transaction.
type inputValue struct {
	Address             string   `json:"address"`
	Amount              []amount `json:"amount"`
	TxHash              string   `json:"tx_hash"`
	OutputIndex         int      `json:"output_index"`
	DataHash            *string  `json:"data_hash"`
	InlineDatum         *string  `json:"inline_datum"`
	ReferenceScriptHash *string  `json:"reference_script_hash"`
	Collateral          bool     `json:"collateral"`
	Reference           bool     `json:"reference"`
}

// outputValue is an output of a transaction.
type outputValue struct {
	createdValue
	ConsumedByTx *string `json:"consumed_by_tx"`
}

// createdValue are the fields that an output has before the transaction is in a block too.
type createdValue struct {
	Address             string   `json:"address"`
	Amount              []amount `json:"amount"`
	OutputIndex         int      `json:"output_index"`
	DataHash            *string  `json:"data_hash"`
	InlineDatum         *string  `json:"inline_datum"`
	Collateral          bool     `json:"collateral"`
	ReferenceScriptHash *string  `json:"reference_script_hash"`
}

// pendingValue is an unconfirmed transaction.
type pendingValue struct {
	Tx struct {
		Hash string `json:"hash"`
		txContents
	} `json:"tx"`
	Inputs    []pendingInput    `json:"inputs"`
	Outputs   []createdValue    `json:"outputs"`
	Redeemers []pendingRedeemer `json:"redeemers"`
}

type pendingInput struct {
	Address     string `json:"address,omitempty"` // absent: the output is not known here
	TxHash      string `json:"tx_hash"`
	OutputIndex int    `json:"output_index"`
	Collateral  bool   `json:"collateral"`
	Reference   bool   `json:"reference"`
}

type pendingRedeemer struct {
	TxIndex   uint64 `json:"tx_index"`
	Purpose   string `json:"purpose"`
	UnitMem   string `json:"unit_mem"`
	UnitSteps string `json:"unit_steps"`
}

// placeValue is the place of a transaction in the chain.
type placeValue struct {
	TxSlot      uint64 `json:"tx_slot"`
	BlockTime   int64  `json:"block_time"`
	BlockHeight uint32 `json:"block_height"`
}

type metadataValue struct {
	Label string `json:"label"`
	Value any    `json:"json_metadata"`
}

type metadataCBORValue struct {
	Label    string `json:"label"`
	Prefixed string `json:"cbor_metadata"`
	Metadata string `json:"metadata"`
}

type signerValue struct {
	WitnessHash string `json:"witness_hash"`
}

type txStakeValue struct {
	CertIndex    int    `json:"cert_index"`
	Address      string `json:"address"`
	Registration bool   `json:"registration"`
}

type txDelegationValue struct {
	Index       int    `json:"index"`
	CertIndex   int    `json:"cert_index"`
	Address     string `json:"address"`
	PoolID      string `json:"pool_id"`
	ActiveEpoch uint64 `json:"active_epoch"`
}

type txPoolRetireValue struct {
	CertIndex     int    `json:"cert_index"`
	PoolID        string `json:"pool_id"`
	RetiringEpoch uint64 `json:"retiring_epoch"`
}

type labelValue struct {
	Label string `json:"label"`
	CIP10 any    `json:"cip10"` // of a registry outside of the chain: always null
	Count string `json:"count"`
}

// labelledValue is a transaction in the list of a label.
type labelledValue struct {
	TxHash string `json:"tx_hash"`
	Value  any    `json:"json_metadata"`
}

type labelledCBORValue struct {
	TxHash   string `json:"tx_hash"`
	Prefixed string `json:"cbor_metadata"`
	Metadata string `json:"metadata"`
}
