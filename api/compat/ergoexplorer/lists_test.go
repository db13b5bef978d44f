package ergoexplorer_test

import (
	"cmp"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"testing"
	"unicode/utf8"

	. "birthmark/api/compat/boxes/boxestest"
)

// askSorted compares pages of blocks in the order of each field with the model.
func (w *world) askSorted(t *testing.T, rng *rand.Rand) {
	t.Helper()
	number := func(v any) uint64 {
		n, err := strconv.ParseUint(fmt.Sprint(v), 10, 64)
		if err != nil {
			t.Fatal(err)
		}
		return n
	}
	for by, value := range map[string]func(*Block) uint64{
		"height":            func(b *Block) uint64 { return uint64(b.Height) },
		"timestamp":         func(b *Block) uint64 { return uint64(b.Timestamp) },
		"transactionsCount": func(b *Block) uint64 { return uint64(len(b.Txs)) },
		"size":              func(b *Block) uint64 { return number(b.JSON["size"]) },
		"difficulty":        func(b *Block) uint64 { return number(b.Header["difficulty"]) },
	} {
		blocks := slices.Clone(w.Blocks)
		slices.SortStableFunc(blocks, func(a, b *Block) int { return cmp.Compare(value(a), value(b)) })
		for _, direction := range []string{"asc", "desc"} {
			offset, limit := rng.IntN(len(blocks)), 1+rng.IntN(len(blocks))
			a := Ask(t, w, fmt.Sprintf("%s/api/v1/blocks?sortBy=%s&sortDirection=%s&offset=%d&limit=%d", path, by, direction, offset, limit), "")
			var got struct {
				Items []struct{ Height int }
				Total int
			}
			want := Page(blocks, offset, limit)
			if err := json.Unmarshal([]byte(a.Body), &got); err != nil || got.Total != len(blocks) || len(got.Items) != len(want) {
				t.Fatalf("blocks by %s: %d %v %.300s", by, a.Status, err, a.Body)
			}
			for i := range want {
				if got.Items[i].Height != want[i].Height {
					t.Errorf("block %d by %s %s has the height %d, expected %d", offset+i, by, direction, got.Items[i].Height, want[i].Height)
				}
			}
			slices.Reverse(blocks)
		}
	}
}

// askTokens compares the lists of tokens with the model.
func (w *world) askTokens(t *testing.T) {
	t.Helper()
	minted := map[string]*Box{}
	var order []string
	for _, b := range w.Boxes {
		for _, x := range b.Tokens {
			if x.Amount > 0 && minted[x.ID] == nil {
				minted[x.ID] = b
				order = append(order, x.ID)
			}
		}
	}
	for offset := 0; offset < len(order); offset += 200 {
		a := Ask(t, w, fmt.Sprintf("%s/api/v1/tokens?limit=200&sortDirection=asc&offset=%d", path, offset), "")
		var got struct {
			Items []struct {
				ID, BoxID  string
				Name, Type *string
			}
			Total int
		}
		want := Page(order, offset, 200)
		if err := json.Unmarshal([]byte(a.Body), &got); err != nil || got.Total != len(order) || len(got.Items) != len(want) {
			t.Fatalf("tokens: %d of %d, expected %d of %d: %.300s", len(got.Items), got.Total, len(want), len(order), a.Body)
		}
		for i, x := range got.Items {
			// EIP-4: the name is in R4, a collection of bytes whose length here takes one byte.
			name, _ := minted[want[i]].JSON["additionalRegisters"].(map[string]any)["R4"].(string)
			raw, _ := hex.DecodeString(name[min(4, len(name)):])
			described := strings.HasPrefix(name, "0e") && utf8.Valid(raw)
			if described != (x.Name != nil) || described != (x.Type != nil) ||
				described && (*x.Name != string(raw) || *x.Type != "EIP-004") {
				t.Errorf("token %s: name %v and type %v, its register is %s", x.ID, x.Name, x.Type, name)
			}
			if x.ID != want[i] || x.BoxID != minted[x.ID].ID {
				t.Errorf("token %d is %s in %s, expected %s in %s", offset+i, x.ID, x.BoxID, want[i], minted[want[i]].ID)
			}
		}
	}
}
