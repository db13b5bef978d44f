package blockfrost

import (
	"math/big"

	"birthmark/api/compat/blockfrost/actions"
	"birthmark/api/compat/blockfrost/exchange"
	"birthmark/api/compat/blockfrost/state"
	"birthmark/api/compat/utxo"
)

// parameters answers the protocol parameters of the current epoch, as the node has them.
func parameters(q *request) error {
	s, err := q.Node()
	if err != nil {
		return err
	}
	tip, _ := q.Chain.Moved()
	p, err := q.Parameters.At(q.Ctx, tip, s.Parameters)
	if err != nil {
		return exchange.UnlessUnsupported(err)
	}
	q.Answer = state.ParametersOf(p)
	return nil
}

// account answers the state of an account at the tip of the node. Clients take 404 for an account that was never used.
func account(q *request) error {
	h, err := q.account()
	if err != nil {
		return err
	}
	s, err := q.Node()
	if err != nil {
		return err
	}
	a, err := s.Account(q.Ctx, h.raw[0], h.raw[1:])
	if err != nil {
		return exchange.UnlessUnsupported(err)
	}
	unspent := new(big.Int)
	if h.birth != nil {
		balance, err := q.View.Balance(q.Ctx, utxo.StakeIndex, h.text)
		if err != nil {
			return err
		}
		unspent, _ = unspent.SetString(balance.Balance, 10)
	}
	answer := state.AccountOf(h.text, a, unspent)
	q.Answer = answer
	if _, err := q.Optional(exchange.Subjects, 0); exchange.Unanswered(err) { // then the sums are null
		return nil
	}
	sums, err := actions.SumsOf(q.Request, h.text)
	if err == nil {
		answer.SetSums(&sums.Withdrawals, &sums.Reserves, &sums.Treasury)
	}
	return err
}
