package blockfrost

import (
	"context"
	"math/big"
	"sync"

	"birthmark/chains/cardano/address"
	"birthmark/chains/cardano/node"
	"birthmark/core/schema"
	"birthmark/model"
)

// ledgerNode is a node that answers queries of its ledger state.
type ledgerNode interface {
	Parameters(context.Context) (*node.Parameters, error)
	Account(ctx context.Context, kind byte, hash []byte) (*node.Account, error)
	Stakes(context.Context) (*node.Stakes, error)
	DReps(context.Context, []node.DRep) (states []node.DRepState, epoch uint64, err error)
}

// errNoNode is the error of endpoints that are answered only with a node.
var errNoNode = notImplemented("needs a node: this server answers it only if it is connected to one")

// ledger returns the node that has the ledger state.
func (s *server) ledger() (ledgerNode, error) {
	if n, ok := s.Chain.Node.(ledgerNode); ok {
		return n, nil
	}
	return nil, errNoNode
}

// lastState is a part of the state that the node had at a tip of the database. It is safe for concurrent use.
type lastState[T any] struct {
	mu    sync.Mutex
	tip   model.Point
	state *T
}

// at returns the state. It is read once per tip.
func (l *lastState[T]) at(ctx context.Context, tip model.Point, read func(context.Context) (*T, error)) (*T, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.state != nil && l.tip == tip {
		return l.state, nil
	}
	state, err := read(ctx)
	if err != nil {
		return nil, err
	}
	l.tip, l.state = tip, state
	return state, nil
}

// latestParameters answers the protocol parameters of the current epoch, as the node has them.
func latestParameters(c *call) (any, error) {
	n, err := c.ledger()
	if err != nil {
		return nil, err
	}
	tip, _ := c.Chain.Moved()
	p, err := c.parameters.at(c.ctx(), tip, n.Parameters)
	if err != nil {
		return nil, unlessUnsupported(err)
	}
	return parametersOf(p), nil
}

// account answers the state of an account at the tip of the node. Clients take 404 for an account that was never used.
func account(v *view) (any, error) {
	h, err := v.account()
	if err != nil {
		return nil, err
	}
	n, err := v.ledger()
	if err != nil {
		return nil, err
	}
	state, err := n.Account(v.ctx(), h.raw[0], h.raw[1:])
	if err != nil {
		return nil, unlessUnsupported(err)
	}
	unspent, err := v.unspent(h.index, h.raw)
	if err != nil {
		return nil, err
	}
	a := accountOf(h.text, state, unspent)
	if _, err := v.optional(Subjects, 0); unanswered(err) {
		return a, nil // without the sums
	}
	sums, err := v.accountSums(h.text)
	if err == nil {
		a.setSums(sums)
	}
	return a, err
}

// unspent returns the lovelace in the unspent outputs of a value of an index with balances.
func (v *view) unspent(x *schema.Index, value []byte) (*big.Int, error) {
	birth, err := v.Q.Birth(x, value)
	if err != nil || birth == nil {
		return new(big.Int), err
	}
	a, err := v.Q.Account(x, *birth)
	if err != nil {
		return nil, err
	}
	balance := a.Received.Sub(a.Sent)
	return balance.Big(), nil
}

// accountOf returns the state of the account with a stake address. unspent is the lovelace of its outputs.
func accountOf(stakeAddress string, a *node.Account, unspent *big.Int) *accountValue {
	v := &accountValue{
		StakeAddress: stakeAddress, Active: a.Registered, Registered: a.Registered, WithdrawableAmount: decimal(a.Rewards), DRepID: drepID(a.DRep),
		ControlledAmount: new(big.Int).Add(unspent, bigInt(a.Rewards)).String(),
	}
	if a.Pool != nil {
		v.PoolID = new(address.FormatPoolHash(a.Pool))
	}
	return v
}

// setSums sets the sums of withdrawals and of payments from the reserves and the treasury. The rewards are the sum of
// withdrawals and withdrawable rewards, less these payments.
func (a *accountValue) setSums(s *accountSums) {
	rewards, _ := new(big.Int).SetString(a.WithdrawableAmount, 10)
	rewards.Add(rewards, &s.withdrawals).Sub(rewards, &s.reserves).Sub(rewards, &s.treasury)
	if rewards.Sign() < 0 { // payments that the account lost when it was deregistered
		rewards.SetInt64(0)
	}
	a.RewardsSum, a.WithdrawalsSum = new(rewards.String()), new(s.withdrawals.String())
	a.ReservesSum, a.TreasurySum = new(s.reserves.String()), new(s.treasury.String())
}

// drepID returns the CIP-129 id of a DRep, or the name of a predefined one.
func drepID(d *node.DRep) *string {
	if d == nil {
		return nil
	}
	for id, kind := range predefinedDReps {
		if kind == d.Kind {
			return &id
		}
	}
	return new(address.FormatGovernance(address.DRep, append([]byte{byte(d.Kind)}, d.Hash...)))
}
