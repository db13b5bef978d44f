package api_test

import (
	"encoding/binary"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"io"
	"math/big"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"birthmark/api"
	"birthmark/api/served"
	"birthmark/core"
	"birthmark/core/check"
	"birthmark/core/query"
	"birthmark/internal/humanize"
	"birthmark/internal/testseed"
	"birthmark/model"
	"birthmark/model/modeltest"
	"birthmark/storage/memory"
)

const (
	busyTxs   = 25_000
	busyBlock = 500
	busyValue = "aaa"
	busyCSV   = "/v1/test/history/address/" + busyValue
)

// busyBlocks returns blocks whose transactions pay to one address; every third one spends from it. salt makes another
// branch.
func busyBlocks(from, to int, parent model.Hash, salt byte) (blocks []*model.Block) {
	for h := from; h < to; h++ {
		b := &model.Block{Height: model.HeightPk(h), Parent: parent, Time: 1_600_000_000 + 600*int64(h), Header: []byte("header")}
		b.Hash = busyHash(salt, h, -1)
		for i := range busyBlock {
			n := uint64(h*busyBlock + i + 1)
			t := model.Tx{Hash: busyHash(salt, h, i), Outputs: []model.Output{{Value: n, Keys: []model.Key{{Index: 0, Value: []byte{0xaa}}}}}}
			if i > 0 && i%3 == 0 {
				t.Inputs = []model.Input{{Tx: b.Txs[i-1].Hash}}
			}
			b.Txs = append(b.Txs, t)
		}
		blocks, parent = append(blocks, b), b.Hash
	}
	return blocks
}

func busyHash(salt byte, block, tx int) (h model.Hash) {
	h[0] = salt
	binary.BigEndian.PutUint32(h[1:], uint32(block))
	binary.BigEndian.PutUint32(h[5:], uint32(tx+1))
	h[31] = 1
	return h
}

// busy returns a chain whose address has 25,000 transactions.
func busy(t *testing.T) *core.DB {
	t.Helper()
	v := modeltest.Variant{Name: "by hand", ByHand: true}
	db, err := core.Open(t.Context(), memory.New(), core.Options{
		Chain: v.Chain("one"), CacheBytes: 1 << 20, Keep: map[string]model.IndexOptions{"address": {Balance: true, History: true}},
	})
	if err != nil {
		t.Fatal(err)
	}
	if err := db.Append(t.Context(), busyBlocks(0, busyTxs/busyBlock, model.Hash{}, 1)); err != nil {
		t.Fatal(err)
	}
	return db
}

// rowsOf returns the rows of a CSV answer by the name of the column.
func rowsOf(t *testing.T, body string) (rows []map[string]string) {
	t.Helper()
	r := csv.NewReader(strings.NewReader(body))
	r.Comment = '#'
	lines, err := r.ReadAll()
	if err != nil || len(lines) == 0 {
		t.Fatalf("%d lines, %v", len(lines), err)
	}
	for _, line := range lines[1:] {
		row := map[string]string{}
		for i, name := range lines[0] {
			row[name] = line[i]
		}
		rows = append(rows, row)
	}
	return rows
}

func askCSV(t *testing.T, h http.Handler, target string) (rows []map[string]string, res *http.Response) {
	t.Helper()
	w := ask(h, "GET", target, "", "Accept", "text/csv")
	res = w.Result()
	if kind := res.Header.Get("Content-Type"); w.Code != http.StatusOK || kind != "text/csv; charset=utf-8" {
		t.Fatalf("%s: %d %s\n%s", target, w.Code, kind, w.Body)
	}
	return rowsOf(t, w.Body.String()), res
}

// All transactions are in the file, and their sums are the balance. The same entries come in pages, which Link headers
// connect.
func TestCSVHasTheWholeList(t *testing.T) {
	h, _ := handler(t, api.Options{}, map[string]*core.DB{"test": busy(t)})
	rows, _ := askCSV(t, h, busyCSV+"?raw_amounts=true")
	if len(rows) != busyTxs {
		t.Fatalf("%d rows, expected %d", len(rows), busyTxs)
	}
	var balance query.BalanceAnswer
	if err := json.Unmarshal(ask(h, "GET", "/v1/test/balance/address/"+busyValue, "").Body.Bytes(), &balance); err != nil {
		t.Fatal(err)
	}
	sum := func(column string) string {
		total := new(big.Int)
		for _, row := range rows {
			n, _ := new(big.Int).SetString(row[column], 10)
			total.Add(total, n)
		}
		return total.String()
	}
	if sum("received") != balance.Received || sum("sent") != balance.Sent || rows[busyTxs-1]["balance"] != balance.Balance {
		t.Errorf("received %s, sent %s, at the end %s, expected %+v", sum("received"), sum("sent"), rows[busyTxs-1]["balance"], balance)
	}
	var paged []map[string]string
	for target := busyCSV + "?raw_amounts=true&limit=7000"; ; {
		page, res := askCSV(t, h, target)
		paged = append(paged, page...)
		next, found := strings.CutPrefix(res.Header.Get("Link"), "<")
		if !found {
			break
		}
		ref, _, _ := strings.Cut(next, ">")
		target = busyCSV + ref
	}
	same := slices.EqualFunc(rows, paged, func(a, b map[string]string) bool { return a["hash"] == b["hash"] && a["balance"] == b["balance"] })
	if !same {
		t.Errorf("%d rows in pages differ from the %d of the whole list", len(paged), len(rows))
	}
}

