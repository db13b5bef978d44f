package pending

import "iter"

// DescendantsOf yields the transactions that spend outputs of a transaction, directly or not, each once.
func (t *tables) DescendantsOf(tx *Tx) iter.Seq[*Tx] {
	return t.relatives(tx, func(of *Tx, found func(*Tx) bool) bool {
		for in := range t.Spenders(of.ID) {
			if !found(in.Tx) {
				return false
			}
		}
		return true
	})
}

// AncestorsOf yields the transactions of the overlay whose outputs a transaction spends, directly or not, each once.
func (t *tables) AncestorsOf(tx *Tx) iter.Seq[*Tx] {
	return t.relatives(tx, func(of *Tx, found func(*Tx) bool) bool {
		if t.Ancestors(of).Count == 1 {
			return true
		}
		for i := range of.inputs {
			if parent := t.Tx(of.inputs[i].Outpoint.Tx); parent != nil && !found(parent) {
				return false
			}
		}
		return true
	})
}

// relatives yields the transactions that next finds from tx, from these, and so on.
func (t *tables) relatives(tx *Tx, next func(of *Tx, found func(*Tx) bool) bool) iter.Seq[*Tx] {
	return t.counted(func(yield func(*Tx) bool) {
		var seen map[*Tx]bool
		wait := []*Tx{tx}
		for len(wait) > 0 {
			of := wait[0]
			wait = wait[1:]
			more := next(of, func(one *Tx) bool {
				if seen[one] {
					return true
				}
				if seen == nil {
					seen = map[*Tx]bool{}
				}
				seen[one] = true
				wait = append(wait, one)
				return yield(one)
			})
			if !more {
				return
			}
		}
	})
}
