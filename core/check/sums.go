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
// The first pass has one set of sums for each of sumGroups groups of assets or values. If some are not 0, a second pass
// has one for each asset or value of these groups and so finds the ones that differ.

const (
	sumGroups = 4096
	// maxBadGroups bounds the memory of the second pass.
	maxBadGroups = 16
)

// sums are the differences between both sides of the numbers of a group, an asset or a value.
type sums [sumCount]mod61

// subject is an asset or a value of an index: its space and its encoded birth.
type subject struct {
	space int
	birth string
}

type sumGroup struct {
	space int
	group uint64
}

// sumCheck is one comparison of sums.
type sumCheck struct {
	*checker
	seed     maphash.Seed
	first    bool                     // the first pass, which reports broken rows
	groups   map[int]*[sumGroups]sums // by space; of the first pass
	bad      map[sumGroup]bool        // groups whose sums are not 0
	subjects map[subject]*sums        // of the bad groups
	buf      []byte                   // of coefficient
}

// sumText is the family and the text of the problem that a sum other than 0 is.
type sumText struct {
	family storage.Family
	text   string
}

// compareSums calls add once, or twice if something differs, to sum up both sides, and reports what differs.
func (c *checker) compareSums(spaces []int, problems func(space int) []sumText, add func(*sumCheck) error) error {
	s := &sumCheck{checker: c, seed: maphash.MakeSeed(), first: true, groups: map[int]*[sumGroups]sums{}}
	for _, space := range spaces {
		s.groups[space] = &[sumGroups]sums{}
	}
	if err := add(s); err != nil {
		return err
	}
	s.first, s.bad, s.subjects = false, map[sumGroup]bool{}, map[subject]*sums{}
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
	err := add(s)
	differing := slices.SortedFunc(maps.Keys(s.subjects), func(a, b subject) int {
		return cmp.Or(cmp.Compare(a.space, b.space), cmp.Compare(a.birth, b.birth))
	})
	for _, at := range differing {
		for i, p := range problems(at.space) {
			if s.subjects[at][i] != 0 {
				c.problem(p.family, []byte(at.birth), "%s", p.text)
			}
		}
	}
	if more > 0 {
		c.problem(schema.FamilyMeta, nil, "%d more groups (of %d) of assets or values differ from the transactions",
			more, sumGroups)
	}
	return err
}

func (s *sumCheck) hash(b []byte) uint64 { return maphash.Bytes(s.seed, b) }

// of returns the sums of an asset or a value; nil if the second pass does not need them.
func (s *sumCheck) of(space int, birth []byte) *sums {
	group := s.hash(birth) % sumGroups
	if s.first {
		return &s.groups[space][group]
	}
	if !s.bad[sumGroup{space, group}] {
		return nil
	}
	at := subject{space, string(birth)}
	if s.subjects[at] == nil {
		s.subjects[at] = &sums{}
	}
	return s.subjects[at]
}

// coefficient returns the random coefficient of a number, one of several that belong to a key.
func (s *sumCheck) coefficient(number byte, key []byte) mod61 {
	s.buf = append(append(s.buf[:0], number), key...)
	return mod61Of(s.hash(s.buf))
}

// each visits the rows of a family that another pass counts.
func (s *sumCheck) each(f storage.Family, visit func(key, value []byte) error) error {
	for kv, err := range s.r.Scan(f, nil, nil, false) {
		if err == nil {
			err = s.ctx.Err()
		}
		if err == nil {
			err = visit(kv.Key, kv.Value)
		}
		if err != nil {
			return err
		}
	}
	return nil
}
