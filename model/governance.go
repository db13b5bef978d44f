package model

import "context"

// GovernanceReader is a chain whose transactions propose governance actions and vote on them.
type GovernanceReader interface {
	// ParseAction returns the transaction that proposes a governance action, and the position among its proposals; ok is
	// false if the text is no id of one.
	ParseAction(id string) (tx Hash, index int, ok bool)
	// VoterRole returns the role of an id in votes and certificates; empty if it is not an id of a voter.
	VoterRole(id string) VoterRole
}

// VoterRole is the role of a voter in governance (CIP-1694).
type VoterRole string

const (
	Representative   VoterRole = "representative"
	StakePool        VoterRole = "pool"
	CommitteeMember  VoterRole = "committee member" // its hot credential, which votes
	CommitteeColdKey VoterRole = "committee member, cold credential"
)

// VoterReader is a source whose node has the state of representatives.
type VoterReader interface {
	// VoterState returns the state of a representative at the tip of the node; nil if the voter has another role.
	VoterState(ctx context.Context, id string) (*VoterState, error)
}

// VoterState is the state of a representative.
type VoterState struct {
	Registered bool
	Expired    bool     // it did not vote for too long
	Expires    uint64   // the last epoch in which its votes count
	Power      string   // of its votes, in the smallest unit
	Delegators []string // accounts that delegate to it; nil: unknown
}