// Every list is CSV too, with as many rows as the stream has lines.
func TestEveryListIsCSV(t *testing.T) {
	h := bitcoinAPI(t)
	for _, target := range []string{
		"/v1/bitcoin/blocks?height_to=300", "/v1/bitcoin/find/address/" + satoshi, "/v1/bitcoin/forks", "/v1/bitcoin/richest/address?limit=30",
		"/v1/bitcoin/values/address?limit=120", "/v1/bitcoin/history/address/" + satoshi, "/v1/bitcoin/history/address/" + satoshi + "?group_by=day",
	} {
		rows, res := askCSV(t, h, target)
		if n, _ := streamed(t, h, target); n != len(rows) || n == 0 && !strings.Contains(target, "forks") {
			t.Errorf("%s: %d rows, %d lines of the stream", target, len(rows), n)
		}
		if name := res.Header.Get("Content-Disposition"); !strings.HasPrefix(name, "attachment; filename=bitcoin-") {
			t.Errorf("%s: %s", target, name)
		}
	}
	rows, _ := askCSV(t, h, "/v1/bitcoin/history/address/"+satoshi)
	if first := rows[0]; first["received"] != "50.00000000" || first["time"] != "2009-01-09T03:54:39Z" || len(first) != 7 {
		t.Errorf("got %v", first)
	}
	wantProblem(t, ask(h, "GET", "/v1/bitcoin/tx/"+firstPayment, "", "Accept", "text/csv"), 406, "not_acceptable", "application/json")
	wantProblem(t, ask(h, "GET", "/v1/bitcoin/blocks?after=zz", "", "Accept", "text/csv"), 400, "bad_cursor", "zz")
}

// An incomplete file ends with a comment that has the cursor, and the connection is cut.
func TestIncompleteCSVIsCut(t *testing.T) {
	db := busy(t)
	closed := make(chan struct{})
	close(closed)
	h, _ := handler(t, api.Options{Done: closed}, map[string]*core.DB{"test": db})
	server := httptest.NewServer(h)
	defer server.Close()
	r, err := http.NewRequestWithContext(t.Context(), "GET", server.URL+busyCSV, nil)
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Accept", "text/csv")
	res, err := server.Client().Do(r)
	if err != nil {
		t.Fatal(err)
	}
	body, err := io.ReadAll(res.Body)
	_ = res.Body.Close()
	_, comment, found := strings.Cut(string(body), "\n# incomplete after ")
	_, cursor, _ := strings.Cut(strings.TrimSpace(comment), "after=")
	if err == nil || !found || !strings.Contains(comment, "(shutdown)") {
		t.Fatalf("%v, %q", err, comment)
	}
	whole, _ := handler(t, api.Options{}, map[string]*core.DB{"test": db})
	rest, _ := askCSV(t, whole, busyCSV+"?after="+cursor)
	if n := len(rowsOf(t, string(body))); n == 0 || n+len(rest) != busyTxs {
		t.Errorf("%d rows and %d, expected %d", n, len(rest), busyTxs)
	}
}

// forking calls fork at the first write of an answer.
type forking struct {
	*httptest.ResponseRecorder
	fork func()
	once sync.Once
}

func (w *forking) Write(b []byte) (int, error) {
	w.once.Do(w.fork)
	return w.ResponseRecorder.Write(b)
}

