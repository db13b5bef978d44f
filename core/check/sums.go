package check

import (
	"cmp"
	"hash/maphash"
	"maps"
	"slices"

	"birthmark/core/schema"
	"birthmark/storage"
)

// Balances, holdings and totals are stored redundantly: they can be derived from the transactions, and separate
// families store them. A sum check compares both sides without memory for each number: it multiplies every number by a
// random coefficient and sums the products modulo 2^61-1, one side added and the other subtracted. If the sum is 0, the
// numbers are equal, with an error probability of 2^-61.
//
// The first pass has one set of sums for each of some groups of assets or values. If some are not 0, a second pass has
// one for each asset or value of these groups and so finds the ones that differ.

const (
	// A group has rowsPerGroup rows of the database, or more if there are maxSumGroups.
	rowsPerGroup = 64
	maxSumGroups = 4096
	// maxBadGroups bounds the memory of the second pass.
	maxBadGroups = 16
)

// The sums of an asset.
const (
	sumSupply = iota // minted minus burned minus held
	sumHoldings
	sumHolders
	sumOutputs
	sumUnspent
	sumMinted
	sumBurned
	sumMints
	sumBurns
	sumCount
)

// The sums of a value of an index.
const (
	sumBalance = iota
	sumHeld
	sumUnspentOutputs
	sumHistory
)

// sums are the differences between both sides of the numbers of a group, an asset or a value.
type sums [sumCount]mod61

func (s *sums) add(sum int, n mod61) { s[sum] = s[sum].plus(n) }

func (s *sums) subtract(sum int, n mod61) { s[sum] = s[sum].minus(n) }

// sumProblem is the family and the text of the problem that a sum other than 0 is.
type sumProblem struct {
	family storage.Family
	text   string
}

func (c *checker) sumProblems(space int) []sumProblem {
	if space == schema.AssetSpace {
		return []sumProblem{
			sumSupply:   {schema.FamilyAssetID, "minted less burned differs from what is held"},
			sumHoldings: {schema.FamilyHoldings, "the holdings differ from what the unspent outputs of the holders hold"},
			sumHolders:  {schema.FamilyAssetTotals, "holders differs from the number of holdings"},
			sumOutputs:  {schema.FamilyAssetTotals, "outputs differs from the number of outputs that hold it"},
			sumUnspent:  {schema.FamilyAssetTotals, "unspent differs from the number of unspent outputs that hold it"},
			sumMinted:   {schema.FamilyAssetTotals, "minted differs from the supply"},
			sumBurned:   {schema.FamilyAssetTotals, "burned differs from the supply"},
			sumMints:    {schema.FamilyAssetTotals, "mints differs from the supply"},
			sumBurns:    {schema.FamilyAssetTotals, "burns differs from the supply"},
		}
	}
	x := c.ByNumber(uint64(space))
	return []sumProblem{
		sumBalance:        {x.Family(schema.IndexBalance), "differs from the sums of the value's transactions"},
		sumHeld:           {x.Family(schema.IndexHeld), "differs from the assets in the value's unspent outputs"},
		sumUnspentOutputs: {x.Family(schema.IndexUnspent), "differs from the outputs of the value that no input spends"},
		sumHistory:        {x.Family(schema.IndexHistory), "differs from the transactions of the value"},
	}
}

// subject is an asset or a value of an index: its space and its encoded birth.
type subject struct {
	space int
	birth string
}

type sumGroup struct {
	space int
	group uint64
}

type sumCheck struct {
	*checker
	indexes  []*schema.Index // with account features
	seed     maphash.Seed
	groups   map[int][]sums    // by space; of the first pass
	bad      map[sumGroup]bool // groups whose sums are not 0; nil in the first pass
	subjects map[subject]*sums // of the bad groups
	others   sums              // of all other subjects in the second pass

	met       []schema.Occurrence // values that occur in the current transaction
	key, hash []byte              // of a row, and of coefficient
}

// sums checks that the balances, unspent outputs and histories of values, and the supply, the holdings and the totals
// of assets follow from the transactions.
func (c *checker) sums() error {
	s := &sumCheck{checker: c, seed: maphash.MakeSeed(), groups: map[int][]sums{}}
	count := min(c.total/rowsPerGroup+1, maxSumGroups)
	for _, x := range c.All {
		if (x.Active|x.Building)&schema.AccountFeatures != 0 && (c.only == nil || c.only == x) {
			s.indexes, s.groups[x.Number] = append(s.indexes, x), make([]sums, count)
		}
	}
	if c.only == nil {
		s.groups[schema.AssetSpace] = make([]sums, count)
	}
	if err := s.pass(); err != nil {
		return err
	}
	s.bad, s.subjects = map[sumGroup]bool{}, map[subject]*sums{}
	more := 0
	for space, groups := range s.groups {
		for g := range groups {
			switch {
			case groups[g] == sums{}:
			case len(s.bad) < maxBadGroups:
				s.bad[sumGroup{space, uint64(g)}] = true
			default:
				more++
			}
		}
	}
	if len(s.bad) == 0 {
		return nil
	}
	err := s.pass()
	differing := slices.SortedFunc(maps.Keys(s.subjects), func(a, b subject) int {
		return cmp.Or(cmp.Compare(a.space, b.space), cmp.Compare(a.birth, b.birth))
	})
	for _, at := range differing {
		for i, p := range c.sumProblems(at.space) {
			if s.subjects[at][i] != 0 {
				c.problem(p.family, []byte(at.birth), "%s", p.text)
			}
		}
	}
	if more > 0 {
		c.problem(schema.FamilyMeta, nil, "%d more groups (of %d) of assets or values differ from the transactions",
			more, count)
	}
	return err
}

// pass sums up both sides.
func (s *sumCheck) pass() error {
	var parts []func() error
	if s.only == nil {
		parts = append(parts, s.assetOutputs, s.supply, s.holdings, s.totals)
	}
	if len(s.indexes) > 0 {
		parts = append(parts, s.accountsOfTxs, s.accounts)
	}
	for _, part := range parts {
		if err := part(); err != nil {
			return err
		}
	}
	return nil
}

// of returns the sums of an asset or a value.
func (s *sumCheck) of(space int, birth []byte) *sums {
	groups := s.groups[space]
	group := maphash.Bytes(s.seed, birth) % uint64(len(groups))
	if s.bad == nil {
		return &groups[group]
	}
	if !s.bad[sumGroup{space, group}] {
		return &s.others
	}
	at := subject{space, string(birth)}
	if s.subjects[at] == nil {
		s.subjects[at] = &sums{}
	}
	return s.subjects[at]
}

// coefficient returns the random coefficient of a number; a key can have several.
func (s *sumCheck) coefficient(number byte, key []byte) mod61 {
	s.hash = append(append(s.hash[:0], number), key...)
	return mod61Of(maphash.Bytes(s.seed, s.hash))
}
