package events_test

import (
	"net/url"
	"slices"
	"testing"

	"birthmark/core/query"
	"birthmark/internal/testseed"
	"birthmark/model/modeltest"
)

// The events of a wallet, such as an extended public key, are those of its addresses, also with other values beside it, and
// after a reorganization. It needs no watch list of the client.
func TestEventsOfAWalletAreThoseOfItsAddresses(t *testing.T) {
	v := modeltest.Variants()[3]
	w := worldOf(t, v)
	s := watched(w)
	seed := testseed.Of(t, 895)
	w.grow(v.NewGenerator(seed).Blocks(24)...)
	page, err := w.now().Values(t.Context(), "address", query.Page{Limit: 24})
	if err != nil || len(page.Values) < 24 {
		t.Fatalf("%d addresses: %v", len(page.Values), err)
	}
	text, of := "wallet:", url.Values{"from": {"origin"}, "spends": {"true"}}
	single := url.Values{"from": {"origin"}, "spends": {"true"}}
	for i, a := range page.Values {
		single.Add("follow", "address="+a.Value)
		switch {
		case i >= 20:
			of.Add("follow", "address="+a.Value)
			continue
		case i == 10:
			text += ";-,"
		case i > 0:
			text += ","
		}
		text += a.Value[1:]
	}
	of.Add("follow", "address="+text)
	wallets := map[string]*wallet{}
	for name, q := range map[string]url.Values{"wallet": of, "addresses": single} {
		c := connect(t, s.URL, q.Encode(), "")
		defer c.close()
		wallets[name] = newWallet()
		go follow(wallets[name], c)
	}
	compare := func() (all []string) {
		t.Helper()
		for _, x := range wallets {
			x.arrives(t, w)
		}
		got, all := wallets["wallet"].texts(), wallets["addresses"].texts()
		if !slices.Equal(got, all) || len(all) < 24 {
			t.Errorf("%d events, expected the %d of the addresses\n%s\n%s", len(got), len(all), got, all)
		}
		return all
	}
	before := compare()
	g := v.NewGenerator(seed)
	common := g.Blocks(12)
	w.rollback(common[11].Point())
	w.grow(g.Fork(1).Blocks(20)...)
	if after := compare(); slices.Equal(before, after) {
		t.Error("the reorganization changed no event")
	}
}
