package descriptor

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/btcsuite/btcd/btcutil/v2/hdkeychain"
)

// Descriptor is the output scripts of a wallet. It keeps the scripts that it has derived. It is safe for concurrent use.
type Descriptor struct {
	outputs []script // of a position; combo has several
	keys    []*key
	account *Account // nil: not of a single signature

	mu       sync.Mutex
	branches [][][]byte // scripts of the positions of each branch; nil: left out
}

// Account is a descriptor of a single signature whose key is extended.
type Account struct {
	Kind     Kind
	Key      *hdkeychain.ExtendedKey
	Origin   []uint32   // hardened steps have [hdkeychain.HardenedKeyStart] added; nil: unknown
	Branches [][]uint32 // the steps from the key to each branch
}

// Account returns the account that the descriptor is; nil for other descriptors.
func (d *Descriptor) Account() *Account { return d.account }

// Branches returns the number of branches.
func (d *Descriptor) Branches() int { return len(d.branches) }

// Ranged reports whether a branch has any number of positions; else it has only position 0.
func (d *Descriptor) Ranged() bool {
	return slices.ContainsFunc(d.keys, func(k *key) bool { return k.ranged })
}

// Kept returns the number of scripts that are kept.
func (d *Descriptor) Kept() (n int) {
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, scripts := range d.branches {
		n += len(scripts)
	}
	return n
}

// Scripts returns the scripts of a position: one, or those of combo; none for a position that BIP 32 leaves out, because
// its key is invalid, which one in 2^127 keys is. It derives the scripts of all positions up to there that are not kept:
// derived is the number of keys of them.
func (d *Descriptor) Scripts(branch, position int) (scripts [][]byte, derived int, err error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	n := len(d.outputs)
	for len(d.branches[branch]) <= n*position {
		derived += max(1, len(d.keys))
		at := place{branch, uint32(len(d.branches[branch]) / n)}
		made := make([][]byte, n)
		for i, output := range d.outputs {
			if made[i], err = output(at); err != nil {
				break
			}
		}
		if errors.Is(err, hdkeychain.ErrInvalidChild) {
			clear(made)
		} else if err != nil {
			return nil, derived, fmt.Errorf("derive position %d of branch %d: %w", at.position, branch, err)
		}
		d.branches[branch] = append(d.branches[branch], made...)
	}
	scripts = d.branches[branch][n*position : n*position+n : n*position+n]
	if scripts[0] == nil {
		return nil, derived, nil
	}
	return scripts, derived, nil
}

// Path returns the derivation path of a position: from the master key, such as m/84h/0h/0h/0/5, if the descriptor has the
// origin of its only key, else from the key, such as 0/5. Of several keys it is the path of the first with a range. It is
// empty if no key has a path.
func (d *Descriptor) Path(branch, position int) string {
	i := max(0, slices.IndexFunc(d.keys, func(k *key) bool { return k.ranged }))
	if i == len(d.keys) || d.keys[i].root == nil {
		return ""
	}
	k := d.keys[i]
	steps := slices.Clone(k.paths[branch%len(k.paths)])
	if k.ranged {
		steps = append(steps, uint32(position))
	}
	switch {
	case len(d.keys) == 1 && k.origin != nil:
		return "m" + formatSteps(append(slices.Clone(k.origin), steps...))
	case len(d.keys) == 1 && k.root.Depth() == 0:
		return "m" + formatSteps(steps)
	}
	return strings.TrimPrefix(formatSteps(steps), "/")
}

func formatSteps(steps []uint32) string {
	var b strings.Builder
	for _, s := range steps {
		b.WriteByte('/')
		b.WriteString(strconv.FormatUint(uint64(s&math.MaxInt32), 10))
		if s >= hdkeychain.HardenedKeyStart {
			b.WriteByte('h')
		}
	}
	return b.String()
}
