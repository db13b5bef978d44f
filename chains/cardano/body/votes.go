package body

import (
	"slices"

	"birthmark/chains/cardano/address"
	"birthmark/chains/cardano/cbor"
)

// Vote is a vote on a governance action.
type Vote struct {
	Voter  string // id of a committee member, a DRep (CIP-129) or a pool
	Place  int    // among the votes of the voter
	Action string // CIP-129
	Tx     []byte // of the action
	Index  uint64 // of the action in its transaction
	Choice uint64 // position in Choices
	URL    *string
	Hash   []byte // of the document at the URL
}

// Choices are the names of votes.
var Choices = [...]string{"no", "yes", "abstain"}

// ReadVotes reads the votes of a transaction in the order of the ledger. It returns none if they are malformed.
func (b *Body) ReadVotes() (all []Vote) {
	w := cbor.Walker{Data: b.Votes}
	if b.Votes == nil {
		return nil
	}
	type voter struct {
		item  []byte
		votes []Vote
	}
	var voters []voter
	for _, by := range w.Entries("votes") {
		v, in := voter{item: by.Key}, cbor.Walker{Data: by.Value}
		for _, e := range in.Entries("votes of a voter") {
			key, value := cbor.Walker{Data: e.Key}, cbor.Walker{Data: e.Value}
			id := key.Fields("governance action")
			vote := Vote{Voter: FormatVoter(v.item), Tx: id.Bytes("transaction"), Index: id.Uint("index")}
			id.End()
			procedure := value.Fields("vote")
			vote.Choice = procedure.Uint("choice")
			vote.URL, vote.Hash = readAnchor(procedure.Item("anchor"))
			procedure.End()
			if key.Err != nil || value.Err != nil || vote.Choice >= uint64(len(Choices)) {
				return nil
			}
			vote.Action = address.FormatAction(vote.Tx, vote.Index)
			v.votes = append(v.votes, vote)
		}
		voters = append(voters, v)
	}
	slices.SortStableFunc(voters, func(a, b voter) int { return compareVoters(a.item, b.item) })
	for _, v := range voters {
		slices.SortStableFunc(v.votes, func(a, b Vote) int {
			if c := slices.Compare(a.Tx, b.Tx); c != 0 {
				return c
			}
			return int(a.Index) - int(b.Index)
		})
		for i := range v.votes {
			v.votes[i].Place = i
		}
		all = append(all, v.votes...)
	}
	return all
}

// FormatVoter returns the id of a voter: [kind, hash].
func FormatVoter(item []byte) string {
	kind, hash := readVoter(item)
	if len(hash) != address.CredentialSize {
		return ""
	}
	cred := func(isScript uint64) []byte { return append([]byte{byte(isScript)}, hash...) }
	switch kind {
	case 0, 1:
		return address.FormatGovernance(address.CommitteeHot, cred(kind))
	case 2, 3:
		return address.FormatGovernance(address.DRep, cred(kind-2))
	}
	return address.FormatPoolHash(hash)
}

// readAnchor reads a reference to a document: [url, hash] or null.
func readAnchor(item []byte) (url *string, hash []byte) {
	w := cbor.Walker{Data: item}
	if w.Major() != cbor.Array {
		return nil, nil
	}
	f := w.Fields("anchor")
	in := cbor.Walker{Data: f.Item("URL")}
	text := string(in.Text("URL"))
	hash = f.Bytes("hash")
	if w.Err != nil {
		return nil, nil
	}
	return &text, hash
}

// AnchorOf returns the document that the last field of a certificate refers to.
func AnchorOf(certificate []byte) (url *string, hash []byte) {
	w := cbor.Walker{Data: certificate}
	var last []byte
	for n := w.Array("certificate"); w.More(&n); {
		last = w.Item("field")
	}
	return readAnchor(last)
}

// Proposal is a governance action that a transaction proposes.
type Proposal struct {
	Kind        uint64 // position in Actions
	Deposit     uint64
	Return      []byte       // reward account
	Withdrawals []Withdrawal // from the treasury
	Update      []byte       // of the protocol parameters
	URL         *string
	Hash        []byte // of the document at the URL
}

// Actions are the names of governance actions by number.
var Actions = [...]string{
	"parameter_change", "hard_fork_initiation", "treasury_withdrawals", "no_confidence", "new_committee", "new_constitution",
	"info_action",
}

// ReadProposal reads a proposal; ok is false if it is malformed.
func ReadProposal(item []byte) (p Proposal, ok bool) {
	w := cbor.Walker{Data: item}
	f := w.Fields("proposal")
	p.Deposit, p.Return = f.Uint("deposit"), f.Bytes("reward account")
	action := cbor.Walker{Data: f.Item("action")}
	if w.Err != nil {
		return p, false
	}
	a := action.Fields("action")
	p.Kind = a.Uint("kind of the action")
	if p.Kind == 0 {
		a.Skip("previous action")
		p.Update = a.Item("parameters")
	}
	if p.Kind == 2 {
		p.Withdrawals = ReadWithdrawals(a.Item("withdrawals"))
	}
	p.URL, p.Hash = readAnchor(f.Item("anchor"))
	return p, action.Err == nil && p.Kind < uint64(len(Actions))
}