// A reorganization while a file is sent does not mix the branches, and a cursor on the orphaned branch is refused.
func TestCSVIsOfOneBranch(t *testing.T) {
	db := busy(t)
	h, _ := handler(t, api.Options{}, map[string]*core.DB{"test": db})
	const fork = 20
	w := &forking{ResponseRecorder: httptest.NewRecorder(), fork: func() {
		parent := model.Point{Height: fork - 1, Hash: busyHash(1, fork-1, -1)}
		if err := db.Rollback(t.Context(), parent); err != nil {
			t.Error(err)
		}
		if err := db.Append(t.Context(), busyBlocks(fork, fork+1, parent.Hash, 2)); err != nil {
			t.Error(err)
		}
	}}
	r := httptest.NewRequestWithContext(t.Context(), "GET", busyCSV, nil)
	r.Header.Set("Accept", "text/csv")
	page := ask(h, "GET", busyCSV+"?limit=10000&order=desc", "", "Accept", "text/csv")
	h.ServeHTTP(w, r)
	rows := rowsOf(t, w.Body.String())
	other := slices.IndexFunc(rows, func(row map[string]string) bool { return !strings.HasPrefix(row["hash"], "01") })
	if len(rows) != busyTxs || other >= 0 {
		t.Errorf("%d rows of the old branch, row %d is of the new one", len(rows), other)
	}
	if after, _ := askCSV(t, h, busyCSV); len(after) != (fork+1)*busyBlock {
		t.Errorf("%d rows after the reorganization, expected %d", len(after), (fork+1)*busyBlock)
	}
	next, _, _ := strings.Cut(strings.TrimPrefix(page.Header().Get("Link"), "<?"), ">")
	q, err := url.ParseQuery(next)
	if err != nil || q.Get("after") == "" {
		t.Fatalf("%q, %v", next, err)
	}
	wantProblem(t, ask(h, "GET", busyCSV+"?order=desc&after="+q.Get("after"), "", "Accept", "text/csv"), 400, "cursor_rolled_back", "")
}

// A client that stops holds neither a snapshot nor memory.
func TestCSVEndsWithItsClient(t *testing.T) {
	c, held := openedOf(busy(t))
	h, _ := handler(t, api.Options{Chains: []*served.Chain{c}}, nil)
	server := httptest.NewServer(h)
	defer server.Close()
	for range 3 {
		r, err := http.NewRequestWithContext(t.Context(), "GET", server.URL+busyCSV, nil)
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set("Accept", "text/csv")
		res, err := server.Client().Do(r)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := res.Body.Read(make([]byte, 1)); err != nil {
			t.Fatal(err)
		}
		_ = res.Body.Close()
	}
	for held.Load() > 0 { // ends at the latest with the test's deadline
		time.Sleep(time.Millisecond)
	}
}

// The numbers of every series are in the file: amounts in the unit of the coin, counts as they are.
func TestCSVOfStatistics(t *testing.T) {
	v := modeltest.Variants()[slices.IndexFunc(modeltest.Variants(), func(v modeltest.Variant) bool { return v.Statistics })]
	db, err := core.Open(t.Context(), memory.New(), core.Options{Chain: v.Chain("one"), Keep: v.Keep(), Raw: v.Raw})
	if err != nil {
		t.Fatal(err)
	}
	if err := db.Append(t.Context(), v.NewGenerator(testseed.Of(t, 46)).Blocks(40)); err != nil {
		t.Fatal(err)
	}
	h, _ := handler(t, api.Options{}, map[string]*core.DB{"test": db})
	names, err := db.StatisticsNames(t.Context())
	if err != nil || len(names.Series) == 0 {
		t.Fatalf("%d series, %v", len(names.Series), err)
	}
	unit := humanize.UnitOf(db.Chain())
	for _, s := range names.Series {
		for _, by := range query.StatisticsUnits {
			a, err := db.Statistics(t.Context(), s.Name, by, query.Range{}, query.Page{Limit: 1000})
			if err != nil {
				t.Fatal(err)
			}
			for _, raw := range []bool{false, true} {
				rows, _ := askCSV(t, h, fmt.Sprintf("/v1/test/stats/%s?by=%s&raw_amounts=%t", s.Name, by, raw))
				if len(rows) != len(a.Values) {
					t.Fatalf("%s by %s: %d rows, expected %d", s.Name, by, len(rows), len(a.Values))
				}
				for i, row := range rows {
					want := ""
					if n := a.Values[i].Value; n != nil {
						if want = *n; s.Unit == "amount" && !raw {
							want = humanize.Unit{Decimals: unit.Decimals}.Number(*n)
						}
					}
					if row["value"] != want {
						t.Errorf("%s by %s, raw %t: row %d is %v, expected %s", s.Name, by, raw, i, row, want)
					}
				}
			}
		}
	}
	if found, err := db.Check(t.Context(), check.Options{}); err != nil || !found.OK {
		t.Errorf("%+v, %v", found, err)
	}
}
