package blockfrost

// drepValue is the state of a DRep. The node provides the amounts.
type drepValue struct {
	ID              string        `json:"drep_id"`
	Hex             string        `json:"hex"` // the bytes of the id
	Amount          string        `json:"amount"`
	HasScript       bool          `json:"has_script"`
	Retired         bool          `json:"retired"`
	Expired         bool          `json:"expired"`
	LastActiveEpoch *uint64       `json:"last_active_epoch"`
	Metadata        *drepMetadata `json:"metadata"`
}

// drepMetadata is the document of a DRep. Its contents are outside of the chain.
type drepMetadata struct {
	URL   *string `json:"url"`
	Hash  *string `json:"hash"`
	JSON  any     `json:"json_metadata"`
	Bytes *string `json:"bytes"`
}

// oneDRepValue is a DRep as it is answered alone.
type oneDRepValue struct {
	ID              string  `json:"drep_id"`
	Hex             string  `json:"hex"`
	Amount          string  `json:"amount"`
	Active          bool    `json:"active"` // registered
	ActiveEpoch     *uint64 `json:"active_epoch"`
	HasScript       bool    `json:"has_script"`
	Retired         bool    `json:"retired"`
	Expired         bool    `json:"expired"`
	LastActiveEpoch *uint64 `json:"last_active_epoch"`
}

type delegatorValue struct {
	Address string `json:"address"`
	Amount  string `json:"amount"`
}

type drepUpdateValue struct {
	TxHash    string  `json:"tx_hash"`
	CertIndex int     `json:"cert_index"`
	Action    string  `json:"action"`
	Deposit   *string `json:"deposit"` // null: not a registration
}

type poolVoteValue struct {
	TxHash    string `json:"tx_hash"`
	CertIndex int    `json:"cert_index"`
	Vote      string `json:"vote"`
}

type drepVoteValue struct {
	TxHash    string `json:"tx_hash"`
	CertIndex int    `json:"cert_index"`
	Proposal  string `json:"proposal_id"`
	Tx        string `json:"proposal_tx_hash"`
	Index     uint64 `json:"proposal_cert_index"`
	Vote      string `json:"vote"`
}

type committeeVoteValue struct {
	TxHash         string  `json:"tx_hash"`
	Voter          string  `json:"voter_hot_id"`
	Proposal       string  `json:"proposal_id"`
	Tx             string  `json:"proposal_tx_hash"`
	Index          uint64  `json:"proposal_index"`
	GovernanceType string  `json:"governance_type"`
	Vote           string  `json:"vote"`
	URL            *string `json:"metadata_url"`
	Hash           *string `json:"metadata_hash"`
	BlockHeight    uint32  `json:"block_height"`
	BlockTime      int64   `json:"block_time"`
}

type proposalValue struct {
	ID        string `json:"id"`
	TxHash    string `json:"tx_hash"`
	CertIndex int    `json:"cert_index"`
	Type      string `json:"governance_type"`
}

type proposalParametersValue struct {
	ID         string         `json:"id"`
	TxHash     string         `json:"tx_hash"`
	CertIndex  uint64         `json:"cert_index"`
	Parameters map[string]any `json:"parameters"`
}

type treasuryWithdrawalValue struct {
	StakeAddress string `json:"stake_address"`
	Amount       string `json:"amount"`
}
