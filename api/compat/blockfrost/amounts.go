package blockfrost

import (
	"math/big"
	"slices"
	"strings"

	"birthmark/api/compat/utxo"
)

const lovelace = "lovelace"

// amountsOf returns the value of an output: lovelace first, then its assets, ordered by policy and name.
func amountsOf(o *utxo.Output) []amount {
	all := make([]amount, 1, 1+len(o.Assets))
	all[0] = amount{lovelace, decimal(o.Value)}
	for _, a := range o.Assets {
		all = append(all, amount{a.ID, decimal(a.Amount)})
	}
	sortUnits(all[1:])
	return all
}

func sortUnits(assets []amount) {
	slices.SortFunc(assets, func(a, b amount) int { return strings.Compare(a.Unit, b.Unit) })
}

// sums adds amounts by unit.
type sums map[string]*big.Int

func (s sums) add(unit string, n *big.Int) {
	if s[unit] == nil {
		s[unit] = new(big.Int)
	}
	s[unit].Add(s[unit], n)
}

func (s sums) addOutput(o *utxo.Output) {
	s.add(lovelace, bigInt(o.Value))
	for _, a := range o.Assets {
		s.add(a.ID, bigInt(a.Amount))
	}
}

// amounts returns the sums: lovelace first, also if it is 0, then assets, ordered by policy and name.
func (s sums) amounts() []amount {
	all := []amount{{lovelace, "0"}}
	for unit, n := range s {
		if unit == lovelace {
			all[0].Quantity = n.String()
		} else {
			all = append(all, amount{unit, n.String()})
		}
	}
	sortUnits(all[1:])
	return all
}
