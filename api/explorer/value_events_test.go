package explorer

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"testing"

	"birthmark/api/compat/utxo"
	"birthmark/chains"
	"birthmark/core"
	"birthmark/internal/testblocks"
	"birthmark/internal/testrun"
	"birthmark/model"
	"birthmark/storage/memory"
)

// accounts is a node that has one account.
type accounts struct {
	model.Source
	stake string
	fails error
}

func (a accounts) AccountState(_ context.Context, index, value string) (*model.AccountState, error) {
	if index != "stake_credential" || value != a.stake {
		return nil, a.fails
	}
	return &model.AccountState{Registered: true, Pool: "pool1made", DRep: "always_abstain", Rewards: "1234567"}, a.fails
}

// The page of a stake address or a pool has its certificates and withdrawals with the index of subjects, and with a node
// the state of the account. Other values have neither.
func TestAccountsHaveTheirCertificates(t *testing.T) {
	testrun.Slow(t)
	chain, err := chains.New("cardano", "preview")
	if err == nil {
		chain, err = chain.Define([]model.Definition{utxo.Subjects})
	}
	if err != nil {
		t.Fatal(err)
	}
	db, err := core.Open(t.Context(), memory.New(), core.Options{Chain: chain, Raw: true, CacheBytes: 16 << 20,
		Indexes: []string{"address", "stake_credential", utxo.Subjects.Name}})
	if err != nil {
		t.Fatal(err)
	}
	src, err := chain.Open(t.Context(), model.SourceOptions{URI: "file://" + testblocks.Path(t, "cardano", "dingo-immutable"), Indexes: db.Indexes(), Raw: true})
	if err != nil {
		t.Fatal(err)
	}
	defer src.Close()
	if err := core.Sync(t.Context(), db, src, core.SyncOptions{}); err != nil {
		t.Fatal(err)
	}
	served := chainOf("cardano", db, nil)
	h := explorerOf(t, served)
	seen := map[string]int{}
	check := func(path, what, tx string) {
		if seen[what] > 12 {
			return
		}
		seen[what]++
		d := read(t, h, path, http.StatusOK)
		if text := d.section("certificates"); !strings.Contains(text, what) {
			t.Errorf("%s does not have the %s of %s: %q", path, what, tx, text)
		}
	}
	stake := ""
	for _, tx := range txsOf(t, db) {
		if tx.Valid != nil && !*tx.Valid {
			continue
		}
		for _, w := range tx.Withdrawals {
			check("/cardano/index/subject/"+w.Address, "withdrawal", tx.Hash)
			stake = w.Address
		}
		for _, c := range tx.Certificates {
			what := strings.ReplaceAll(c.Type, "_", " ")
			if c.StakeAddress != "" {
				check("/cardano/index/subject/"+c.StakeAddress, what, tx.Hash)
			}
			if c.Type == "pool_registration" || c.Type == "pool_retirement" {
				check("/cardano/index/subject/"+c.Pool, what, tx.Hash)
			}
		}
	}
	t.Log(seen)
	if len(seen) < 2 || stake == "" {
		t.Errorf("pages with %v", seen)
	}
	d := read(t, h, "/cardano/index/stake_credential/"+stake, http.StatusOK)
	if strings.Contains(d.main(), "Rewards to withdraw") {
		t.Errorf("%s has a state without a node", d.path)
	}
	served.Node = accounts{stake: stake}
	d = read(t, h, "/cardano/index/stake_credential/"+stake, http.StatusOK)
	d.has(t, "has never been used", "Rewards to withdraw", "1.234567", "pool1made", "always abstain", "withdrawal")
	used := mostUsed(t, db, "stake_credential").Value
	served.Node = accounts{stake: used}
	d = read(t, h, "/cardano/index/stake_credential/"+used, http.StatusOK)
	d.has(t, "Rewards to withdraw", "1.234567", "Unspent outputs")
	served.Node = accounts{stake: stake}
	read(t, h, "/cardano/address/"+mostUsed(t, db, "address").Value, http.StatusOK)
	served.Node = accounts{stake: stake, fails: errors.New("the node is gone")}
	if d = read(t, h, "/cardano/index/stake_credential/"+stake, http.StatusOK); strings.Contains(d.main(), "Rewards to withdraw") {
		t.Errorf("%s has the state of a node that fails", d.path)
	}
}
