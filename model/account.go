package model

import "context"

// AccountReader is a source whose node has the state of accounts that stake.
type AccountReader interface {
	// AccountState returns the state of the account that is a value of an index, at the tip of the node; nil if values of
	// the index are no accounts.
	AccountState(ctx context.Context, index, value string) (*AccountState, error)
}

// AccountState is the state of an account that stakes.
type AccountState struct {
	Registered bool
	Pool       string // that it delegates its stake to; empty: none
	DRep       string // that it delegates its votes to, a name if it is predefined; empty: none
	Rewards    string // that can be withdrawn, in the smallest unit
}
