package blockfrost

import (
	"context"
	"encoding/hex"
	"math"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"birthmark/api/compat/utxo"
	"birthmark/chains/cardano/address"
	"birthmark/chains/cardano/hdkey"
	"birthmark/model"
)

// call is a request whose arguments are valid.
type call struct {
	*server
	r        *request
	args     []string   // the variable parts of the path, in the forms that answers have
	names    []string   // of args
	values   url.Values // the parameters of the query
	page     paging
	from, to *place // the part of the chain; nil: without this end
	filter   filter
}

// argument reads a variable part of a path. It returns the form that endpoints expect, or the fault of a malformed one.
type argument struct {
	integer bool // Blockfrost checks integers before the parameters of the query, and the form of others after them
	read    func(c *call, text string) (string, error)
}

// arguments are the variable parts of paths that have a form. An unknown one of another name, such as a hash of a
// transaction, is not found.
var arguments = map[string]argument{
	"stake_address": {read: (*call).stakeArg},
	"address":       {read: (*call).addressArg},
	"pool_id":       {read: poolArg},
	"asset":         {read: assetArg},
	"policy_id":     {read: hexOf(address.PolicySize, address.PolicySize, errPolicy)},
	"block":         {read: blockArg},
	"label":         {read: upTo(math.MaxInt64, errLabel)},
	"drep_id":       {read: drepArg},
	"cc_id":         {read: committeeArg},
	"gov_action_id": {read: actionArg},
	"xpub":          {read: hexOf(hdkey.Size, hdkey.Size, errXpub)},
	"slot_number":   {true, upTo(math.MaxInt32, errSlot)},
	"epoch_number":  {true, upTo(math.MaxInt32, errEpoch)},
	"number":        {true, upTo(math.MaxInt32, errEpoch)},
	"cert_index":    {true, upTo(math.MaxInt64, errNotFound)},
	"role":          {true, upTo(math.MaxInt32, bad("Missing, out of range or malformed role."))},
	"index":         {true, upTo(math.MaxInt32, bad("Missing, out of range or malformed index."))},
}

// argumentsOf returns the names of the variable parts of a path.
func argumentsOf(path string) (names []string) {
	for segment := range strings.SplitSeq(path, "/") {
		if name, ok := strings.CutPrefix(segment, "{"); ok {
			names = append(names, strings.TrimSuffix(name, "}"))
		}
	}
	return names
}

// read checks all of a request before anything is looked up, in the order of Blockfrost: the integers of the path, the
// parameters of the query, the other parts of the path.
func (s *server) read(e *endpoint, names []string, r *request) (*call, error) {
	c := &call{server: s, r: r, names: names, page: paging{count: maxCount, number: 1}}
	var err error
	if c.values, err = url.ParseQuery(r.URL.RawQuery); err != nil {
		return nil, errPath
	}
	c.args = make([]string, len(names))
	for i, name := range names {
		if c.args[i], _ = r.Arg(name); arguments[name].integer && !isInteger(c.args[i]) {
			return nil, bad("params/" + name + " must be integer")
		}
	}
	if e.takes != nil {
		if err := e.takes.read(c); err != nil {
			return nil, err
		}
	}
	for i, name := range names {
		if a := arguments[name]; a.read != nil {
			if c.args[i], err = a.read(c, c.args[i]); err != nil {
				return nil, err
			}
		}
	}
	return c, nil
}

// arg returns a variable part of the path; empty if the path has none with the name.
func (c *call) arg(name string) string {
	if i := slices.Index(c.names, name); i >= 0 {
		return c.args[i]
	}
	return ""
}

// number returns an argument that is a number.
func (c *call) number(name string) uint64 {
	n, _ := strconv.ParseUint(c.arg(name), 10, 64) // its form is known
	return n
}

func (c *call) ctx() context.Context { return c.r.Context() }

// addressNetwork returns the network of addresses.
func (s *server) addressNetwork() address.Network {
	name := s.Chain.Model.Network()
	return address.Network{Name: name, Testnet: name != address.Mainnet.Name}
}

// parseAddress reads an address of this network.
func (s *server) parseAddress(text string) ([]byte, error) {
	for _, x := range s.Chain.Model.Indexes() {
		if x.Name == utxo.AddressIndex {
			return x.Parse(text)
		}
	}
	panic("blockfrost: a chain without the index of addresses") // New refuses it
}

