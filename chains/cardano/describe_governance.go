package cardano

import (
	"encoding/hex"
	"fmt"
	"math"
	"strconv"

	"golang.org/x/crypto/blake2b"

	"birthmark/chains/cardano/address"
	"birthmark/chains/cardano/body"
	"birthmark/chains/cardano/cbor"
	"birthmark/model"
)

// proposals reads the proposals of a transaction body. One that is malformed has no fields but its id and its bytes.
func (c *chain) proposals(raw, item []byte) (all []model.Proposal) {
	if item == nil {
		return nil
	}
	tx := blake2b.Sum256(raw)
	w := cbor.Walker{Data: item}
	for i, raw := range w.Sequence("proposals") {
		p, ok := body.ReadProposal(raw)
		d := model.Proposal{Action: address.FormatAction(tx[:], uint64(i)), Type: fmt.Sprintf("unknown_%d", p.Kind), Raw: hex.EncodeToString(raw)}
		if ok {
			d.Type, d.Deposit = body.Actions[p.Kind], strconv.FormatUint(p.Deposit, 10)
			d.ReturnAddress = address.FormatAccount(c.net.Network, p.Return)
			for _, w := range p.Withdrawals {
				d.Withdrawals = append(d.Withdrawals,
					model.Withdrawal{Address: address.FormatAccount(c.net.Network, w.Account), Amount: strconv.FormatUint(w.Amount, 10)})
			}
			if d.Hash = hex.EncodeToString(p.Hash); p.URL != nil {
				d.URL = *p.URL
			}
			addContents(&d, raw)
		}
		all = append(all, d)
	}
	return all
}

// addContents adds the changes of a proposal. If they are malformed, it adds those before the fault.
func addContents(d *model.Proposal, raw []byte) {
	c, _ := body.ReadContents(raw)
	d.Previous = c.Previous
	for i := range c.Parameters {
		d.Parameters = append(d.Parameters, model.ParameterChange{Name: c.Parameters[i].Name, Value: c.Parameters[i].String()})
	}
	if c.Version != [2]uint64{} {
		d.Version = fmt.Sprintf("%d.%d", c.Version[0], c.Version[1])
	}
	member := func(cred []byte) string { return address.FormatGovernance(address.CommitteeCold, cred) }
	for _, cred := range c.Removed {
		d.Removed = append(d.Removed, member(cred))
	}
	for _, m := range c.Added {
		d.Added = append(d.Added, model.CommitteeTerm{Member: member(m.Credential), Expires: m.Expires})
	}
	if c.Quorum[1] > 0 {
		d.Quorum = fmt.Sprintf("%d/%d", c.Quorum[0], c.Quorum[1])
	}
	if c.URL != nil {
		d.Constitution = &model.Constitution{URL: *c.URL, Hash: hex.EncodeToString(c.Hash), Script: hex.EncodeToString(c.Guard)}
	}
}

// ParseAction implements [model.GovernanceReader].
func (c *chain) ParseAction(id string) (tx model.Hash, index int, ok bool) {
	hash, place, ok := address.ParseAction(id)
	if !ok || place > math.MaxUint16 {
		return tx, 0, false
	}
	return model.Hash(hash), int(place), true
}

// VoterRole implements [model.GovernanceReader]. Ids are those of answers: CIP-129, and bech32 of pools.
func (c *chain) VoterRole(id string) model.VoterRole {
	for kind, role := range map[string]model.VoterRole{
		address.DRep: model.Representative, address.CommitteeHot: model.CommitteeMember, address.CommitteeCold: model.CommitteeColdKey,
	} {
		if same, ok := address.ParseGovernance(kind, id); ok && same == id {
			return role
		}
	}
	if address.IsPool(id) {
		return model.StakePool
	}
	return ""
}
