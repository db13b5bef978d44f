package ergoexplorer_test

import (
	"encoding/json"
	"net/http"
	"reflect"
	"testing"

	"birthmark/api/compat/answertest"
	"birthmark/bench/generate/ergogen"
	"birthmark/internal/testnode/ergotest"
	"birthmark/internal/testseed"
)

// hideNfts removes the tokens of one unit from a list, whatever else selects them.
func TestListsOfTokensWithoutNFTs(t *testing.T) {
	rng := testseed.Rand(t)
	c := ergogen.New(ergogen.Options{Seed: rng.Uint64(), TxsPerBlock: 8})
	w := newWorld(t, "testnet")
	w.Sync(t, 0, ergotest.Made(c, 60)...)
	w.Settled(t)
	type token struct {
		ID             string
		Name           *string
		EmissionAmount uint64
	}
	ask := answertest.HTTP(w, path+"/api/v1")
	list := func(target string) (all []token) {
		t.Helper()
		var a struct{ Items []token }
		status, body := ask(target)
		if err := json.Unmarshal(body, &a); err != nil || status != http.StatusOK {
			t.Fatalf("%s: %d %s", target, status, body)
		}
		return a.Items
	}
	for _, path := range []string{"/tokens?limit=500", "/tokens?limit=500&sortDirection=desc"} {
		all := list(path)
		var want []token
		for _, x := range all {
			if x.EmissionAmount > 1 {
				want = append(want, x)
			}
		}
		if got := list(path + "&hideNfts=true"); !reflect.DeepEqual(got, want) || len(want) == 0 || len(want) == len(all) {
			t.Errorf("%s: %d tokens without NFTs, expected %d of %d", path, len(got), len(want), len(all))
		}
	}
}
