package actions

import (
	"math/big"
	"slices"

	"birthmark/api/compat/blockfrost/contents"
	"birthmark/api/compat/blockfrost/exchange"
	"birthmark/api/compat/utxo"
	"birthmark/model"
)

// where is the place of a transaction in the chain.
type where struct {
	TxSlot      uint64 `json:"tx_slot"`
	BlockTime   int64  `json:"block_time"`
	BlockHeight uint32 `json:"block_height"`
}

func whereIs(q *exchange.Request, tx model.TxPk) where {
	at := q.PointAt(tx.Height())
	return where{at.Slot, at.Time, uint32(tx.Height())}
}

// account returns the stake address of the path. One that no output and no transaction names is not found.
func account(q *exchange.Request) (string, error) {
	text := q.Args[0]
	_, birth, err := birthOf(q, text)
	if err != nil || birth != nil {
		return text, err
	}
	if _, _, birth, err = q.Q.Value(utxo.StakeIndex, text); err == nil && birth == nil {
		err = exchange.ErrNotFound
	}
	return text, err
}

// certificatesOf returns the certificates of an account with one of some types.
func certificatesOf(account string, types ...[]string) func(*exchange.Decoded) []model.Certificate {
	wanted := slices.Concat(types...)
	return func(d *exchange.Decoded) (all []model.Certificate) {
		for _, c := range d.Details.Certificates {
			if c.StakeAddress == account && slices.Contains(wanted, c.Type) {
				all = append(all, c)
			}
		}
		return all
	}
}

// activeAfter is the number of epochs after which a delegation is active.
const activeAfter = 2

// Delegations answers the delegations of an account to pools. The amount is the sum of the outputs of the transaction, as
// at Blockfrost.
func Delegations(q *exchange.Request) error {
	stake, err := account(q)
	if err != nil {
		return err
	}
	found, hashes, err := page(q, stake, certificatesOf(stake, contents.Delegates))
	if err != nil {
		return err
	}
	type delegation struct {
		ActiveEpoch uint64 `json:"active_epoch"`
		TxHash      string `json:"tx_hash"`
		Amount      string `json:"amount"`
		PoolID      string `json:"pool_id"`
		where
	}
	all := []delegation{}
	for i, e := range found {
		epoch, err := q.EpochOf(e.tx)
		if err != nil {
			return err
		}
		created, err := q.Q.OutputsOf(e.tx)
		if err != nil {
			return err
		}
		values, err := q.Q.Amounts(created)
		if err != nil {
			return err
		}
		sum := new(big.Int)
		for _, v := range values {
			sum.Add(sum, new(big.Int).SetUint64(v))
		}
		all = append(all, delegation{epoch + activeAfter, hashes[i], sum.String(), e.part.Pool, whereIs(q, e.tx)})
	}
	q.Answer = all
	return nil
}

// Registrations answers the registrations and deregistrations of an account. Certificates before Conway state no deposit.
func Registrations(q *exchange.Request) error {
	stake, err := account(q)
	if err != nil {
		return err
	}
	found, hashes, err := page(q, stake, certificatesOf(stake, contents.Registers, contents.Deregisters))
	if err != nil {
		return err
	}
	type registration struct {
		TxHash  string  `json:"tx_hash"`
		Action  string  `json:"action"`
		Deposit *string `json:"deposit"`
		where
	}
	all := []registration{}
	for i, e := range found {
		action := "registered"
		var deposit *string
		if slices.Contains(contents.Deregisters, e.part.Type) {
			action = "deregistered"
		} else {
			deposit = exchange.Text(e.part.Deposit)
		}
		all = append(all, registration{hashes[i], action, deposit, whereIs(q, e.tx)})
	}
	q.Answer = all
	return nil
}

// payment is an amount that an account receives or withdraws.
type payment struct {
	TxHash string `json:"tx_hash"`
	Amount string `json:"amount"`
	where
}

// payments answers the amounts that transactions of an account have for it.
func payments(q *exchange.Request, amounts func(d *exchange.Decoded, stake string) []string) error {
	stake, err := account(q)
	if err != nil {
		return err
	}
	found, hashes, err := page(q, stake, func(d *exchange.Decoded) []string { return amounts(d, stake) })
	if err != nil {
		return err
	}
	all := []payment{}
	for i, e := range found {
		all = append(all, payment{hashes[i], e.part, whereIs(q, e.tx)})
	}
	q.Answer = all
	return nil
}

// Withdrawals answers the withdrawals of rewards of an account.
func Withdrawals(q *exchange.Request) error {
	return payments(q, func(d *exchange.Decoded, stake string) (all []string) {
		for _, w := range d.Details.Withdrawals {
			if w.Address == stake {
				all = append(all, w.Amount)
			}
		}
		return all
	})
}

// Sums are the withdrawals of an account, and its payments from the reserves and from the treasury, in lovelace.
type Sums struct{ Withdrawals, Reserves, Treasury big.Int }

// SumsOf returns the sums of an account. It reads the transactions with it.
func SumsOf(q *exchange.Request, stake string) (*Sums, error) {
	s := new(Sums)
	n := 0
	parts := func(d *exchange.Decoded) (all []contents.Reward) {
		for _, w := range d.Details.Withdrawals {
			if w.Address == stake {
				all = append(all, contents.Reward{Amount: w.Amount})
			}
		}
		return append(all, rewards(d, stake, q)...)
	}
	for e, err := range entries(q, stake, parts, nil, false) {
		if err != nil {
			return nil, err
		}
		if n++; n == exchange.LongSkip {
			if err := q.Expensive(); err != nil {
				return nil, err
			}
		}
		sum := map[string]*big.Int{"": &s.Withdrawals, "reserve": &s.Reserves, "treasury": &s.Treasury}[e.part.Pot]
		amount, _ := new(big.Int).SetString(e.part.Amount, 10)
		sum.Add(sum, amount)
	}
	return s, nil
}

// rewards returns the payments of rewards to an account in a transaction.
func rewards(d *exchange.Decoded, stake string, q *exchange.Request) (all []contents.Reward) {
	if d.Failed {
		return nil
	}
	for i, item := range d.Parts.Certificates {
		for _, r := range contents.RewardsOf(i, item, q.StakeAddress) {
			if r.Address == stake {
				all = append(all, r)
			}
		}
	}
	return all
}

// MIRs answers the payments of rewards to an account by certificates.
func MIRs(q *exchange.Request) error {
	return payments(q, func(d *exchange.Decoded, stake string) (all []string) {
		for _, r := range rewards(d, stake, q) {
			all = append(all, r.Amount)
		}
		return all
	})
}
