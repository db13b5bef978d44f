// Package pools names the mining pool of a block by the text that pools write into coinbases.
package pools

import (
	_ "embed"
	"slices"
	"strings"
)

// table has lines of a tag and the name of a pool, separated by a tab. Lines that begin with # are comments.
//
//go:embed pools.tsv
var table string

type pool struct{ tag, name string }

// pools are sorted by the length of their tags, longest first: a tag can be part of another one.
var pools = parse(table)

func parse(table string) (all []pool) {
	for line := range strings.Lines(table) {
		tag, name, ok := strings.Cut(strings.TrimSuffix(line, "\n"), "\t")
		if ok && line[0] != '#' {
			all = append(all, pool{tag, name})
		}
	}
	slices.SortStableFunc(all, func(a, b pool) int { return len(b.tag) - len(a.tag) })
	return all
}

// Of returns the name of the pool whose tag is in the text of a coinbase; empty if no pool has it. Miners can write any
// text.
func Of(text string) string {
	for _, p := range pools {
		if strings.Contains(text, p.tag) {
			return p.name
		}
	}
	return ""
}
