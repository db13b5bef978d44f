package search_test

import (
	"fmt"
	"strings"
	"testing"

	"birthmark/chains"
	"birthmark/core"
	"birthmark/core/query/search"
	"birthmark/internal/testseed"
	"birthmark/model"
	"birthmark/storage/memory"
)

// Addresses of people, with the forms in which wallets, QR codes and web pages show them.
func TestSearchReadsWhatPeoplePaste(t *testing.T) {
	const (
		bitcoin  = "bc1qw508d6qejxtdg4y5r3zarvary0c5xw7kv8f3t4"                 // BIP 173
		litecoin = "ltc1qw508d6qejxtdg4y5r3zarvary0c5xw7kgmn4n9"                // its program
		cash     = "bitcoincash:qpm2qsznhks23z7629mms6s4cwef74vcwvy22gdx6a"     // CashAddr specification
		doge     = "DH5yaieqoZN36fDVciNyRueRGvGLR3mr7L"                         // Dogecoin's first coinbases
		zcash    = "t1V9mnyk5Z5cTNMCkLbaDwSskgJZucTLdgW"                        // ZIP 320
		cardano  = "addr1vx2fxv2umyhttkxyxp8x0dlpdt3k6cwng5pxj3jhsydzers66hrl8" // CIP-19
		ergo     = "9gmNsqrqdSppLUBqg2UzREmmivgqh1r3jmNcLAc53hk3YCvAGWE"        // EIP-25
	)
	tail := func(text, piece string) string { return text[len(text)-len(piece):] }
	for _, c := range []struct {
		chain, address string
		texts          []string
	}{
		{"bitcoin", bitcoin, []string{
			"bitcoin:" + bitcoin, "BITCOIN:" + strings.ToUpper(bitcoin) + "?amount=1", "bitcoin://" + bitcoin + "?label=a%20b", // BIP 21
			"bitcoin:?bc=" + bitcoin, "bitcoin:?amount=1&BC=" + strings.ToUpper(bitcoin) + "&lightning=LNBC10U1P3PJ257", // BIP 321
			strings.ToUpper(bitcoin), bitcoin + "?amount=1",
		}},
		{"litecoin", litecoin, []string{"litecoin:" + litecoin, "LITECOIN:" + strings.ToUpper(litecoin) + "?amount=2.5&message=x"}},
		{"bitcoin-cash", cash, []string{cash + "?amount=1", strings.ToUpper(cash), tail(cash, "qpm2qsznhks23z7629mms6s4cwef74vcwvy22gdx6a") + "?amount=1"}},
		{"dogecoin", doge, []string{"dogecoin:" + doge + "?amount=1", "Dogecoin:" + doge}},
		{"zcash", zcash, []string{"zcash:" + zcash + "?amount=1&memo=VGhpcw", "zcash:?address=" + zcash + "&amount=1&address.1=" + zcash}}, // ZIP 321
		{"cardano", cardano, []string{
			"web+cardano:" + cardano + "?amount=10", "cardano:" + cardano, "WEB+CARDANO:" + strings.ToUpper(cardano), strings.ToUpper(cardano), // CIP-13
			"web+cardano://addr/" + cardano,
		}},
		{"ergo", ergo, []string{"ergo:" + ergo + "?amount=1&token-1=0", "ERGO:" + ergo}}, // EIP-25
	} {
		t.Run(c.chain, func(t *testing.T) {
			chain, err := chains.New(c.chain, "mainnet")
			if err != nil {
				t.Fatal(err)
			}
			db, err := core.Open(t.Context(), memory.New(), core.Options{Chain: chain, Indexes: []string{"address"}})
			if err != nil {
				t.Fatal(err)
			}
			w := &world{t, db, nil}
			rng := testseed.Rand(t)
			texts := append(c.texts, c.address)
			for _, text := range texts {
				for _, blank := range []string{"\ufeff", "\u200b", "\u200e", "\u2060", "\u00ad", "\u00a0", "\u3000", "\x00", "\ufe0f", "\r\n"} {
					at := rng.IntN(len(text))
					texts = append(texts, blank+text, text+blank, text[:at]+blank+text[at:])
				}
			}
			for _, text := range texts {
				w.finds(search.Value, "address", c.address, text)
				index, value, err := search.IndexOf(t.Context(), db.Queries, chain, text)
				if err != nil || index != "address" {
					t.Errorf("%q is %s of index %q, %v", text, value, index, err)
				}
			}
			for _, text := range []string{"unknown:" + bitcoin, "bitcoin:1", "web+cardano:addr1x", chain.Name() + ":?amount=20.0000000000000001"} {
				if found := w.search(text); len(found.Results) > 0 {
					t.Errorf("%q: %+v", text, found.Results)
				}
				if _, _, err := search.IndexOf(t.Context(), db.Queries, chain, text); err == nil {
					t.Errorf("%q is a value", text)
				} else if kind, _ := model.KindOf(err); kind != model.Usage {
					t.Errorf("%q: %v", text, err)
				}
			}
		})
	}
}

// The longest text of parameters is looked up a limited number of times: it costs no more than other texts.
func TestSearchLimitsTheReadingsOfAText(t *testing.T) {
	chain, err := chains.New("bitcoin", "mainnet")
	if err != nil {
		t.Fatal(err)
	}
	var parts []string
	for i := range 3000 {
		parts = append(parts, fmt.Sprintf("a=%020d", i))
	}
	if n := len(search.Readings(chain, "bitcoin:?"+strings.Join(parts, "&"))); n != 10 {
		t.Errorf("%d readings", n)
	}
}
