package cardano

import (
	"slices"

	"birthmark/chains/cardano/address"
	"birthmark/chains/cardano/body"
	"birthmark/chains/cardano/ledger"
)

// Subjects that stand for all transactions of a kind, as the types of certificates do.
const (
	subjectProposal      = "proposal"
	subjectCommitteeVote = "committee_vote"
)

// subjects returns the names in certificates, withdrawals, votes and redeemers of the transaction, each once. Delegations
// name the account only, because those of a pool or a DRep are many.
func (v *view) subjects() (all []string) {
	add := func(subject string) {
		if subject != "" && !slices.Contains(all, subject) {
			all = append(all, subject)
		}
	}
	b, err := body.Read(v.parts.Body)
	if err != nil || v.txs.Header.Era <= ledger.EraByron {
		return nil
	}
	for _, item := range b.Certificates {
		d, err := v.index.chain.certificate(item)
		if err != nil {
			continue
		}
		add(d.Type)
		add(d.StakeAddress)
		switch d.Type {
		case "pool_registration", "pool_retirement":
			add(d.Pool)
		case "reg_drep", "unreg_drep", "update_drep":
			add(d.DRep)
		case "move_instantaneous_rewards":
			for _, p := range body.Payments(item) {
				add(address.FormatStakeCredential(v.net.Network, p.Credential))
			}
		}
		add(d.Credential)
		add(d.HotCredential)
	}
	for _, account := range b.Accounts {
		add(address.FormatAccount(v.net.Network, account))
	}
	for _, vote := range b.ReadVotes() {
		add(vote.Voter)
		add(vote.Action)
		if len(vote.Voter) > 0 && vote.Voter[0] == 'c' {
			add(subjectCommitteeVote)
		}
	}
	if len(b.Proposals) > 0 {
		add(subjectProposal)
	}
	for _, r := range ledger.ReadWitnesses(v.parts.Witnesses).Redeemers {
		if r.Purpose == ledger.PurposeSpend {
			continue // its script is in the output that the input spends
		}
		if hash := b.ScriptOf(&r, nil); len(hash) == address.CredentialSize {
			add(address.FormatScript(hash))
		}
	}
	return all
}
