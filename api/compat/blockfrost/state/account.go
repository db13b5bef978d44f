package state

import (
	"math/big"

	"birthmark/chains/cardano/address"
	"birthmark/chains/cardano/node"
)

// Account is the state of an account. Null fields are sums and times that a node does not keep.
type Account struct {
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

// AccountOf returns the state of the account with a stake address. unspent is the lovelace of its outputs.
func AccountOf(stakeAddress string, a *node.Account, unspent *big.Int) *Account {
	j := &Account{
		StakeAddress: stakeAddress, Active: a.Registered, Registered: a.Registered, WithdrawableAmount: decimal(a.Rewards), DRepID: drepID(a.DRep),
		ControlledAmount: new(big.Int).Add(unspent, new(big.Int).SetUint64(a.Rewards)).String(),
	}
	if a.Pool != nil {
		j.PoolID = text(address.FormatPoolHash(a.Pool))
	}
	return j
}

// drepID returns the id of a representative: that of CIP-129, or the name of one of the fixed votes.
func drepID(d *node.DRep) *string {
	switch {
	case d == nil:
		return nil
	case d.Kind == 2:
		return text("drep_always_abstain")
	case d.Kind == 3:
		return text("drep_always_no_confidence")
	}
	return text(address.FormatGovernance(address.DRep, append([]byte{byte(d.Kind)}, d.Hash...)))
}
