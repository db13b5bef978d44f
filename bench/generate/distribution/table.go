package distribution

// Table draws numbers from 0 by weight, each draw in constant time (Walker's alias method, 1974).
type Table struct {
	keep  []float64 // probability of keeping a uniformly drawn number
	alias []int32   // else it is replaced by this one
}

// NewTable returns a table with one number per weight, at least one: no weight is negative, and one is above 0. They
// need not sum up to 1.
func NewTable(weights ...float64) *Table {
	n := len(weights)
	t := &Table{make([]float64, n), make([]int32, n)}
	sum := 0.0
	for _, w := range weights {
		sum += w
	}
	var small, large []int32
	for i, w := range weights {
		t.keep[i], t.alias[i] = w/sum*float64(n), int32(i)
		if t.keep[i] < 1 {
			small = append(small, int32(i))
		} else {
			large = append(large, int32(i))
		}
	}
	for len(small) > 0 && len(large) > 0 {
		s, l := small[len(small)-1], large[len(large)-1]
		small = small[:len(small)-1]
		t.alias[s] = l
		if t.keep[l] -= 1 - t.keep[s]; t.keep[l] < 1 {
			large = large[:len(large)-1]
			small = append(small, l)
		}
	}
	return t
}

// Draw returns a number.
func (t *Table) Draw(r Random) int {
	i := r.IntN(len(t.keep))
	if r.Float64() < t.keep[i] {
		return i
	}
	return int(t.alias[i])
}
