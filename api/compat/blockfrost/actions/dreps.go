package actions

import (
	"cmp"
	"encoding/hex"
	"slices"
	"strings"

	"birthmark/api/compat/blockfrost/exchange"
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
func drepActions(id string) func(*exchange.Decoded) []drepAction {
	return func(d *exchange.Decoded) (all []drepAction) {
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

// drep is the state of a DRep. Amounts are those of the node.
type drep struct {
	ID              string        `json:"drep_id"`
	Hex             string        `json:"hex"` // the bytes of the id
	Amount          string        `json:"amount"`
	HasScript       bool          `json:"has_script"`
	Retired         bool          `json:"retired"`
	Expired         bool          `json:"expired"`
	LastActiveEpoch *uint64       `json:"last_active_epoch"`
	Metadata        *drepMetadata `json:"metadata"`
}

// drepMetadata is the document of a DRep. Its contents are outside of the chain.
type drepMetadata struct {
	URL   *string `json:"url"`
	Hash  *string `json:"hash"`
	JSON  any     `json:"json_metadata"`
	Bytes *string `json:"bytes"`
}

// drepAnswer is a [drep] as it is answered alone.
type drepAnswer struct {
	ID              string  `json:"drep_id"`
	Hex             string  `json:"hex"`
	Amount          string  `json:"amount"`
	Active          bool    `json:"active"` // registered
	ActiveEpoch     *uint64 `json:"active_epoch"`
	HasScript       bool    `json:"has_script"`
	Retired         bool    `json:"retired"`
	Expired         bool    `json:"expired"`
	LastActiveEpoch *uint64 `json:"last_active_epoch"`
}

// drepsOf returns the states of DReps by their ids, as the node has them.
func drepsOf(q *exchange.Request, ids []string) ([]drep, []node.DRepState, error) {
	n, err := q.Node()
	if err != nil {
		return nil, nil, err
	}
	of := make([]node.DRep, len(ids))
	all := make([]drep, len(ids))
	for i, id := range ids {
		cred, _ := address.GovernanceCredential(address.DRep, id) // an id that was formatted
		of[i] = node.DRep{Kind: uint64(cred[0]), Hash: cred[1:]}
		all[i] = drep{ID: id, Hex: address.GovernanceHex(address.DRep, cred), HasScript: cred[0] == 1}
	}
	if len(ids) == 0 {
		return all, nil, nil
	}
	states, epoch, err := n.DReps(q.Ctx, of)
	if err != nil {
		return nil, nil, exchange.UnlessUnsupported(err)
	}
	for i, s := range states {
		all[i].Amount, all[i].Retired = exchange.Decimal(s.Power), !s.Registered
		all[i].Expired = s.Registered && epoch > s.Expires
	}
	return all, states, nil
}

// addHistory sets the fields of a DRep that are in the chain: the epoch of its last action and its document. registered is
// the epoch of its last registration.
func (d *drep) addHistory(q *exchange.Request) (registered *uint64, err error) {
	found := false // the last certificate with a document
	for e, err := range entries(q, d.ID, drepActions(d.ID), nil, true) {
		if err != nil {
			return nil, err
		}
		epoch, err := q.EpochOf(e.tx)
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
				d.Metadata = &drepMetadata{URL: url, Hash: exchange.HexText(hash)}
			}
		}
		if e.part.kind == registersDRep {
			return &epoch, nil
		}
	}
	return nil, nil
}

// fixedVotes are the representatives without a credential, which need no registration.
var fixedVotes = map[string]uint64{"drep_always_abstain": node.DRepAbstain, "drep_always_no_confidence": node.DRepNoConfidence}

// DRep answers one DRep. One that no certificate and no vote names is not found.
func DRep(q *exchange.Request) error {
	if kind, fixed := fixedVotes[q.Args[0]]; fixed {
		n, err := q.Node()
		if err != nil {
			return err
		}
		states, _, err := n.DReps(q.Ctx, []node.DRep{{Kind: kind}})
		if err != nil {
			return exchange.UnlessUnsupported(err)
		}
		q.Answer = drepAnswer{ID: q.Args[0], Amount: exchange.Decimal(states[0].Power), Active: true}
		return nil
	}
	id, err := knownDRep(q)
	if err != nil {
		return err
	}
	all, _, err := drepsOf(q, []string{id})
	if err != nil {
		return err
	}
	d := &all[0]
	registered, err := d.addHistory(q)
	q.Answer = drepAnswer{d.ID, d.Hex, d.Amount, !d.Retired, registered, d.HasScript, d.Retired, d.Expired, d.LastActiveEpoch}
	return err
}

// knownDRep returns the DRep of the path.
func knownDRep(q *exchange.Request) (string, error) {
	id := q.Args[0]
	_, birth, err := birthOf(q, id)
	if err == nil && birth == nil {
		err = exchange.ErrNotFound
	}
	return id, err
}

// listedDReps returns the DReps in the order of their first registration, of which retired ones are a parameter. It reads
// all certificates of DReps.
func listedDReps(q *exchange.Request, retired *bool) ([]string, error) {
	if err := q.Expensive(); err != nil {
		return nil, err
	}
	order, last := []string{}, map[string]entry[drepAction]{}
	for _, kind := range []string{registersDRep, retiresDRep} {
		for e, err := range entries(q, kind, drepActions(""), nil, false) {
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

// DReps answers all DReps that registered, with the filters and the order of the request.
func DReps(q *exchange.Request) error {
	p := q.Page
	byAmount, retired, expired, err := filters(q)
	if err != nil {
		return err
	}
	if _, err := q.Node(); err != nil {
		return err
	}
	ids, err := listedDReps(q, retired)
	if err != nil {
		return err
	}
	if !byAmount && expired == nil {
		ids = exchange.SlicePage(ids, p)
	}
	all, _, err := drepsOf(q, ids)
	if err != nil {
		return err
	}
	if byAmount || expired != nil {
		if expired != nil {
			all = slices.DeleteFunc(all, func(d drep) bool { return d.Expired != *expired })
		}
		if byAmount {
			slices.SortStableFunc(all, func(a, b drep) int {
				return cmp.Or(cmp.Compare(len(a.Amount), len(b.Amount)), strings.Compare(a.Amount, b.Amount)) // numbers without zeros in front
			})
		}
		all = exchange.SlicePage(all, p)
	}
	for i := range all {
		if _, err := all[i].addHistory(q); err != nil {
			return err
		}
	}
	q.Answer = all
	return nil
}

// flag returns a parameter that is true or false; nil if it is absent.
func flag(q *exchange.Request, name string) (*bool, error) {
	if !q.Values.Has(name) {
		return nil, nil
	}
	on := q.Values.Get(name) == "true"
	if !on && q.Values.Get(name) != "false" {
		return nil, exchange.Bad("querystring/" + name + " must be boolean")
	}
	return &on, nil
}

// filters returns the parameters of the list of DReps beside those of each list.
func filters(q *exchange.Request) (byAmount bool, retired, expired *bool, err error) {
	byAmount = q.Values.Has("order_by")
	if byAmount && q.Values.Get("order_by") != "amount" {
		return byAmount, nil, nil, exchange.Bad("querystring/order_by must be equal to one of the allowed values")
	}
	if retired, err = flag(q, "retired"); err == nil {
		expired, err = flag(q, "expired")
	}
	return byAmount, retired, expired, err
}

// FilteredDReps reads the parameters of the list of DReps.
func FilteredDReps(q *exchange.Request) error {
	err := exchange.Listed(q)
	if err == nil {
		_, _, _, err = filters(q)
	}
	return err
}

// DRepDelegators answers the accounts that delegate to a DRep at the tip of the node, in the order of their credentials.
// The amounts are their unspent outputs and rewards.
func DRepDelegators(q *exchange.Request) error {
	kind, fixed := fixedVotes[q.Args[0]]
	id := q.Args[0]
	if !fixed {
		var err error
		if id, err = knownDRep(q); err != nil {
			return err
		}
	}
	p := q.Page
	n, err := q.Node()
	if err != nil {
		return err
	}
	var states []node.DRepState
	if fixed {
		if states, _, err = n.DReps(q.Ctx, []node.DRep{{Kind: kind}}); err != nil {
			return exchange.UnlessUnsupported(err)
		}
	} else if _, states, err = drepsOf(q, []string{id}); err != nil {
		return err
	}
	x, err := q.Q.Index(utxo.StakeIndex)
	if err != nil {
		return err
	}
	type delegator struct {
		Address string `json:"address"`
		Amount  string `json:"amount"`
	}
	all := []delegator{}
	for _, cred := range exchange.SlicePage(states[0].Delegators, p) {
		a, err := n.Account(q.Ctx, cred[0], cred[1:])
		if err != nil {
			return exchange.UnlessUnsupported(err)
		}
		unspent, err := q.Unspent(x, cred)
		if err != nil {
			return err
		}
		all = append(all, delegator{address.FormatStakeCredential(q.NetworkName(), cred), unspent.Add(unspent, exchange.Int(a.Rewards)).String()})
	}
	q.Answer = all
	return nil
}
