package node

import (
	"context"
	"strconv"

	"birthmark/chains/cardano/address"
	"birthmark/model"
)

// predefined are the names of the DReps without a key, by kind.
var predefined = map[uint64]string{2: "always_abstain", 3: "always_no_confidence"}

// AccountState implements [model.AccountReader]: values of the index stake_credential are accounts.
func (l *Local) AccountState(ctx context.Context, index, value string) (*model.AccountState, error) {
	if index != "stake_credential" {
		return nil, nil
	}
	cred, err := address.ParseStakeCredential(l.net.Network, value)
	if err != nil {
		return nil, err
	}
	a, err := l.Account(ctx, cred[0], cred[1:])
	if err != nil {
		return nil, err
	}
	state := &model.AccountState{Registered: a.Registered, Rewards: strconv.FormatUint(a.Rewards, 10)}
	if a.Pool != nil {
		state.Pool = address.FormatPoolHash(a.Pool)
	}
	if d := a.DRep; d != nil {
		if state.DRep = predefined[d.Kind]; state.DRep == "" {
			state.DRep = address.FormatGovernance(address.DRep, append([]byte{byte(d.Kind)}, d.Hash...))
		}
	}
	return state, nil
}

// VoterState implements [model.VoterReader].
func (l *Local) VoterState(ctx context.Context, id string) (*model.VoterState, error) {
	cred, ok := address.GovernanceCredential(address.DRep, id)
	if !ok {
		return nil, nil
	}
	states, epoch, err := l.DReps(ctx, []DRep{{Kind: uint64(cred[0]), Hash: cred[1:]}})
	if err != nil {
		return nil, err
	}
	s := &states[0]
	state := &model.VoterState{
		Registered: s.Registered, Expired: s.Registered && epoch > s.Expires, Expires: s.Expires, Power: strconv.FormatUint(s.Power, 10),
	}
	for _, cred := range s.Delegators {
		state.Delegators = append(state.Delegators, address.FormatStakeCredential(l.net.Network, cred))
	}
	return state, nil
}
