package explorer

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"birthmark/core"
	"birthmark/core/meter"
	"birthmark/model"
	"birthmark/storage/memory"
)

// byRate is a chain whose transactions have a virtual size of a quarter of their bytes.
type byRate struct{ weighing }

func (byRate) Traits() model.Traits {
	return model.Traits{Unit: bitcoinUnit.Unit, Coinbase: true, BlockVSize: 1_000_000}
}

func (byRate) WeighTx(raw []byte) (weight, vsize int, err error) { return len(raw), len(raw) / 4, nil }

func (byRate) DescribeTx(raw []byte, _, _ []map[string]any) (*model.TxDescription, error) {
	return &model.TxDescription{TxDetails: model.TxDetails{Weight: len(raw), VSize: len(raw) / 4, CoinbaseText: "by /slush/"}}, nil
}

// largeBlock serves a chain whose last block has n transactions in addition to the coinbase, and returns that block.
func largeBlock(t *testing.T, n int) (http.Handler, *model.Block) {
	t.Helper()
	db, block := withLargeBlock(t, n)
	return explorerOf(t, chainOf("made-up", db, nil)), block
}

func withLargeBlock(t *testing.T, n int) (*core.DB, *model.Block) {
	t.Helper()
	v := byHand
	v.Raw = true
	values := make([]uint64, n)
	for i := range values {
		values[i] = 1_000_000
	}
	first := blockOfTxs(nil, model.Tx{Outputs: outputs(values...), Raw: make([]byte, 400)})
	txs := []model.Tx{{Outputs: outputs(50), Raw: make([]byte, 400)}}
	for i := range n { // values, fees, fee rates and sizes have different orders
		txs = append(txs, model.Tx{Inputs: []model.Input{{Tx: first.Txs[0].Hash, Index: uint32(i)}},
			Outputs: outputs(1_000_000 - uint64(i*7919%n)), Raw: make([]byte, 400+4*(i*31%n))})
	}
	second := blockOfTxs(first, txs...)
	db, err := core.Open(t.Context(), memory.New(), core.Options{Chain: byRate{weighing{v.Chain("one")}}, Raw: true})
	if err != nil {
		t.Fatal(err)
	}
	if err := db.Append(t.Context(), []*model.Block{first, second}); err != nil {
		t.Fatal(err)
	}
	return db, second
}

// The hashes of a block with many transactions count as memory of the answer before they are read.
func TestHashesOfALargeBlockNeedMemory(t *testing.T) {
	db, block := withLargeBlock(t, 3000)
	for bytes, want := range map[int64]string{100_000: "answer_too_large", 300_000: ""} {
		m := meter.New(unpaid{}, 0, 1, meter.NewBudget(bytes))
		_, err := db.Block(meter.With(t.Context(), m), block.Hash.String())
		if _, code := model.KindOf(err); err == nil != (want == "") || err != nil && code != want || m.Cost().Rows > 100 && want != "" {
			t.Errorf("%d bytes for the hashes of 3,001 transactions: %v after %d rows, expected %q", bytes, err, m.Cost().Rows, want)
		}
	}
}

// unpaid is a client that is not limited.
type unpaid struct{}

func (unpaid) Pay(int64) error { return nil }
func (unpaid) Release()        {}

// The home page and the pages of a block, whose sums are kept, do not read transactions that they do not show.
func TestPagesOfALargeBlock(t *testing.T) {
	var least []int64
	for _, n := range []int{3 * txsPage, 60 * txsPage} {
		h, block := largeBlock(t, n)
		base := "/made-up/block/" + block.Hash.String()
		for _, path := range []string{"/made-up", base, base + "?sort=fee"} {
			read(t, h, path, http.StatusOK)
		}
		for i, path := range []string{"/made-up", base, base + "?page=3", base + "?sort=fee&page=2"} {
			m := meter.New(unpaid{}, 0, 1, nil)
			w, r := httptest.NewRecorder(), httptest.NewRequest(http.MethodGet, path, nil)
			h.ServeHTTP(w, r.WithContext(meter.With(r.Context(), m)))
			rows := m.Cost().Rows
			if w.Code != http.StatusOK || rows == 0 {
				t.Fatalf("%s: %d, %d rows", path, w.Code, rows)
			}
			if i == len(least) {
				least = append(least, rows)
			} else if rows > least[i]*11/10 {
				t.Errorf("%s: %d rows of a block with %d transactions, %d of a smaller one", path, rows, n, least[i])
			}
		}
	}
}

