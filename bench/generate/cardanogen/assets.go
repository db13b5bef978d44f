package cardanogen

import (
	"bytes"
	"cmp"
	"slices"
	"strconv"

	"birthmark/bench/generate/distribution"
	"birthmark/bench/generate/skeleton"
	"birthmark/chains/cardano/cbor"
)

const (
	policySize = 28

	hotAsset  = 0 // held by more outputs than any other asset
	hotMints  = 0.1
	hotSupply = 1e15
)

// universe is all policies and assets.
type universe struct {
	policies [][policySize]byte
	assets   []asset

	policyScripts []uint64 // the numbers of their scripts; none without [Options.AllParts]
}

type asset struct {
	policy    uint32
	name      string
	divisible bool
}

// clone returns an independent copy.
func (u universe) clone() universe {
	return universe{slices.Clip(u.policies), slices.Clip(u.assets), slices.Clip(u.policyScripts)}
}

// Assets are identified by their numbers.
type (
	held     = skeleton.Holding[uint32]
	holdings = skeleton.Holdings[uint32]
)

// change is the amount of an asset that a transaction mints or burns.
type change struct {
	asset  uint32
	amount int64
}

// compare orders assets as wallets write them: by policy, then shorter names first.
func (u *universe) compare(a, b uint32) int {
	if a == b {
		return 0
	}
	x, y := &u.assets[a], &u.assets[b]
	if x.policy != y.policy {
		return bytes.Compare(u.policies[x.policy][:], u.policies[y.policy][:])
	}
	return cmp.Or(cmp.Compare(len(x.name), len(y.name)), cmp.Compare(x.name, y.name))
}

func (u *universe) order(a, b held) int { return u.compare(a.Asset, b.Asset) }

// newAsset adds an asset of a policy; its name contains its number, so no two are equal.
func (c *Chain) newAsset(policy uint32, divisible bool) uint32 {
	n := len(c.universe.assets)
	name := make([]byte, 0, 32)
	switch c.rng.IntN(8) {
	case 0, 1: // the CIP-68 label of a user token
		name = append(name, 0x00, 0x0d, 0xe1, 0x40)
	case 2: // a hash
		name = c.rng.Filler(name, 20)
	}
	for range 2 + c.rng.IntN(8) {
		name = append(name, byte('A'+c.rng.IntN(26)))
	}
	name = strconv.AppendInt(name, int64(n), 36)
	c.universe.assets = append(c.universe.assets, asset{policy, string(name[:min(len(name), 32)]), divisible})
	return uint32(n)
}

func (c *Chain) newPolicy() uint32 {
	var p [policySize]byte
	if c.options.AllParts {
		number := uint64(policyNumbers + len(c.policies))
		for ; !c.usable(number); number += policyNumbers {
		}
		copy(p[:], c.script(number).hash())
		c.policyScripts = append(c.policyScripts, number)
	} else {
		distribution.Fill(p[:], c.rng.Uint64())
	}
	c.policies = append(c.policies, p)
	return uint32(len(c.policies) - 1)
}

// policy chooses the policy of a new asset.
func (c *Chain) policy() uint32 {
	if len(c.policies) < 2 || c.rng.Chance(policyShare) {
		return c.newPolicy()
	}
	return 1 + c.rng.Uint32N(uint32(len(c.policies)-1)) // the hot asset has its own policy
}

// mint decides what the transaction mints or burns: more if outputs hold fewer assets than they should.
func (c *Chain) mint() {
	c.minted = c.minted[:0]
	few, many := c.entries < 0.8*entriesPerOutput, c.entries > 1.1*entriesPerOutput
	switch {
	case len(c.universe.assets) == 0:
		c.mintSome(c.newAsset(c.newPolicy(), true), hotSupply)
	case few && c.rng.Chance(endowShare):
		c.mintNew(heldCounts.Draw(c.rng))
	case !many && c.rng.Chance(mintShare):
		switch n := uint32(len(c.universe.assets)); {
		case c.rng.Chance(hotMints):
			c.mintSome(hotAsset, 1+c.rng.Int64N(1e9))
		case c.rng.Chance(0.3) && c.divisible(n-1):
			c.mintSome(n-1, 1+c.rng.Int64N(1e6))
		default:
			c.mintNew(newCounts.Draw(c.rng))
		}
	case len(c.bag) > 0 && many:
		c.burn(1 + c.rng.IntN(min(len(c.bag), 20)))
	case len(c.bag) > 0 && c.rng.Chance(burnShare):
		c.burn(1)
	}
	slices.SortFunc(c.minted, func(a, b change) int { return c.compare(a.asset, b.asset) })
}

func (c *Chain) divisible(asset uint32) bool { return c.universe.assets[asset].divisible }

