package state

// Network is the constants in the genesis files of a public network.
type Network struct {
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

// Networks are the public networks by name.
var Networks = map[string]*Network{
	"mainnet": {0.05, 5, "45000000000000000", 764824073, 432000, 1506203091, 129600, 1, 62, 2160},
	"preprod": {0.05, 5, "45000000000000000", 1, 432000, 1654041600, 129600, 1, 62, 2160},
	"preview": {0.05, 5, "45000000000000000", 2, 86400, 1666656000, 129600, 1, 62, 432},
}
