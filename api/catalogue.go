package api

import (
	"context"
	"encoding/hex"
	"hash/fnv"
	"slices"
	"sync"

	"birthmark/core"
)

// catalogueMark is what stands in an ETag besides the tip, because an answer depends on it: which indexes the database
// has, and how those of its user are defined. Nothing while they are those that it had first, so that an ETag is the tip
// until an index is added or dropped beside the server.
type catalogueMark struct {
	mu    sync.Mutex
	first *string // what the first answer was made with
	last  string  // the catalogue that mark stands for
	mark  string
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
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.first == nil {
		first := string(text)
		m.first = &first
	}
	if string(text) == *m.first {
		return "", nil
	}
	if string(text) != m.last {
		m.last, m.mark = string(text), "-"+shortHash(text)
	}
	return m.mark, nil
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