// mintNew mints new assets.
func (c *Chain) mintNew(n int) {
	policy := c.policy()
	for range n {
		divisible, amount := c.rng.Chance(0.5), int64(1)
		if divisible {
			amount = 1 + c.rng.Int64N(1<<(10+c.rng.IntN(40)))
		}
		c.mintSome(c.newAsset(policy, divisible), amount)
	}
}

func (c *Chain) mintSome(asset uint32, amount int64) {
	c.minted = append(c.minted, change{asset, amount})
	c.bag.Give(held{Asset: asset, Amount: uint64(amount)})
}

// burn burns some of the inputs' assets, each in part or completely.
func (c *Chain) burn(n int) {
	for range n {
		i := c.rng.IntN(len(c.bag))
		amount := c.bag[i].Amount
		if part := c.rng.Share(amount); part < amount && c.rng.Chance(0.3) {
			amount = part
		}
		if amount > 1<<62 || slices.ContainsFunc(c.minted, func(m change) bool { return m.asset == c.bag[i].Asset }) {
			continue
		}
		c.minted = append(c.minted, change{c.bag[i].Asset, -int64(amount)})
		c.bag.Take(i, amount)
		if len(c.bag) == 0 {
			return
		}
	}
}

// gather puts the inputs' assets into the bag, each asset once.
func (c *Chain) gather() {
	c.bag = c.bag[:0]
	for i := range c.spent {
		c.bag = append(c.bag, c.spent[i].assets...)
	}
	c.bag.Merge(c.order)
}

// deal distributes the bag to the outputs: parts to some, the rest to the last.
func (c *Chain) deal() {
	outs := c.payments
	last := len(outs) - 1
	for j := range outs[:last] {
		if len(c.bag) > 0 && c.rng.Chance(sharedBag) {
			c.bag.Part(c.rng, parts, &outs[j].assets)
		}
	}
	rest := c.bag
	some := func(j, n int) { // no output exceeds the maximum
		n = min(n, mostEntries-len(outs[j].assets))
		outs[j].assets.Give(rest[:n]...)
		rest = rest[n:]
	}
	if last > 0 && len(rest) > 20 && c.rng.Chance(splitBag) {
		some(last-1, len(rest)/2)
	}
	for j := last; j >= 0; j-- {
		some(j, len(rest))
	}
	for _, h := range rest {
		c.burnRest(h)
	}
	for j := range outs {
		slices.SortFunc(outs[j].assets, c.order)
	}
}

// parts are the shares of the inputs' assets that outputs get.
var parts = skeleton.Parts[uint32]{Counts: partCounts, Hot: hotAsset, First: hotPart, Split: splitEntry}

// burnRest burns what no output can hold.
func (c *Chain) burnRest(h held) {
	i := slices.IndexFunc(c.minted, func(m change) bool { return m.asset == h.Asset })
	if i < 0 {
		c.minted = append(c.minted, change{asset: h.Asset})
		i = len(c.minted) - 1
	}
	c.minted[i].amount -= int64(h.Amount)
	if c.minted[i].amount == 0 {
		c.minted = slices.Delete(c.minted, i, i+1)
	}
	slices.SortFunc(c.minted, func(a, b change) int { return c.compare(a.asset, b.asset) })
}

// appendMultiAsset appends the map of policies to maps of names to amounts. The n entries are in the order of the map.
func (c *Chain) appendMultiAsset(b []byte, n int, entry func(i int) (asset uint32, amount int64)) []byte {
	policyOf := func(i int) uint32 {
		asset, _ := entry(i)
		return c.universe.assets[asset].policy
	}
	policies := 0
	for i := range n {
		if i == 0 || policyOf(i) != policyOf(i-1) {
			policies++
		}
	}
	b = cbor.AppendHead(b, cbor.Map, uint64(policies))
	for i := 0; i < n; {
		policy, end := policyOf(i), i+1
		for end < n && policyOf(end) == policy {
			end++
		}
		b = cbor.AppendBytes(b, c.policies[policy][:])
		b = cbor.AppendHead(b, cbor.Map, uint64(end-i))
		for ; i < end; i++ {
			number, amount := entry(i)
			name := c.universe.assets[number].name
			b = append(cbor.AppendHead(b, cbor.Bytes, uint64(len(name))), name...)
			b = cbor.AppendInt(b, amount)
		}
	}
	return b
}

// HotAsset returns the id (policy and name) of the asset that the most outputs hold; nil before the first transaction.
func (c *Chain) HotAsset() []byte {
	if len(c.universe.assets) == 0 {
		return nil
	}
	a := &c.universe.assets[hotAsset]
	return append(bytes.Clone(c.policies[a.policy][:]), a.name...)
}
