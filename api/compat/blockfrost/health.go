package blockfrost

import "time"

// health answers whether the database is near the tip of its source.
func health(q *request) error {
	q.answer = struct {
		IsHealthy bool `json:"is_healthy"`
	}{q.InSync()}
	return nil
}

// clock answers the time of the server in milliseconds.
func clock(q *request) error {
	q.answer = struct {
		ServerTime int64 `json:"server_time"`
	}{time.Now().UnixMilli()}
	return nil
}

// network is the constants in the genesis files of a public network.
type network struct {
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

// networks are the public networks by name.
var networks = map[string]*network{
	"mainnet": {0.05, 5, "45000000000000000", 764824073, 432000, 1506203091, 129600, 1, 62, 2160},
	"preprod": {0.05, 5, "45000000000000000", 1, 432000, 1654041600, 129600, 1, 62, 2160},
	"preview": {0.05, 5, "45000000000000000", 2, 86400, 1666656000, 129600, 1, 62, 432},
}

func networkOf(name string) *network { return networks[name] }

// genesis answers the constants of the network.
func genesis(q *request) error {
	if q.network == nil {
		return notImplemented("this server has the constants of public networks only")
	}
	q.answer = q.network
	return nil
}
