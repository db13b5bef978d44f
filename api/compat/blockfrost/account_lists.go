package blockfrost

import (
	"math/big"
	"slices"

	"birthmark/api/compat/blockfrost/contents"
	"birthmark/api/compat/utxo"
	"birthmark/model"
)

func (v *view) placeOf(tx model.TxPk) placeValue {
	at := v.PointAt(tx.Height())
	return placeValue{at.Slot, at.Time, uint32(tx.Height())}
}

// namedAccount returns the stake address of the path. One that no output and no transaction names is not found.
func (v *view) namedAccount() (string, error) {
	stake, err := v.named("stake_address")
	if err != errNotFound {
		return stake, err
	}
	_, _, birth, err := v.Q.Value(utxo.StakeIndex, stake)
	if err == nil && birth == nil {
		err = errNotFound
	}
	return stake, err
}

// certificatesOf returns the certificates of an account with one of some types.
func certificatesOf(account string, types ...[]string) func(*decoded) []model.Certificate {
	wanted := slices.Concat(types...)
	return func(d *decoded) (all []model.Certificate) {
		for _, c := range d.Details.Certificates {
			if c.StakeAddress == account && slices.Contains(wanted, c.Type) {
				all = append(all, c)
			}
		}
		return all
	}
}

// accountDelegations answers the delegations of an account to pools. The amount is the sum of the outputs of the
// transaction, as at Blockfrost.
func accountDelegations(v *view) (any, error) {
	stake, err := v.namedAccount()
	if err != nil {
		return nil, err
	}
	found, err := pageOfEntries(v, stake, certificatesOf(stake, contents.Delegates))
	if err != nil {
		return nil, err
	}
	all := []accountDelegationValue{}
	for _, e := range found {
		epoch, err := v.epochAt(e.tx.Height())
		if err != nil {
			return nil, err
		}
		created, err := v.Q.OutputsOf(e.tx)
		if err != nil {
			return nil, err
		}
		sum, err := v.sum(created)
		if err != nil {
			return nil, err
		}
		all = append(all, accountDelegationValue{epoch + delegationDelay, e.hash, sum.String(), e.part.Pool, v.placeOf(e.tx)})
	}
	return all, nil
}

// accountRegistrations answers the registrations and deregistrations of an account. Certificates before Conway state no
// deposit.
func accountRegistrations(v *view) (any, error) {
	stake, err := v.namedAccount()
	if err != nil {
		return nil, err
	}
	parts := certificatesOf(stake, contents.Registers, contents.Deregisters)
	return listOf(v, stake, parts, func(e *entry[model.Certificate]) registrationValue {
		r := registrationValue{e.hash, "registered", text(e.part.Deposit), v.placeOf(e.tx)}
		if slices.Contains(contents.Deregisters, e.part.Type) {
			r.Action, r.Deposit = "deregistered", nil
		}
		return r
	})
}

// payments answers the amounts that transactions of an account have for it.
func (v *view) payments(amounts func(d *decoded, stake string) []string) (any, error) {
	stake, err := v.namedAccount()
	if err != nil {
		return nil, err
	}
	parts := func(d *decoded) []string { return amounts(d, stake) }
	return listOf(v, stake, parts, func(e *entry[string]) paymentValue {
		return paymentValue{e.hash, e.part, v.placeOf(e.tx)}
	})
}

// accountWithdrawals answers the withdrawals of rewards of an account.
func accountWithdrawals(v *view) (any, error) {
	return v.payments(func(d *decoded, stake string) (all []string) {
		for _, w := range d.Details.Withdrawals {
			if w.Address == stake {
				all = append(all, w.Amount)
			}
		}
		return all
	})
}

// accountMIRs answers the payments of rewards to an account by certificates.
func accountMIRs(v *view) (any, error) {
	return v.payments(func(d *decoded, stake string) (all []string) {
		for _, r := range v.rewardsTo(stake, d) {
			all = append(all, r.Amount)
		}
		return all
	})
}

// rewardsTo returns the payments of rewards to an account in a transaction.
func (v *view) rewardsTo(stake string, d *decoded) (all []contents.Reward) {
	for i := range d.Details.Certificates {
		for _, r := range v.mirsOf(d, i) {
			if r.Address == stake {
				all = append(all, r)
			}
		}
	}
	return all
}

// accountSums are the withdrawals of an account, and its payments from the reserves and from the treasury, in lovelace.
type accountSums struct{ withdrawals, reserves, treasury big.Int }

// accountSums returns the sums of an account. It reads the transactions with it.
func (v *view) accountSums(stake string) (*accountSums, error) {
	s := new(accountSums)
	parts := func(d *decoded) (all []contents.Reward) {
		for _, w := range d.Details.Withdrawals {
			if w.Address == stake {
				all = append(all, contents.Reward{Amount: w.Amount})
			}
		}
		return append(all, v.rewardsTo(stake, d)...)
	}
	for e, err := range entriesOf(v, stake, parts, nil, false) {
		if err != nil {
			return nil, err
		}
		sum := map[string]*big.Int{"": &s.withdrawals, "reserve": &s.reserves, "treasury": &s.treasury}[e.part.Pot]
		amount, _ := new(big.Int).SetString(e.part.Amount, 10)
		sum.Add(sum, amount)
	}
	return s, nil
}
