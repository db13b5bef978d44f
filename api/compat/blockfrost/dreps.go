package blockfrost

import (
	"cmp"
	"encoding/hex"
	"slices"
	"strings"

	"birthmark/api/compat/utxo"
	"birthmark/chains/cardano/address"
	"birthmark/chains/cardano/body"
	"birthmark/chains/cardano/node"
)

// Types of the certificates of DReps.
const (
	registersDRep = "reg_drep"
	retiresDRep   = "unreg_drep"
	updatesDRep   = "update_drep"
)

// drepAction is a certificate of a DRep, or its votes in a transaction.
type drepAction struct {
	drep, kind string // kind is the type of the certificate; empty: votes
	raw        string
}

// drepActions returns the certificates of all DReps, or, with an id, the certificates and the votes of one.
func drepActions(id string) func(*decoded) []drepAction {
	return func(d *decoded) (all []drepAction) {
		for _, c := range d.Details.Certificates {
			if c.DRep != "" && (id == "" || c.DRep == id) && (c.Type == registersDRep || c.Type == retiresDRep || c.Type == updatesDRep) {
				all = append(all, drepAction{c.DRep, c.Type, c.Raw})
			}
		}
		if id != "" && len(votes(by(id))(d)) > 0 {
			all = append(all, drepAction{drep: id})
		}
		return all
	}
}

// predefinedDReps are the DReps without a credential, which need no registration.
var predefinedDReps = map[string]uint64{"drep_always_abstain": node.DRepAbstain, "drep_always_no_confidence": node.DRepNoConfidence}

// knownDRep returns the DRep of the path. One that no certificate and no vote names is not found.
func (v *view) knownDRep() (string, error) {
	id := v.arg("drep_id")
	if _, predefined := predefinedDReps[id]; predefined {
		return id, nil
	}
	return v.named("drep_id")
}

// drepsOf returns the states of DReps by their ids, as the node has them.
func (v *view) drepsOf(ids []string) ([]drepValue, []node.DRepState, error) {
	n, err := v.ledger()
	if err != nil {
		return nil, nil, err
	}
	of := make([]node.DRep, len(ids))
	all := make([]drepValue, len(ids))
	for i, id := range ids {
		if kind, predefined := predefinedDReps[id]; predefined {
			of[i], all[i].ID = node.DRep{Kind: kind}, id
			continue
		}
		cred, _ := address.GovernanceCredential(address.DRep, id) // an id that was formatted
		of[i] = node.DRep{Kind: uint64(cred[0]), Hash: cred[1:]}
		all[i] = drepValue{ID: id, Hex: address.GovernanceHex(address.DRep, cred), HasScript: cred[0] == 1}
	}
	if len(ids) == 0 {
		return all, nil, nil
	}
	states, epoch, err := n.DReps(v.ctx(), of)
	if err != nil {
		return nil, nil, unlessUnsupported(err)
	}
	for i, s := range states {
		all[i].Amount, all[i].Retired = decimal(s.Power), !s.Registered
		all[i].Expired = s.Registered && epoch > s.Expires
	}
	return all, states, nil
}

// addHistory sets the fields of a DRep that are in the chain: the epoch of its last action and its document. registered
// is the epoch of its last registration.
func (v *view) addHistory(d *drepValue) (registered *uint64, err error) {
	found := false // the last certificate with a document
	for e, err := range entriesOf(v, d.ID, drepActions(d.ID), nil, true) {
		if err != nil {
			return nil, err
		}
		epoch, err := v.epochAt(e.tx.Height())
		if err != nil {
			return nil, err
		}
		if d.LastActiveEpoch == nil {
			d.LastActiveEpoch = &epoch
		}
		if !found && (e.part.kind == registersDRep || e.part.kind == updatesDRep) {
			found = true
			raw, err := hex.DecodeString(e.part.raw)
			if err != nil {
				return nil, err
			}
			if url, hash := body.AnchorOf(raw); url != nil {
				d.Metadata = &drepMetadata{URL: url, Hash: hexText(hash)}
			}
		}
		if e.part.kind == registersDRep {
			return &epoch, nil
		}
	}
	return nil, nil
}