// The pages of a sorted list contain every transaction once, the largest first.
func TestTransactionsOfABlockAreSorted(t *testing.T) {
	const n = 2*txsPage + 7
	h, block := largeBlock(t, n)
	base := "/made-up/block/" + block.Hash.String()
	read(t, h, base, http.StatusOK).has(t, "Coinbase text", "by /slush/", "Mining pool", "Braiins Pool")
	fee := func(i int) float64 { return float64((i - 1) * 7919 % n) }
	size := func(i int) float64 { return 100 + float64((i-1)*31%n) }
	for by, of := range map[string]func(i int) float64{
		"value":   func(i int) float64 { return 1_000_000 - fee(i) },
		"fee":     fee,
		"feerate": func(i int) float64 { return fee(i) / size(i) },
		"size":    size,
	} {
		want := make([]int, 0, n+1)
		for i := 1; i <= n; i++ {
			want = append(want, i)
		}
		slices.SortStableFunc(want, func(a, b int) int {
			switch x, y := of(a), of(b); {
			case x > y:
				return -1
			case x < y:
				return 1
			}
			return 0
		})
		if by == "size" { // the coinbase is the first transaction of 100 bytes
			want = slices.Insert(want, slices.IndexFunc(want, func(i int) bool { return size(i) == 100 }), 0)
		} else { // the smallest output, and no fee
			want = append(want, 0)
		}
		var got []string
		for _, d := range pages(t, h, base+"?sort="+by) {
			for _, td := range d.each("td") {
				if label, _ := attr(td, "data-label"); label == "Index" {
					got = append(got, textOf(td))
				}
			}
			for _, a := range d.each("a") {
				href, _ := attr(a, "href")
				current, ok := attr(a, "aria-current")
				if ok && current == "true" && !strings.HasSuffix(href, "?sort="+by+"#txs") {
					t.Errorf("%s: the current order is %s", d.path, href)
				}
			}
			d.has(t, "Sort by", "Size", "vB", "sat/vB")
		}
		if fmt.Sprint(got) != fmt.Sprint(want) {
			t.Errorf("by %s: %v\nexpected %v", by, got, want)
		}
	}
	read(t, h, base, http.StatusOK).has(t, "Sort by block order total output fee fee rate size")
	read(t, h, base+"?sort=price", http.StatusBadRequest).has(t, `Sort "price": expected one of [value fee feerate size].`)
	read(t, h, base+"?sort=fee&page=4", http.StatusNotFound)
	// A block without raw transactions, and a block of one transaction.
	plain := explorerOf(t, chainOf("bitcoin", bitcoin(t), nil))
	d := read(t, plain, "/bitcoin/block/170", http.StatusOK)
	d.has(t, "Sort by block order total output fee")
	if strings.Contains(d.main(), "Size0") || strings.Contains(d.main(), "fee rate") {
		t.Errorf("the page has sizes: %s", d.main())
	}
	read(t, plain, "/bitcoin/block/170?sort=size", http.StatusBadRequest)
	if one := read(t, plain, "/bitcoin/block/1", http.StatusOK).main(); strings.Contains(one, "Sort by") {
		t.Errorf("a block of one transaction has links to sort: %s", one)
	}
}

// The size of a page does not depend on the size of the block.
func TestPagesOfLargeBlocksAreSmall(t *testing.T) {
	h, block := largeBlock(t, 10_000)
	for _, order := range []string{"", "?sort=value", "?sort=feerate", "?sort=size&page=201"} {
		d := read(t, h, "/made-up/block/"+block.Hash.String()+order, http.StatusOK)
		if len(d.text) > 100_000 {
			t.Errorf("%s has %d bytes, expected at most 100,000", d.path, len(d.text))
		}
	}
}

// The pages of the list of blocks contain every block once, newest first, and name their first and last block, also a
// page of one block.
func TestPagesListEveryBlockOnce(t *testing.T) {
	const count = 2*blocksPage + 1
	chain := []*model.Block{blockOfTxs(nil, model.Tx{Outputs: outputs(50)})}
	for len(chain) < count {
		chain = append(chain, blockOfTxs(chain[len(chain)-1], model.Tx{Outputs: outputs(50)}))
	}
	parts := pages(t, explorerOf(t, chainOf("made-up", variant(t, byHand, chain), nil)), "/made-up/blocks")
	var listed, want, here []string
	for _, d := range parts {
		for _, n := range d.each("a") {
			href, _ := attr(n, "href")
			if hash, ok := strings.CutPrefix(href, "/made-up/block/"); ok && n.Parent.Data == "td" {
				listed = append(listed, hash)
			}
		}
		for _, n := range d.each("span") {
			if strings.Contains(textOf(n), " to ") {
				here = append(here, textOf(n))
			}
		}
	}
	for _, b := range slices.Backward(chain) {
		want = append(want, b.Hash.String())
	}
	if !slices.Equal(listed, want) {
		t.Errorf("%d pages list %d blocks\n%v\nexpected %d\n%v", len(parts), len(listed), listed, count, want)
	}
	if want := []string{"51 to 100", "1 to 50", "0 to 0"}; !slices.Equal(here, want) {
		t.Errorf("the pages are %q, expected %q", here, want)
	}
}
