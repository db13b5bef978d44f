package state

import (
	"math/big"

	"birthmark/chains/cardano/address"
	"birthmark/chains/cardano/node"
)

// Account is the state of an account. A node does not keep the sums, nor the time of its last registration, which is null.
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

// SetSums sets the sums of withdrawals and of payments from the reserves and the treasury. The rewards are the sum of
// withdrawals and withdrawable rewards, less these payments.
func (a *Account) SetSums(withdrawals, reserves, treasury *big.Int) {
	rewards, _ := new(big.Int).SetString(a.WithdrawableAmount, 10)
	rewards.Add(rewards, withdrawals).Sub(rewards, reserves).Sub(rewards, treasury)
	if rewards.Sign() < 0 { // payments that the account lost when it was deregistered
		rewards.SetInt64(0)
	}
	a.RewardsSum, a.WithdrawalsSum = text(rewards.String()), text(withdrawals.String())
	a.ReservesSum, a.TreasurySum = text(reserves.String()), text(treasury.String())
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
