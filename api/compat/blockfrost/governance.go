package blockfrost

import (
	"encoding/hex"
	"fmt"
	"math"
	"strings"

	"birthmark/chains/cardano/address"
	"birthmark/chains/cardano/body"
	"birthmark/model"
)

// Subjects of all transactions of a kind, as the field subjects has them.
const (
	proposal      = "proposal"
	committeeVote = "committee_vote"
)

// votes returns the votes of a transaction that match.
func votes(match func(*body.Vote) bool) func(*decoded) []body.Vote {
	return func(d *decoded) (all []body.Vote) {
		if d.Failed {
			return nil
		}
		for _, v := range d.Parts.ReadVotes() {
			if match(&v) {
				all = append(all, v)
			}
		}
		return all
	}
}

func by(voter string) func(*body.Vote) bool {
	return func(v *body.Vote) bool { return v.Voter == voter }
}

// poolVotes answers the votes of a pool.
func poolVotes(v *view) (any, error) {
	id, err := v.named("pool_id")
	if err != nil {
		return nil, err
	}
	return listOf(v, id, votes(by(id)), func(e *entry[body.Vote]) poolVoteValue {
		return poolVoteValue{e.hash, e.part.Place, body.Choices[e.part.Choice]}
	})
}

// drepVotes answers the votes of a DRep. The list of one that is not known is empty.
func drepVotes(v *view) (any, error) {
	id := v.arg("drep_id")
	return listOf(v, id, votes(by(id)), func(e *entry[body.Vote]) drepVoteValue {
		vote := &e.part
		return drepVoteValue{e.hash, vote.Place, vote.Action, hex.EncodeToString(vote.Tx), vote.Index, body.Choices[vote.Choice]}
	})
}

// committeeVotes answers the votes of all committee members.
func committeeVotes(v *view) (any, error) {
	return v.votesOfCommittee(committeeVote, func(vote *body.Vote) bool {
		return strings.HasPrefix(vote.Voter, address.CommitteeHot)
	})
}

// memberVotes answers the votes of a hot credential of the committee, or those of all hot credentials that a cold one
// has authorized.
func memberVotes(v *view) (any, error) {
	id := v.arg("cc_id")
	if strings.HasPrefix(id, address.CommitteeHot) {
		return v.votesOfCommittee(id, by(id))
	}
	hot := map[string]bool{}
	authorized := func(d *decoded) (all []string) {
		for _, c := range d.Details.Certificates {
			if c.Credential == id && c.HotCredential != "" {
				all = append(all, c.HotCredential)
			}
		}
		return all
	}
	for e, err := range entriesOf(v, id, authorized, nil, false) {
		if err != nil {
			return nil, err
		}
		hot[e.part] = true
	}
	return v.votesOfCommittee(committeeVote, func(vote *body.Vote) bool { return hot[vote.Voter] })
}

func (v *view) votesOfCommittee(subject string, match func(*body.Vote) bool) (any, error) {
	found, err := pageOfEntries(v, subject, votes(match))
	if err != nil {
		return nil, err
	}
	all := []committeeVoteValue{}
	for _, e := range found {
		vote := e.part
		p, err := v.proposalAt(vote.Tx, vote.Index)
		if err == errNotFound { // of a later era: Blockfrost has no type for it
			continue
		}
		if err != nil {
			return nil, fmt.Errorf("the proposal of a vote in %s: %w", e.hash, err)
		}
		all = append(all, committeeVoteValue{
			e.hash, vote.Voter, vote.Action, hex.EncodeToString(vote.Tx), vote.Index, body.Actions[p.Kind], body.Choices[vote.Choice], vote.URL,
			hexText(vote.Hash), uint32(e.tx.Height()), v.PointAt(e.tx.Height()).Time,
		})
	}
	return all, nil
}

// proposalAt returns a proposal of a transaction. One of a kind that this version does not know is not found.
func (v *view) proposalAt(tx []byte, index uint64) (p body.Proposal, err error) {
	found, err := v.Q.TxPks([]model.Hash{model.Hash(tx)})
	if err != nil {
		return p, err
	}
	if len(found[0]) == 0 {
		return p, errNotFound
	}
	d, err := v.decodeTx(found[0][0])
	if err != nil {
		return p, err
	}
	if d.Failed || index >= uint64(len(d.Parts.Proposals)) {
		return p, errNotFound
	}
	p, ok := body.ReadProposal(d.Parts.Proposals[index])
	if !ok {
		return p, errNotFound
	}
	return p, nil
}

// action returns the governance action of the path: a transaction with a number, or an id.
func (v *view) action() (tx []byte, index uint64, err error) {
	if id := v.arg("gov_action_id"); id != "" {
		tx, index, _ := address.ParseAction(id) // its form is known
		return tx, index, nil
	}
	hash, ok := readHash(v.arg("tx_hash"))
	index = v.number("cert_index")
	if !ok || index > math.MaxUint16 {
		return nil, 0, errNotFound
	}
	return hash[:], index, nil
}

// proposals answers all proposals.
func proposals(v *view) (any, error) {
	parts := func(d *decoded) (all []proposalValue) {
		if d.Failed {
			return nil
		}
		for i, item := range d.Parts.Proposals {
			if p, ok := body.ReadProposal(item); ok {
				all = append(all, proposalValue{CertIndex: i, Type: body.Actions[p.Kind]})
			}
		}
		return all
	}
	return listOf(v, proposal, parts, func(e *entry[proposalValue]) proposalValue {
		hash, _ := hex.DecodeString(e.hash) // of a stored hash
		e.part.ID, e.part.TxHash = address.FormatAction(hash, uint64(e.part.CertIndex)), e.hash
		return e.part
	})
}

// proposalParameters answers the protocol parameters that a proposal changes. Proposals of other kinds are not found.
func proposalParameters(v *view) (any, error) {
	tx, index, err := v.action()
	if err != nil {
		return nil, err
	}
	p, err := v.proposalAt(tx, index)
	if err != nil || p.Update == nil {
		return nil, orNotFound(err)
	}
	changed, err := changedParameters(p.Update)
	return &proposalParametersValue{address.FormatAction(tx, index), hex.EncodeToString(tx), index, changed}, err
}

// proposalWithdrawals answers the amounts that a proposal withdraws from the treasury, by account.
func proposalWithdrawals(v *view) (any, error) {
	tx, index, err := v.action()
	if err != nil {
		return nil, err
	}
	p, err := v.proposalAt(tx, index)
	if err != nil {
		return nil, err
	}
	all := []treasuryWithdrawalValue{}
	for _, w := range slicePage(p.Withdrawals, v.page) {
		all = append(all, treasuryWithdrawalValue{address.FormatAccount(v.addressNetwork(), w.Account), decimal(w.Amount)})
	}
	return all, nil
}
