package explorer

import (
	_ "embed"
	"slices"
	"strings"
)

// poolTable has lines of a tag and the name of a pool, separated by a tab. Lines that begin with # are comments.
//
//go:embed pools.tsv
var poolTable string

type poolTag struct{ tag, name string }

// poolTags are sorted by the length of their tags, longest first: a tag can be part of another one.
var poolTags = parsePools(poolTable)

func parsePools(table string) (all []poolTag) {
	for line := range strings.Lines(table) {
		tag, name, ok := strings.Cut(strings.TrimSuffix(line, "\n"), "\t")
		if ok && line[0] != '#' {
			all = append(all, poolTag{tag, name})
		}
	}
	slices.SortStableFunc(all, func(a, b poolTag) int { return len(b.tag) - len(a.tag) })
	return all
}

// poolOf returns the name of the mining pool whose tag is in the text of a coinbase; empty if no pool has it. Miners can
// write any text.
func poolOf(text string) string {
	for _, p := range poolTags {
		if strings.Contains(text, p.tag) {
			return p.name
		}
	}
	return ""
}
