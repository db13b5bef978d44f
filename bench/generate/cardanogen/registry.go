package cardanogen

import (
	"maps"
	"slices"

	"birthmark/bench/generate/distribution"
	"birthmark/chains/cardano/address"
)

// Deposits in lovelace.
const (
	accountDeposit = 2_000_000
	poolDeposit    = 500_000_000
	drepDeposit    = 500_000_000
	actionDeposit  = 1_000_000_000
)

// First numbers of credentials. Those of scripts are numbers of scripts, too.
const (
	drepNumbers  = 1 << 44
	coldNumbers  = 1 << 45
	hotNumbers   = 1 << 46
	guardNumbers = 1 << 47
)

// registry is what certificates and proposals have made.
type registry struct {
	accounts []uint64 // stake credentials that are registered
	pools    []uint64 // numbers of issuers
	dreps    []uint64
	hot      []uint64 // credentials that vote for members of the committee
	colds    []uint64 // that authorized them
	actions  []action
	newDReps uint64 // so far
}

// action is a governance action.
type action struct {
	tx    [32]byte
	index uint64
}

func (r *registry) clone() registry {
	return registry{slices.Clone(r.accounts), slices.Clone(r.pools), slices.Clone(r.dreps), slices.Clone(r.hot), slices.Clone(r.colds),
		slices.Clone(r.actions), r.newDReps}
}

// references are the outputs with a script, which stay unspent.
type references map[uint64]coin

func (r references) clone() references { return maps.Clone(r) }

// isScriptCredential reports whether a credential of governance or staking is a script: one in four.
func isScriptCredential(number uint64) bool { return distribution.Mix(number)%4 == 0 }

// hashOfCredential returns the hash of a credential by its number.
func (c *Chain) hashOfCredential(number uint64) []byte {
	if isScriptCredential(number) {
		return c.script(number).hash()
	}
	return c.credential(nil, number)
}

// cred encodes a credential: its kind, 0 for a key, and its hash.
func (c *Chain) cred(number uint64) []byte {
	return c.list(c.number(kindOfCredential(number)), byteString(c.hashOfCredential(number)))
}

func kindOfCredential(number uint64) uint64 {
	if isScriptCredential(number) {
		return 1
	}
	return 0
}

// canSign reports whether a credential can sign in this era.
func (c *Chain) canSign(number uint64) bool { return !isScriptCredential(number) || c.usable(number) }

// account returns the bytes of the reward account of a stake credential.
func (c *Chain) account(number uint64) []byte {
	return append([]byte{0xe0 | byte(kindOfCredential(number))<<4}, c.hashOfCredential(number)...)
}

// poolKey returns the hash of the key of a pool, which also makes blocks.
func (c *Chain) poolKey(issuer uint64) []byte {
	var key [32]byte
	distribution.Fill(key[:], c.names+2*issuer)
	return address.Hash224(key[:])
}

func (c *Chain) anyOf(all []uint64) (number uint64, ok bool) {
	if len(all) == 0 {
		return 0, false
	}
	return all[c.rng.IntN(len(all))], true
}

// without removes a number.
func without(all []uint64, n uint64) []uint64 {
	return slices.DeleteFunc(all, func(has uint64) bool { return has == n })
}

// anchor encodes a document: its address and hash.
func (c *Chain) anchor() []byte {
	urls := []string{"https://example.org/a.json", "ipfs://bafybeigdyrzt5sfp7udm7hu76uh7y26nf3efuylqabf3oclgtqy55fbzdi", "", "ü€𝄞"}
	return c.list(text(urls[c.rng.IntN(len(urls))]), c.fillerBytes(nil, 32))
}

func (c *Chain) anchorOrNull() []byte {
	if c.rng.Chance(0.5) {
		return null
	}
	return c.anchor()
}

// stakeNumber returns the number of the stake credential of an address.
func stakeNumber(addr uint32) uint64 { return stakeNumbers + stakeOf(addr) }

// appendPointer appends a pointer to a certificate, as addresses could have before Conway.
func appendPointer(b []byte, number uint64) []byte {
	for _, n := range []uint64{number % 90_000, number % 130, number % 3} {
		var digits []byte
		for digits = []byte{byte(n & 0x7f)}; n > 0x7f; {
			n >>= 7
			digits = append(digits, byte(n&0x7f)|0x80)
		}
		slices.Reverse(digits)
		b = append(b, digits...)
	}
	return b
}
