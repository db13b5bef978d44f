package body

import (
	"birthmark/chains/cardano/address"
	"birthmark/chains/cardano/cbor"
)

// Contents holds the changes of a governance action. Fields of other kinds are zero.
type Contents struct {
	Previous   string // the action of the same purpose that it follows (CIP-129); empty: none
	Parameters []Parameter
	Version    [2]uint64 // of the protocol, after a hard fork: major, minor
	Removed    [][]byte  // cold credentials of members of the committee
	Added      []Member
	Quorum     [2]uint64 // votes that the committee needs: numerator, denominator
	URL        *string   // of the constitution
	Hash       []byte    // of the constitution
	Guard      []byte    // hash of the script that checks proposals, of a constitution
}

// Member is a member of the committee until the end of an epoch.
type Member struct {
	Credential []byte // cold, as it is stored
	Expires    uint64
}

// Kinds of governance actions (rule gov_action of the ledger's CDDL), positions in Actions.
const (
	changesParameters = iota
	forksProtocol
	withdraws
	noConfidence
	changesCommittee
	changesConstitution
)

// ReadContents reads the changes of a proposal, except withdrawals, which are fields of [Proposal]. ok is false if it is
// malformed; the fields before the fault are set.
func ReadContents(item []byte) (c Contents, ok bool) {
	w := cbor.Walker{Data: item}
	f := w.Fields("proposal")
	f.Skip("deposit")
	f.Skip("reward account")
	action := cbor.Walker{Data: f.Item("action")}
	if w.Err != nil {
		return c, false
	}
	a := action.Fields("action")
	kind := a.Uint("kind of the action")
	switch kind {
	case changesParameters, forksProtocol, noConfidence, changesCommittee, changesConstitution:
		if c.Previous, ok = readPrevious(a.Item("previous action")); !ok {
			return c, false
		}
	}
	switch kind {
	case changesParameters:
		var err error
		if c.Parameters, err = ReadParameters(a.Item("parameters")); err != nil {
			return c, false
		}
	case forksProtocol:
		in := cbor.Walker{Data: a.Item("version")}
		v := in.Fields("version")
		c.Version = [2]uint64{v.Uint("major version"), v.Uint("minor version")}
		if v.End(); in.Err != nil {
			return c, false
		}
	case changesCommittee:
		if !c.readCommittee(&a) {
			return c, false
		}
	case changesConstitution:
		in := cbor.Walker{Data: a.Item("constitution")}
		v := in.Fields("constitution")
		c.URL, c.Hash = readAnchor(v.Item("document"))
		guard := cbor.Walker{Data: v.Item("script hash")}
		if guard.Major() == cbor.Bytes {
			c.Guard = guard.Bytes("script hash")
		}
		if in.Err != nil || guard.Err != nil {
			return c, false
		}
	}
	return c, action.Err == nil
}

// readPrevious reads the id of an action, or null.
func readPrevious(item []byte) (id string, ok bool) {
	w := cbor.Walker{Data: item}
	if w.Major() != cbor.Array {
		return "", len(item) > 0
	}
	f := w.Fields("previous action")
	tx, index := f.Bytes("transaction"), f.Uint("index")
	if f.End(); w.Err != nil {
		return "", false
	}
	return address.FormatAction(tx, index), true
}

func (c *Contents) readCommittee(a *cbor.Fields) bool {
	removed := cbor.Walker{Data: a.Item("removed members")}
	for _, item := range removed.Elements("removed members") {
		w := cbor.Walker{Data: item}
		cred := ReadCredential(w.Fields("credential"))
		if w.Err != nil {
			return false
		}
		c.Removed = append(c.Removed, cred)
	}
	added := cbor.Walker{Data: a.Item("added members")}
	for _, e := range added.Entries("added members") {
		key, value := cbor.Walker{Data: e.Key}, cbor.Walker{Data: e.Value}
		m := Member{ReadCredential(key.Fields("credential")), value.Uint("epoch")}
		if key.Err != nil || value.Err != nil {
			return false
		}
		c.Added = append(c.Added, m)
	}
	quorum := cbor.Walker{Data: a.Item("quorum")}
	c.Quorum[0], c.Quorum[1] = ReadRatio(&quorum)
	return removed.Err == nil && added.Err == nil && quorum.Err == nil
}

// ReadCredential reads [kind, hash] and returns it as credentials are stored.
func ReadCredential(pair cbor.Fields) []byte {
	kind := pair.Uint("kind of a credential")
	hash := pair.BytesOf(address.CredentialSize, "hash of a credential")
	pair.End()
	return append([]byte{byte(kind)}, hash...)
}