// stakeAddress returns the stake address of a stored credential on this network.
func (s *server) stakeAddress(cred []byte) string {
	return address.FormatStakeCredential(s.addressNetwork(), cred)
}

// upTo reads a number from 0 to most.
func upTo(most uint64, fault error) func(*call, string) (string, error) {
	return func(_ *call, text string) (string, error) {
		n, err := strconv.ParseUint(text, 10, 64)
		if err != nil || n > most {
			return "", fault
		}
		return decimal(n), nil
	}
}

// hexOf reads hex digits of a number of bytes. The result has small letters.
func hexOf(least, most int, fault error) func(*call, string) (string, error) {
	return func(_ *call, text string) (string, error) {
		b, err := hex.DecodeString(text)
		if err != nil || len(b) < least || len(b) > most {
			return "", fault
		}
		return hex.EncodeToString(b), nil
	}
}

var assetID = hexOf(address.PolicySize, address.PolicySize+maxAssetName, errAsset)

// assetArg reads the id of an asset. The unspent outputs of an address can also be those with lovelace alone.
func assetArg(c *call, text string) (string, error) {
	if text == lovelace && c.arg("address") != "" {
		return text, nil
	}
	return assetID(c, text)
}

// credentialPrefixes are the forms of payment credentials that are accepted in place of an address.
var credentialPrefixes = []string{"addr_vkh1", "addr_vk1", "script1"}

func hasPrefix(text string, prefixes []string) bool {
	return slices.ContainsFunc(prefixes, func(p string) bool { return strings.HasPrefix(text, p) })
}

// addressArg reads an address or a payment credential.
func (c *call) addressArg(text string) (string, error) {
	if hasPrefix(text, credentialPrefixes) {
		if _, ok := address.KeyHash(text); !ok {
			return "", errAddress
		}
		return text, nil
	}
	raw, err := c.parseAddress(text)
	if err != nil || address.IsStake(raw) {
		return "", errAddress
	}
	return text, nil
}

// stakeArg reads a stake address, or a stake credential: a key, the hash of a key, or the hash of a script.
func (c *call) stakeArg(text string) (string, error) {
	if hasPrefix(text, []string{"stake_vkh1", "stake_vk1", "script1"}) {
		hash, ok := address.KeyHash(text)
		if !ok {
			return "", errStake
		}
		creds := address.Credentials(hash)
		if strings.HasPrefix(text, "script1") {
			return c.stakeAddress(creds[1]), nil
		}
		return c.stakeAddress(creds[0]), nil
	}
	raw, err := address.ParseAny(text)
	if err != nil || !address.IsStake(raw) || address.Format(c.addressNetwork(), raw) != text {
		return "", errStake
	}
	return text, nil
}

// blockArg reads the hash of a block or its number.
func blockArg(_ *call, text string) (string, error) {
	if _, ok := readHash(text); ok {
		return strings.ToLower(text), nil
	}
	if len(text) == 2*len(model.Hash{}) || !isInteger(text) {
		return "", errHash
	}
	return upTo(math.MaxInt32, errNumber)(nil, text)
}

// poolArg reads the id of a pool in bech32, or its hash in hex.
func poolArg(_ *call, text string) (string, error) {
	if raw, err := hex.DecodeString(text); err == nil && len(raw) == address.CredentialSize {
		return address.FormatPoolHash(raw), nil
	}
	if !address.IsPool(text) {
		return "", errPool
	}
	return text, nil
}

// drepArg reads the id of a DRep, or the name of a predefined one.
func drepArg(_ *call, text string) (string, error) {
	if _, predefined := predefinedDReps[text]; predefined {
		return text, nil
	}
	id, ok := address.ParseGovernance(address.DRep, text)
	if !ok {
		return "", bad("Invalid or malformed drep id.")
	}
	return id, nil
}

// committeeArg reads the hot or the cold credential of a member of the committee.
func committeeArg(_ *call, text string) (string, error) {
	for _, kind := range []string{address.CommitteeHot, address.CommitteeCold} {
		if cred, ok := address.GovernanceCredential(kind, text); ok && address.FormatGovernance(kind, cred) == text {
			return text, nil
		}
	}
	return "", bad("Invalid or malformed cc credential id.")
}

// actionArg reads the id of a governance action.
func actionArg(_ *call, text string) (string, error) {
	tx, index, ok := address.ParseAction(text)
	if !ok {
		return "", bad("Invalid or malformed gov action id.")
	}
	return address.FormatAction(tx, index), nil
}
