package blockfrost

type rootValue struct {
	URL     string `json:"url"`
	Version string `json:"version"`
}

type healthValue struct {
	IsHealthy bool `json:"is_healthy"`
}

type clockValue struct {
	ServerTime int64 `json:"server_time"` // in milliseconds
}

// networkValue is the constants in the genesis files of a public network.
type networkValue struct {
	ActiveSlotsCoefficient float64 `json:"active_slots_coefficient"`
	UpdateQuorum           int     `json:"update_quorum"`
	MaxLovelaceSupply      string  `json:"max_lovelace_supply"`
	NetworkMagic           int     `json:"network_magic"`
	EpochLength            int     `json:"epoch_length"`
	SystemStart            int     `json:"system_start"`
	SlotsPerKESPeriod      int     `json:"slots_per_kes_period"`
	SlotLength             int     `json:"slot_length"`
	MaxKESEvolutions       int     `json:"max_kes_evolutions"`
	SecurityParam          int     `json:"security_param"`
}

// eraBound is the beginning or the end of an era. Time is in seconds since the start of the network.
type eraBound struct {
	Time  int64  `json:"time"`
	Slot  uint64 `json:"slot"`
	Epoch uint64 `json:"epoch"`
}

type eraParameters struct {
	EpochLength uint64 `json:"epoch_length"`
	SlotLength  int    `json:"slot_length"`
	SafeZone    uint64 `json:"safe_zone"` // slots in which no hard fork can happen
}

type eraValue struct {
	Start      eraBound      `json:"start"`
	End        eraBound      `json:"end"`
	Parameters eraParameters `json:"parameters"`
}

// blockValue is a block.
type blockValue struct {
	Time          int64   `json:"time"`
	Height        *uint32 `json:"height"` // null: a boundary block of Byron
	Hash          string  `json:"hash"`
	Slot          *uint64 `json:"slot"`
	Epoch         *uint64 `json:"epoch"`
	EpochSlot     *uint64 `json:"epoch_slot"`
	SlotLeader    string  `json:"slot_leader"`
	Size          int     `json:"size"`
	TxCount       int     `json:"tx_count"`
	Output        *string `json:"output"` // null: the block has no transactions
	Fees          *string `json:"fees"`
	BlockVRF      *string `json:"block_vrf"` // null in Byron, as the next
	OpCert        *string `json:"op_cert"`
	OpCertCounter *string `json:"op_cert_counter"`
	PreviousBlock *string `json:"previous_block"`
	NextBlock     *string `json:"next_block"`
	Confirmations uint32  `json:"confirmations"`
}

// addressTxsValue is an address with its transactions in a block.
type addressTxsValue struct {
	Address      string   `json:"address"`
	Transactions []txHash `json:"transactions"`
}

// epochValue is an epoch. Times are in Unix seconds.
type epochValue struct {
	Epoch          uint64  `json:"epoch"`
	StartTime      int64   `json:"start_time"`
	EndTime        int64   `json:"end_time"`
	FirstBlockTime int64   `json:"first_block_time"`
	LastBlockTime  int64   `json:"last_block_time"`
	BlockCount     int     `json:"block_count"`
	TxCount        int     `json:"tx_count"`
	Output         string  `json:"output"`
	Fees           string  `json:"fees"`
	ActiveStake    *string `json:"active_stake"` // always null: it is in no block
}
