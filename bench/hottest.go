package bench

import (
	"birthmark/model"
)

// hottest finds the most frequent value of each index with the Misra-Gries algorithm (1982): a value with a share of
// more than 1/hotCounters is among the remaining counters.
type hottest struct {
	indexes []model.Index // zero for one-to-one indexes
	counts  []map[string]int
}

const hotCounters = 500

func newHottest(chain model.Chain, names []string) *hottest {
	h := &hottest{indexes: make([]model.Index, len(names)), counts: make([]map[string]int, len(names))}
	for _, x := range chain.Indexes() {
		for i, name := range names {
			if x.Name == name && x.Kind != model.OneToOne {
				h.indexes[i], h.counts[i] = x, map[string]int{}
			}
		}
	}
	return h
}

func (h *hottest) count(b *model.Block) {
	for i := range b.Txs {
		for j := range b.Txs[i].Outputs {
			for _, k := range b.Txs[i].Outputs[j].Keys {
				if counts := h.counts[k.Index]; counts != nil {
					add(counts, string(k.Value))
				}
			}
		}
	}
}

// add counts a value. If no counter is free it decrements all.
func add(counts map[string]int, value string) {
	if n, known := counts[value]; known || len(counts) < hotCounters {
		counts[value] = n + 1
		return
	}
	for v, n := range counts {
		if n == 1 {
			delete(counts, v)
		} else {
			counts[v] = n - 1
		}
	}
}

// values returns the text form of the most frequent value by name of the index.
func (h *hottest) values() map[string]string {
	values := map[string]string{}
	for i, x := range h.indexes {
		if v, n := most(h.counts[i]); n > 0 {
			values[x.Name] = x.Format([]byte(v))
		}
	}
	return values
}

// most returns the value with the highest count, the smallest one on a tie.
func most(counts map[string]int) (value string, n int) {
	for v, c := range counts {
		if c > n || c == n && v < value {
			value, n = v, c
		}
	}
	return value, n
}
