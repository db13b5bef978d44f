package ergogen

import (
	"encoding/hex"
	"math/big"
	"slices"

	"birthmark/bench/generate/distribution"
	"birthmark/chains/ergo/sigma"
)

// Scripts that every chain has.
var (
	emissionTree = unhex("101004020e36100204a00b08cd0279be667ef9dcbbac55a06295ce870b07029bfcdb2dce28d959f2815b16f81798ea02d192a39a8cc7a7017300730110010204020404040004c0fd4f05808c82f5f6030580b8c9e5ae040580f882ad16040204c0944004c0f407040004000580f882ad16d19683030191a38cc7a7019683020193c2b2a57300007473017302830108cdeeac93a38cc7b2a573030001978302019683040193b1a5730493c2a7c2b2a573050093958fa3730673079973089c73097e9a730a9d99a3730b730c0599c1a7c1b2a5730d00938cc7b2a5730e0001a390c1a7730f")
	feeTree      = unhex("1005040004000e36100204a00b08cd0279be667ef9dcbbac55a06295ce870b07029bfcdb2dce28d959f2815b16f81798ea02d192a39a8cc7a701730073011001020402d19683030193a38cc7b2a57300000193c2b2a57301007473027303830108cdeeac93b1a57304")

	// The script of miners' rewards: the miner's key is between the two parts; 720 blocks have to pass.
	rewardHead = unhex("100204a00b08cd")
	rewardTail = unhex("ea02d192a39a8cc7a70173007301")
)

func unhex(text string) []byte {
	b, err := hex.DecodeString(text)
	if err != nil {
		panic(err)
	}
	return b
}

// scripts are the trees so far, by number: the count of trees before each. Those of the head exist from the beginning,
// the hot one first.
type scripts struct {
	names  uint64 // number from which the next key or contract is made
	trees  [][]byte
	owners []key // of contracts, which are few
	odd    [][]byte
}

// key is a compressed public key.
type key = [sigma.PointSize]byte

const ownerCount = 200

func newScripts(seed uint64, odd [][]byte) scripts {
	s := scripts{names: distribution.Mix(seed), odd: odd}
	for i := range ownerCount {
		s.owners = append(s.owners, publicKey(s.names+uint64(i)))
	}
	return s
}

// owner returns an owner key of contracts.
func (s *scripts) owner(r distribution.Random) []byte { return s.owners[r.IntN(ownerCount)][:] }

// clone returns an independent copy. The trees themselves are immutable.
func (s *scripts) clone() scripts { return scripts{s.names, slices.Clone(s.trees), s.owners, s.odd} }

// tree returns the script of a number, made at its first use.
func (s *scripts) tree(number uint32) []byte {
	if number >= uint32(len(s.trees)) || s.trees[number] == nil {
		s.set(number, s.make(number))
	}
	return s.trees[number]
}

func (s *scripts) set(number uint32, tree []byte) {
	if missing := int(number) + 1 - len(s.trees); missing > 0 {
		s.trees = append(s.trees, make([][]byte, missing)...)
	}
	s.trees[number] = tree
}

// unusualTrees is the share of scripts that are one of [Options.Trees].
const unusualTrees = 0.15

func (s *scripts) make(number uint32) []byte {
	r := distribution.NewRandom(s.names, uint64(number))
	u := r.Float64()
	if len(s.odd) > 0 && number != hotScript && r.Chance(unusualTrees) {
		return s.odd[r.IntN(len(s.odd))]
	}
	switch {
	case number == hotScript:
		u = keyShare
	case u < scriptHashShare:
		var hash [sigma.ScriptHashSize]byte
		distribution.Fill(hash[:], r.Uint64())
		return sigma.ScriptHashTree(hash)
	case u < scriptHashShare+brokenShare:
		// An unknown version with a size, so that a node accepts a tree that it cannot parse.
		return r.Filler([]byte{0x0f, 20}, 20)
	}
	if u < scriptHashShare+brokenShare+keyShare && number != hotScript {
		return sigma.PublicKeyTree(publicKey(s.names ^ uint64(number)<<32))
	}
	return s.contract(r)
}

// Operations of contracts (OpCodes of sigmastate).
const (
	opPlaceholder = 0x73
	opGreater     = 0x91
	opHeight      = 0xa3
	opBoolToSigma = 0xd1
	opSigmaAnd    = 0xea
	opSigmaOr     = 0xeb
	typeInt       = 0x04
	typeLong      = 0x05
	typeGroup     = 0x07
	typeSigmaProp = 0x08
	typeBytes     = 0x0e
	typeLongs     = 0x11
	typeTwoLongs  = 0x59
	proveDlog     = 0xcd
	segregated    = 0x10
)

// contract makes a tree of conditions (signing keys and minimum heights) with segregated constants.
func (s *scripts) contract(r distribution.Random) []byte {
	var constants []byte
	count := 0
	body := s.condition(r, nil, 3, func(constant []byte) byte {
		constants = append(constants, constant...)
		count++
		return byte(count - 1)
	})
	tree := append([]byte{segregated, byte(count)}, constants...)
	return append(tree, body...)
}

// condition appends one condition, with others nested to at most the given depth.
func (s *scripts) condition(r distribution.Random, b []byte, depth int, constant func([]byte) byte) []byte {
	switch n := r.IntN(10); {
	case n < 6 && depth > 0:
		op, legs := byte(opSigmaAnd), 2+r.IntN(2)
		if n < 2 {
			op = opSigmaOr
		}
		b = append(b, op, byte(legs))
		for range legs {
			b = s.condition(r, b, depth-1, constant)
		}
		return b
	case n < 8:
		height := appendInt([]byte{typeInt}, r.Int32N(2_000_000))
		return append(b, opBoolToSigma, opGreater, opHeight, opPlaceholder, constant(height))
	}
	return append(b, opPlaceholder, constant(append([]byte{typeSigmaProp, proveDlog}, s.owner(r)...)))
}

var (
	fieldPrime = new(big.Int).Sub(new(big.Int).Lsh(big.NewInt(1), 256), big.NewInt(1<<32+977))
	seven      = big.NewInt(7)
)

// publicKey returns a compressed point of secp256k1 whose secret is unknown.
func publicKey(number uint64) (k key) {
	var x, y big.Int
	for {
		number = distribution.Mix(number)
		distribution.Fill(k[1:], number)
		x.SetBytes(k[1:])
		if x.Cmp(fieldPrime) >= 0 {
			continue
		}
		y.Mul(&x, &x)
		y.Mod(&y, fieldPrime)
		y.Mul(&y, &x)
		y.Add(&y, seven)
		y.Mod(&y, fieldPrime)
		if big.Jacobi(&y, fieldPrime) >= 0 {
			k[0] = 2 + byte(number&1)
			return k
		}
	}
}

const hotScript = 0

// recipient draws the script of a box.
func (c *Chain) recipient() uint32 {
	u := c.rng.Float64()
	for _, to := range []struct {
		share float64
		pick  func() uint32
	}{
		{hotShare, func() uint32 { return hotScript }},
		{headShare, func() uint32 { return uint32(1 + mostUsed.Draw(c.rng)) }},
		{freshShare, c.fresh},
		{changeShare, func() uint32 {
			if len(c.spent) == 0 {
				return c.fresh()
			}
			return c.spent[c.rng.IntN(len(c.spent))].script
		}},
	} {
		if u < to.share {
			return to.pick()
		}
		u -= to.share
	}
	return c.rng.Uint32N(c.births)
}

func (c *Chain) fresh() uint32 {
	c.births++
	return c.births - 1
}
