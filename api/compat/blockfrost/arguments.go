package blockfrost

import (
	"encoding/hex"
	"math"
	"slices"
	"strconv"
	"strings"

	"birthmark/api/compat/blockfrost/exchange"
	"birthmark/chains/cardano/address"
	"birthmark/chains/cardano/hdkey"
	"birthmark/model"
)

// argument reads a variable part of a path. It returns the form that endpoints expect, or the fault of a malformed one.
type argument struct {
	integer bool // Blockfrost checks integers before the parameters of the query, and the form of others after them
	read    func(q *request, text string) (string, error)
}

// arguments are the variable parts of paths that have a form. An unknown one of another name, such as a hash of a
// transaction, is not found.
var arguments = map[string]argument{
	"stake_address": {read: stakeAddress},
	"address":       {read: anyAddress},
	"pool_id":       {read: only(exchange.ReadPool)},
	"asset":         {read: asset},
	"policy_id":     {read: hexOf(address.PolicySize, address.PolicySize, exchange.ErrPolicy)},
	"block":         {read: blockRef},
	"label":         {read: upTo(math.MaxInt64, exchange.ErrLabel)},
	"drep_id":       {read: only(exchange.ReadDRep)},
	"cc_id":         {read: only(exchange.ReadCommitteeMember)},
	"gov_action_id": {read: only(exchange.ReadAction)},
	"xpub":          {read: hexOf(hdkey.Size, hdkey.Size, exchange.ErrXpub)},
	"slot_number":   {true, upTo(math.MaxInt32, exchange.ErrSlot)},
	"epoch_number":  {true, upTo(math.MaxInt32, exchange.ErrEpoch)},
	"number":        {true, upTo(math.MaxInt32, exchange.ErrEpoch)},
	"cert_index":    {true, upTo(math.MaxInt64, exchange.ErrNotFound)},
	"role":          {true, upTo(math.MaxInt32, exchange.Bad("Missing, out of range or malformed role."))},
	"index":         {true, upTo(math.MaxInt32, exchange.Bad("Missing, out of range or malformed index."))},
}

// read checks all of a request before anything is looked up, in the order of Blockfrost: the integers of the path, the
// parameters of the query, the other parts of the path.
func (q *request) read(rt *route, args []string) error {
	for i, name := range rt.variables {
		if arguments[name].integer && !exchange.IsInteger(args[i]) {
			return exchange.Bad("params/" + name + " must be integer")
		}
	}
	if q.Page = (exchange.Paging{Count: exchange.MaxCount, Page: 1}); rt.takes != nil {
		if err := rt.takes(q.Request); err != nil {
			return err
		}
	}
	q.Args = slices.Clone(args)
	for i, name := range rt.variables {
		if a := arguments[name]; a.read != nil {
			var err error
			if q.Args[i], err = a.read(q, args[i]); err != nil {
				return err
			}
		}
	}
	return nil
}

// only reads a text whose form does not depend on the request.
func only(read func(text string) (string, error)) func(*request, string) (string, error) {
	return func(_ *request, text string) (string, error) { return read(text) }
}

// upTo reads a number from 0 to most.
func upTo(most uint64, fault error) func(*request, string) (string, error) {
	return func(_ *request, text string) (string, error) {
		n, err := strconv.ParseUint(text, 10, 64)
		if err != nil || n > most {
			return "", fault
		}
		return exchange.Decimal(n), nil
	}
}

// hexOf reads hex digits of a number of bytes. The result has small letters.
func hexOf(least, most int, fault error) func(*request, string) (string, error) {
	return func(_ *request, text string) (string, error) {
		b, err := hex.DecodeString(text)
		if err != nil || len(b) < least || len(b) > most {
			return "", fault
		}
		return hex.EncodeToString(b), nil
	}
}

var assetID = hexOf(address.PolicySize, address.PolicySize+maxAssetName, exchange.ErrAsset)

// asset reads the id of an asset. The unspent outputs of an address can also be those with lovelace alone.
func asset(q *request, text string) (string, error) {
	if text == lovelace && len(q.Args) == 2 {
		return text, nil
	}
	return assetID(q, text)
}

// credentialPrefixes are the forms of payment credentials that are accepted in place of an address.
var credentialPrefixes = []string{"addr_vkh1", "addr_vk1", "script1"}

func hasPrefix(text string, prefixes []string) bool {
	return slices.ContainsFunc(prefixes, func(p string) bool { return strings.HasPrefix(text, p) })
}

// anyAddress reads an address or a payment credential.
func anyAddress(q *request, text string) (string, error) {
	if hasPrefix(text, credentialPrefixes) {
		if _, ok := address.KeyHash(text); !ok {
			return "", exchange.ErrAddress
		}
		return text, nil
	}
	raw, err := q.ParseAddress(text)
	if err != nil || address.IsStake(raw) {
		return "", exchange.ErrAddress
	}
	return text, nil
}

// stakeAddress reads a stake address, or a stake credential: a key, the hash of a key, or the hash of a script.
func stakeAddress(q *request, text string) (string, error) {
	if hasPrefix(text, []string{"stake_vkh1", "stake_vk1", "script1"}) {
		hash, ok := address.KeyHash(text)
		if !ok {
			return "", exchange.ErrStake
		}
		creds := address.Credentials(hash)
		if strings.HasPrefix(text, "script1") {
			return q.StakeAddress(creds[1]), nil
		}
		return q.StakeAddress(creds[0]), nil
	}
	raw, err := address.ParseAny(text)
	if err != nil || !address.IsStake(raw) || address.Format(q.NetworkName(), raw) != text {
		return "", exchange.ErrStake
	}
	return text, nil
}

// blockRef reads the hash of a block or its number.
func blockRef(_ *request, text string) (string, error) {
	if _, ok := exchange.ReadHash(text); ok {
		return strings.ToLower(text), nil
	}
	if len(text) == 2*len(model.Hash{}) || !exchange.IsInteger(text) {
		return "", exchange.ErrHash
	}
	return upTo(math.MaxInt32, exchange.ErrNumber)(nil, text)
}
