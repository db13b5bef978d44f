package contents

import "birthmark/chains/cardano/body"

// Reward is a payment of rewards by a certificate (move_instantaneous_rewards).
type Reward struct {
	Pot       string `json:"pot"`
	CertIndex int    `json:"cert_index"`
	Address   string `json:"address"`
	Amount    string `json:"amount"`
}

// RewardsOf returns the payments of a certificate. address formats a stored stake credential.
func RewardsOf(index int, item []byte, address func(cred []byte) string) (all []Reward) {
	for _, p := range body.Payments(item) {
		pot := "reserve"
		if p.Treasury {
			pot = "treasury"
		}
		all = append(all, Reward{pot, index, address(p.Credential), p.Amount})
	}
	return all
}
