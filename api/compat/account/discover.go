package account

import "birthmark/model"

const (
	// DefaultGap is the number of unused addresses in a row that end a branch (BIP 44).
	DefaultGap = 20
	// MaxGap is the largest gap limit that [Account.Discover] accepts.
	MaxGap = 1000
	// MaxAddresses is how many addresses of an account [Account.Discover] returns.
	MaxAddresses = 100_000
)

// Address is an address of an account.
type Address struct {
	Branch, Index int
	Script        []byte
	Used          bool
}

// Discover returns the addresses of all branches: of each branch those up to the last used one and gap unused ones
// after it, and at least gap+1. A branch has at least as many addresses as the branch before it has up to its last used
// one. used is called once for each address, in the order of the result. An index without a valid key is left out.
//
// Errors are of kind [model.Usage]: bad_gap (gap is not between 1 and [MaxGap]), account_too_large (the account has
// more than [MaxAddresses]).
func (a *Account) Discover(gap int, used func(script []byte) (bool, error)) ([]Address, error) {
	if gap < 1 || gap > MaxGap {
		return nil, model.Errorf(model.Usage, "bad_gap", "gap %d is not a number from 1 to %d", gap, MaxGap)
	}
	var all []Address
	least := 0
	for branch := range a.Branches() {
		last := 0 // the last used index
		for index := 0; index <= max(last+gap, least-1); index++ {
			if len(all) == MaxAddresses {
				return nil, model.Errorf(model.Usage, "account_too_large", "the account has more than %d addresses, "+
					"the limit: use a smaller gap, or its branches one by one", MaxAddresses)
			}
			script, err := a.Script(branch, index)
			if err != nil {
				return nil, err
			}
			if script == nil { // BIP 32 leaves the index out
				continue
			}
			found, err := used(script)
			if err != nil {
				return nil, err
			}
			if found {
				last = index
			}
			all = append(all, Address{Branch: branch, Index: index, Script: script, Used: found})
		}
		least = last
	}
	return all, nil
}
