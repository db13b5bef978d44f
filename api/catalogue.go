package api

import (
	"context"
	"encoding/hex"
	"hash/fnv"
	"slices"
	"sync"

	"birthmark/core"
	"birthmark/model"
)

// catalogueMark is what stands in an ETag besides the tip, because an answer depends on it: which indexes the database
// has, and how those of its user are defined. Nothing where it has those that the chain has on its own, so that the ETag
// of most servers is their tip.
type catalogueMark struct {
	usual string // what a database has that names no indexes

	mu   sync.Mutex
	last string // the catalogue that mark stands for
	mark string
}

func (m *catalogueMark) of(ctx context.Context, v *core.View) (string, error) {
	states, err := v.IndexStates(ctx)
	if err != nil {
		return "", err
	}
	text := make([]byte, 0, 256)
	for i := range states {
		x := &states[i]
		if x.Dropping || slices.Contains(x.Adding, "values") {
			continue // not in answers yet, or any more
		}
		text = appendIndex(text, x.Name, x.When, x.Value)
	}
	if string(text) == m.usual {
		return "", nil
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if string(text) != m.last {
		m.last, m.mark = string(text), "-"+shortHash(text)
	}
	return m.mark, nil
}

func usualCatalogue(c model.Chain) string {
	var text []byte
	for _, x := range c.Indexes() {
		if x.Default || x.Always {
			text = appendIndex(text, x.Name, "", "")
		}
	}
	return string(text)
}

func appendIndex(text []byte, name, when, value string) []byte {
	text = append(append(text, name...), 0)
	text = append(append(text, when...), 0)
	return append(append(text, value...), '\n')
}

func shortHash(text []byte) string {
	h := fnv.New64a()
	h.Write(text)
	return hex.EncodeToString(h.Sum(nil))
}
