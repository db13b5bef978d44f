package explorer

import (
	"net/http"
	"net/http/httptest"
	"testing"

	"birthmark/core/meter"
)

// free is a client that pays for everything.
type free struct{}

func (free) Pay(int64) error { return nil }
func (free) Release()        {}

// rowsOf returns the number of rows that a page reads.
func rowsOf(t *testing.T, h http.Handler, path string) int64 {
	t.Helper()
	m := meter.New(free{}, 0, 1, nil)
	w := httptest.NewRecorder()
	h.ServeHTTP(w, httptest.NewRequestWithContext(meter.With(t.Context(), m), "GET", path, nil))
	if w.Code != http.StatusOK {
		t.Fatalf("%s: %d", path, w.Code)
	}
	return m.Cost().Rows
}

// The inputs and outputs of a block are read once for its totals and once for each order, and not for each of its pages.
func TestSumsOfABlockAreReadOnce(t *testing.T) {
	const n = 2000
	h, block := largeBlock(t, n)
	base := "/made-up/block/" + block.Hash.String()
	for _, path := range []string{base, base + "?sort=fee", base + "?sort=size"} {
		first := rowsOf(t, h, path)
		if first > 6*n {
			t.Errorf("%s reads %d rows, expected at most 6 for each transaction: its outputs are read once", path, first)
		}
		for _, again := range []string{path, path + map[bool]string{true: "?", false: "&"}[path == base] + "page=7"} {
			if rows := rowsOf(t, h, again); rows > first-n {
				t.Errorf("%s reads %d rows after %s read %d: expected %d fewer", again, rows, path, first, n)
			}
		}
	}
}

// If the sums take too long, the page is without them.
func TestABlockWithoutItsSums(t *testing.T) {
	patient := blockPatience
	defer func() { blockPatience = patient }()
	h, block := largeBlock(t, 60)
	base := "/made-up/block/" + block.Hash.String()
	blockPatience = 0
	read(t, h, base, http.StatusOK).has(t, "Sums", "61 transactions")
	blockPatience = patient
	read(t, h, base, http.StatusOK).has(t, "Total output", "Weight")
}
