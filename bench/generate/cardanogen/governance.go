package cardanogen

import (
	"bytes"
	"cmp"
	"slices"
)

// The kinds of voters; scripts have the number after that of keys.
const (
	voterCommittee = 0
	voterDRep      = 2
	voterPool      = 4
)

// crowdedMembers is the number of members that a proposal adds to the committee with [Options.Crowded].
const crowdedMembers = 500

// voter votes on governance actions.
type voter struct {
	kind       uint64 // of voters, with scripts
	credential uint64
	hash       []byte
}

// order compares voters as the ledger does: by kind, scripts before keys.
func (v voter) order(w voter) int {
	return cmp.Or(cmp.Compare(v.kind/2, w.kind/2), -cmp.Compare(v.kind, w.kind), bytes.Compare(v.hash, w.hash))
}

// votes encodes votes on some of the governance actions; nil if nobody can vote.
func (c *Chain) votes() []byte {
	var all []voter
	for range 1 + c.rng.IntN(4) {
		var v voter
		var ok bool
		switch v.kind = 2 * c.rng.Uint64N(3); v.kind {
		case voterCommittee:
			v.credential, ok = c.anyOf(c.hot)
		case voterDRep:
			v.credential, ok = c.anyOf(c.dreps)
		case voterPool:
			v.credential, ok = c.anyOf(c.pools)
			v.hash = c.poolKey(v.credential)
		}
		if !ok {
			continue
		}
		if v.kind != voterPool {
			v.kind += kindOfCredential(v.credential)
			v.hash = c.hashOfCredential(v.credential)
			if !c.canSign(v.credential) {
				continue
			}
		}
		if !slices.ContainsFunc(all, func(has voter) bool { return has.order(v) == 0 }) {
			all = append(all, v)
		}
	}
	if len(all) == 0 || len(c.actions) == 0 {
		return nil
	}
	slices.SortFunc(all, voter.order)
	var pairs [][]byte
	for i, v := range all {
		if v.kind != voterPool && isScriptCredential(v.credential) {
			c.runs(v.credential, voting, i)
		}
		var votes [][]byte
		seen := map[action]bool{}
		for range 1 + c.rng.IntN(3) {
			on := c.actions[0]
			if !c.options.Crowded {
				on = c.actions[c.rng.IntN(len(c.actions))]
			}
			if !seen[on] {
				seen[on] = true
				votes = append(votes, c.actionID(on), c.list(c.number(c.rng.Uint64N(3)), c.anchorOrNull()))
			}
		}
		pairs = append(pairs, c.list(c.number(v.kind), byteString(v.hash)), c.dict(votes...))
	}
	if c.rng.Chance(0.3) && len(pairs) > 2 { // the order of a map's keys does not matter
		pairs = append(pairs[2:], pairs[:2]...)
	}
	return c.dict(pairs...)
}

func (c *Chain) actionID(a action) []byte { return c.list(byteString(a.tx[:]), c.number(a.index)) }

// previous encodes the action that one depends on.
func (c *Chain) previous() []byte {
	if len(c.actions) == 0 || c.rng.Chance(0.5) {
		return null
	}
	return c.actionID(c.actions[c.rng.IntN(len(c.actions))])
}

// guardrail encodes the script that checks a proposal, which it runs, or null.
func (c *Chain) guardrail(proposal int) []byte {
	number := guardNumbers + c.rng.Uint64N(20)
	if c.rng.Chance(0.5) || !c.usable(number) {
		return null
	}
	c.runs(number, proposing, proposal)
	return byteString(c.script(number).hash())
}

// proposal encodes a proposal of every kind; nil if no account is registered to which the deposit can return.
func (c *Chain) proposal(i int) []byte {
	account, ok := c.anyOf(c.accounts)
	if !ok {
		return nil
	}
	kind := c.rng.IntN(7)
	head := c.number(uint64(kind))
	var what []byte
	switch kind {
	case 0:
		what = c.list(head, c.previous(), c.update(), c.guardrail(i))
	case 1:
		what = c.list(head, c.previous(), c.list(c.number(10+c.rng.Uint64N(3)), c.number(c.rng.Uint64N(2))))
	case 2:
		payments := [][]byte{byteString(c.account(account)), c.number(1 + c.rng.Uint64N(1e12))}
		if other, _ := c.anyOf(c.accounts); other != account {
			payments = append(payments, byteString(c.account(other)), c.number(1+c.rng.Uint64N(1e12)))
		}
		what = c.list(head, c.dict(payments...), c.guardrail(i))
	case 3:
		what = c.list(head, c.previous())
	case 4:
		cold, added := coldNumbers+c.rng.Uint64N(7), uint64(1)
		if c.options.Crowded {
			added = crowdedMembers
		}
		var members [][]byte
		for i := range added {
			members = append(members, c.cred(cold+1+i), c.number(c.epoch()+100))
		}
		what = c.list(head, c.previous(), c.set(c.cred(cold)), c.dict(members...), c.fraction(2, 3))
	case 5:
		script := null
		if c.rng.Chance(0.5) {
			script = byteString(c.script(guardNumbers).hash())
		}
		what = c.list(head, c.previous(), c.list(c.anchor(), script))
	case 6:
		what = c.list(head)
	}
	c.parts.cost += actionDeposit
	return c.list(c.number(actionDeposit), byteString(c.account(account)), what, c.anchor())
}

// update encodes changes of protocol parameters.
func (c *Chain) update() []byte {
	fractions := func(n int) []byte {
		var all [][]byte
		for range n {
			all = append(all, c.fraction(51+c.rng.Uint64N(49), 100))
		}
		return c.list(all...)
	}
	units := c.list(c.number(14_000_000), c.number(10_000_000_000))
	values := map[uint64][]byte{
		0: c.number(44), 1: c.number(155_381), 2: c.number(90_112), 3: c.number(16_384), 5: c.number(2_000_000), 7: c.number(18), 8: c.number(500),
		9: c.fraction(3, 10), 16: c.number(170_000_000), 17: c.number(4310), 18: c.dict(c.number(0), c.list([]byte{0x20}, c.number(2))),
		19: c.list(c.fraction(577, 10_000), c.fraction(721, 10_000_000)), 20: units, 21: units, 22: c.number(5000), 25: fractions(5),
		26: fractions(10), 27: c.number(7), 32: c.number(20), 33: c.fraction(15, 1),
	}
	var pairs [][]byte
	for key := range uint64(34) {
		if v, ok := values[key]; ok && (c.rng.Chance(0.2) || key == 33 && len(pairs) == 0) {
			pairs = append(pairs, c.number(key), v)
		}
	}
	return c.dict(pairs...)
}
