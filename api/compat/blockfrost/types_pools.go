package blockfrost

import "birthmark/api/compat/blockfrost/contents"

type poolUpdateValue struct {
	TxHash    string `json:"tx_hash"`
	CertIndex int    `json:"cert_index"`
	Action    string `json:"action"`
}

type poolMetadataValue struct {
	PoolID string `json:"pool_id"`
	Hex    string `json:"hex"`
	*contents.PoolMetadata
}

// txPoolUpdateValue is a pool in the list of the transaction that registers it.
type txPoolUpdateValue struct {
	CertIndex int `json:"cert_index"`
	contents.Pool
	ActiveEpoch uint64 `json:"active_epoch"`
}

type retirementValue struct {
	PoolID string `json:"pool_id"`
	Epoch  uint64 `json:"epoch"`
}

type extendedPoolValue struct {
	ID             string                 `json:"pool_id"`
	Hex            string                 `json:"hex"`
	ActiveStake    string                 `json:"active_stake"`
	LiveStake      string                 `json:"live_stake"`
	BlocksMinted   int                    `json:"blocks_minted"`
	LiveSaturation float64                `json:"live_saturation"`
	DeclaredPledge string                 `json:"declared_pledge"`
	MarginCost     float64                `json:"margin_cost"`
	FixedCost      string                 `json:"fixed_cost"`
	Metadata       *contents.PoolMetadata `json:"metadata"`
}
