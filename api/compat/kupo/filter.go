package kupo

import (
	"net/url"
	"strconv"
	"strings"

	"birthmark/chains/cardano/address"
	"birthmark/model"
)

// filter restricts the matches of a pattern.
type filter struct {
	spent, unspent bool // flags that exclude each other
	created, spend bounds
	policy, asset  []byte // in the output; asset is an id
	tx             *model.Hash
	index          *uint32 // of the output in tx

	resolve     bool // datums and scripts are in the matches
	oldestFirst bool
}

// bounds are the slots of a range, both included; nil: no bound.
type bounds struct{ from, to *slotOrPoint }

func (b bounds) empty() bool { return b.from == nil && b.to == nil }

// slotOrPoint is a bound of a range. With a hash, the chain must have the block at the slot.
type slotOrPoint struct {
	slot uint64
	hash *model.Hash
}

// parameter is a parameter of a query. A flag has no value, not even an empty one.
type parameter struct {
	name, value string
	flag        bool
}

// parameters returns the parameters of the query of a URL, in order. Malformed ones are left out.
func parameters(query string) (all []parameter) {
	for part := range strings.SplitSeq(query, "&") {
		name, value, hasValue := strings.Cut(part, "=")
		name, err := url.QueryUnescape(name)
		if err == nil {
			value, err = url.QueryUnescape(value)
		}
		if err == nil && name != "" {
			all = append(all, parameter{name, value, !hasValue})
		}
	}
	return all
}

// readFilter parses the parameters of matches. Parameters with other names are ignored.
func readFilter(query string) (f filter, err error) {
	var policy, asset, tx, index, order *parameter
	lower, upper := 0, 0
	once := func(to **parameter, p *parameter, fault error) {
		if *to != nil || p.flag {
			err = fault
		}
		*to = p
	}
	for _, p := range parameters(query) {
		switch p.name {
		case "spent", "unspent":
			if !p.flag || f.spent || f.unspent {
				return f, errStatus
			}
			f.spent, f.unspent = p.name == "spent", p.name == "unspent"
		case "created_after", "created_before", "spent_after", "spent_before":
			at, ok := readSlotOrPoint(p.value)
			if !ok {
				return f, errRange
			}
			field, isUpper := &f.created, strings.HasSuffix(p.name, "before")
			if strings.HasPrefix(p.name, "spent") {
				field = &f.spend
			}
			if isUpper {
				field.to = at
				upper++
			} else {
				field.from = at
				lower++
			}
		case "policy_id":
			once(&policy, &p, errFilter)
		case "asset_name":
			once(&asset, &p, errFilter)
		case "transaction_id":
			once(&tx, &p, errFilter)
		case "output_index":
			once(&index, &p, errFilter)
		case "order":
			once(&order, &p, errOrder)
		case "resolve_hashes":
			if f.resolve = true; !p.flag {
				return f, errResolve
			}
		}
		if err != nil {
			return f, err
		}
	}
	if lower > 1 || upper > 1 {
		return f, errRange
	}
	if order != nil {
		if f.oldestFirst = order.value == "oldest_first"; !f.oldestFirst && order.value != "most_recent_first" {
			return f, errOrder
		}
	}
	return f, f.setParts(policy, asset, tx, index)
}

// setParts parses the parameters that select by a part of an output.
func (f *filter) setParts(policy, asset, tx, index *parameter) error {
	if policy != nil && tx != nil || asset != nil && policy == nil || index != nil && tx == nil {
		return errFilter
	}
	ok := true
	if policy != nil {
		if f.policy, ok = readHex(policy.value, address.PolicySize); ok && asset != nil {
			f.asset, ok = assetID(f.policy, asset.value)
			f.policy = nil
		}
	}
	if ok && tx != nil {
		if f.tx, ok = readHash(tx.value); ok && index != nil {
			f.index, ok = readIndex(index.value)
		}
	}
	if !ok {
		return errFilter
	}
	return nil
}

// readSlotOrPoint parses a slot, SLOT.HASH, or origin.
func readSlotOrPoint(text string) (*slotOrPoint, bool) {
	if strings.EqualFold(text, "origin") {
		return &slotOrPoint{}, true
	}
	number, hash, hasHash := strings.Cut(text, ".")
	slot, ok := readSlot(number)
	if !ok || !hasHash {
		return &slotOrPoint{slot: slot}, ok
	}
	h, ok := readHash(hash)
	return &slotOrPoint{slot, h}, ok
}

func readSlot(text string) (uint64, bool) {
	n, err := strconv.ParseUint(text, 10, 63)
	return n, err == nil
}