func oneDRep(v *view) (any, error) {
	id, err := v.knownDRep()
	if err != nil {
		return nil, err
	}
	all, _, err := v.drepsOf([]string{id})
	if err != nil {
		return nil, err
	}
	d := &all[0]
	if _, predefined := predefinedDReps[id]; predefined {
		return &oneDRepValue{ID: id, Amount: d.Amount, Active: true}, nil
	}
	registered, err := v.addHistory(d)
	return &oneDRepValue{d.ID, d.Hex, d.Amount, !d.Retired, registered, d.HasScript, d.Retired, d.Expired, d.LastActiveEpoch}, err
}

// registeredDReps returns the DReps in the order of their first registration; with retired, only DReps that are
// retired, or only DReps that are not. It reads all certificates of DReps.
func (v *view) registeredDReps(retired *bool) ([]string, error) {
	order, last := []string{}, map[string]entry[drepAction]{}
	for _, kind := range []string{registersDRep, retiresDRep} {
		for e, err := range entriesOf(v, kind, drepActions(""), nil, false) {
			if err != nil {
				return nil, err
			}
			if e.part.kind != kind {
				continue
			}
			before, known := last[e.part.drep]
			if !known {
				order = append(order, e.part.drep)
			}
			if !known || before.before(&e) {
				last[e.part.drep] = e
			}
		}
	}
	if retired != nil {
		order = slices.DeleteFunc(order, func(id string) bool { return (last[id].part.kind == retiresDRep) != *retired })
	}
	return order, nil
}

// dreps answers all DReps that registered, with the filter and the order of the request.
func dreps(v *view) (any, error) {
	if _, err := v.ledger(); err != nil {
		return nil, err
	}
	ids, err := v.registeredDReps(v.filter.retired)
	if err != nil {
		return nil, err
	}
	byAmount, expired := v.filter.byAmount, v.filter.expired
	if !byAmount && expired == nil {
		ids = slicePage(ids, v.page)
	}
	all, _, err := v.drepsOf(ids)
	if err != nil {
		return nil, err
	}
	if expired != nil {
		all = slices.DeleteFunc(all, func(d drepValue) bool { return d.Expired != *expired })
	}
	if byAmount {
		slices.SortStableFunc(all, func(a, b drepValue) int {
			return cmp.Or(cmp.Compare(len(a.Amount), len(b.Amount)), strings.Compare(a.Amount, b.Amount)) // numbers without zeros in front
		})
	}
	if byAmount || expired != nil {
		all = slicePage(all, v.page)
	}
	for i := range all {
		if _, err := v.addHistory(&all[i]); err != nil {
			return nil, err
		}
	}
	return all, nil
}

// drepDelegators answers the accounts that delegate to a DRep at the tip of the node, in the order of their
// credentials. The amounts are their unspent outputs and rewards.
func drepDelegators(v *view) (any, error) {
	id, err := v.knownDRep()
	if err != nil {
		return nil, err
	}
	_, states, err := v.drepsOf([]string{id})
	if err != nil {
		return nil, err
	}
	n, err := v.ledger()
	if err != nil {
		return nil, err
	}
	x, err := v.Q.Index(utxo.StakeIndex)
	if err != nil {
		return nil, err
	}
	all := []delegatorValue{}
	for _, cred := range slicePage(states[0].Delegators, v.page) {
		a, err := n.Account(v.ctx(), cred[0], cred[1:])
		if err != nil {
			return nil, unlessUnsupported(err)
		}
		unspent, err := v.unspent(x, cred)
		if err != nil {
			return nil, err
		}
		all = append(all, delegatorValue{v.stakeAddress(cred), unspent.Add(unspent, bigInt(a.Rewards)).String()})
	}
	return all, nil
}

// drepUpdates answers the certificates of a DRep. The lists of one that is not known are empty.
func drepUpdates(v *view) (any, error) {
	id := v.arg("drep_id")
	actions := map[string]string{registersDRep: "registered", retiresDRep: "deregistered", updatesDRep: "updated"}
	parts := func(d *decoded) (all []drepUpdateValue) {
		for i, c := range d.Details.Certificates {
			if action := actions[c.Type]; action != "" && c.DRep == id {
				u := drepUpdateValue{CertIndex: i, Action: action}
				if c.Type == registersDRep {
					u.Deposit = text(c.Deposit)
				}
				all = append(all, u)
			}
		}
		return all
	}
	return listOf(v, id, parts, func(e *entry[drepUpdateValue]) drepUpdateValue {
		e.part.TxHash = e.hash
		return e.part
	})
}
