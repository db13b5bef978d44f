//go:build bench

package ergoexplorer_test

import (
	"io"
	"net/http"
	"net/http/httptest"
	"testing"

	"golang.org/x/sys/unix"

	. "birthmark/api/compat/boxes/boxestest"
	"birthmark/api/compat/ergonode"
	"birthmark/bench/generate/ergogen"
	"birthmark/internal/testnode/ergotest"
	"birthmark/storage/rocks"
	"birthmark/storage/rocks/rockstest"
)

// BenchmarkRates answers requests of both APIs over a generated chain of 500 blocks in RocksDB: without HTTP, and over
// a connection with its client in the same process. cpu-µs/op is the processor time of the whole process per request,
// so a busy machine changes it little; two cores answer 2,000,000 requests per second divided by it.
func BenchmarkRates(b *testing.B) {
	store := rockstest.OpenWith(b, b.TempDir()+"/db", rocks.Options{WAL: true, BlockCache: 256 << 20, WriteBuffers: 64 << 20})
	w := newWorldIn(b, "testnet", store)
	c := ergogen.New(ergogen.Options{Seed: 7})
	w.Sync(b, 0, ergotest.Made(c, 500)...)
	n := w.Model(nil)
	w.Naive = n
	node := ergonode.New(ergonode.Options{Chain: w.Chain, Path: "/node"})
	unspent, endowed := map[string]int{}, map[string]bool{} // by tree; endowed: in the transaction with 1,000 boxes
	for _, x := range n.Boxes {
		if x.Spender == nil {
			unspent[x.Tree]++
		}
		endowed[x.Tree] = endowed[x.Tree] || x.Height() <= 1
	}
	user, hot := "", "" // trees: of some boxes, and of the most
	for tree, count := range unspent {
		if count >= 5 && count <= 40 && !endowed[tree] && (user == "" || tree < user) {
			user = tree
		}
		if hot == "" || count > unspent[hot] {
			hot = tree
		}
	}
	const fee = "1005040004000e36100204a00b08cd0279be667ef9dcbbac55a06295ce870b07029bfcdb2dce28d959f2815b16f81798" +
		"ea02d192a39a8cc7a701730073011001020402d19683030193a38cc7b2a57300000193c2b2a57301007473027303830108cdeeac93b1a57304"
	emission := w.address(n.Txs[0].Outputs[0].Tree)
	box, tx := n.Boxes[len(n.Boxes)/2], n.Txs[len(n.Txs)/2]
	explorer := path + "/api/v1"
	for _, q := range []struct {
		name string
		h    http.Handler
		url  string
	}{
		{"NodeUnspent5", node, "/node/blockchain/box/unspent/byAddress/" + w.address(user)},
		{"NodeUnspentHot5", node, "/node/blockchain/box/unspent/byAddress/" + w.address(hot)},
		{"NodeUnspentHot20", node, "/node/blockchain/box/unspent/byAddress/" + w.address(hot) + "?limit=20"},
		{"NodeBoxById", node, "/node/blockchain/box/byId/" + box.ID},
		{"NodeTxById", node, "/node/blockchain/transaction/byId/" + tx.ID},
		{"NodeTxsByAddress5", node, "/node/blockchain/transaction/byAddress/" + w.address(user)},
		{"NodeBalanceUser", node, "/node/blockchain/balanceForAddress/" + w.address(user)},
		{"NodeBalanceEmission", node, "/node/blockchain/balanceForAddress/" + emission},
		{"NodeBalanceFee", node, "/node/blockchain/balanceForAddress/" + w.address(fee)},
		{"ExplorerUnspent20", w, explorer + "/boxes/unspent/byAddress/" + w.address(user)},
		{"ExplorerUnspentHot20", w, explorer + "/boxes/unspent/byAddress/" + w.address(hot)},
		{"ExplorerBoxes20", w, explorer + "/boxes/byAddress/" + w.address(user)},
		{"ExplorerBoxesHot20", w, explorer + "/boxes/byAddress/" + w.address(hot)},
		{"ExplorerAddressTxs20", w, explorer + "/addresses/" + w.address(user) + "/transactions"},
		{"ExplorerAddressTxsConcise20", w, explorer + "/addresses/" + w.address(user) + "/transactions?concise=true"},
		{"ExplorerBalance", w, explorer + "/addresses/" + w.address(user) + "/balance/confirmed"},
		{"ExplorerBalanceTotal", w, explorer + "/addresses/" + w.address(user) + "/balance/total"},
		{"ExplorerBalanceEmission", w, explorer + "/addresses/" + emission + "/balance/confirmed"},
		{"ExplorerBalanceFee", w, explorer + "/addresses/" + w.address(fee) + "/balance/confirmed"},
		{"ExplorerBoxById", w, explorer + "/boxes/" + box.ID},
	} {
		b.Run(q.name, func(b *testing.B) {
			if a := Ask(b, q.h, q.url, ""); a.Status != http.StatusOK {
				b.Fatalf("%d %s", a.Status, a.Body)
			}
			size := len(Ask(b, q.h, q.url, "").Body)
			b.ReportAllocs()
			before := cpu(b)
			for b.Loop() {
				r := httptest.NewRequestWithContext(b.Context(), http.MethodGet, q.url, nil)
				q.h.ServeHTTP(&discarding{header: http.Header{}}, r)
			}
			b.ReportMetric(float64(cpu(b)-before)/1000/float64(b.N), "cpu-µs/op")
			b.ReportMetric(float64(size), "bytes")
		})
		b.Run(q.name+"HTTP", func(b *testing.B) {
			s := httptest.NewServer(q.h)
			defer s.Close()
			client := s.Client()
			before := cpu(b)
			for b.Loop() {
				a, err := client.Get(s.URL + q.url)
				if err != nil {
					b.Fatal(err)
				}
				if _, err := io.Copy(io.Discard, a.Body); err != nil {
					b.Fatal(err)
				}
				_ = a.Body.Close()
			}
			b.ReportMetric(float64(cpu(b)-before)/1000/float64(b.N), "cpu-µs/op")
		})
	}
}

// cpu returns the processor time of the process in nanoseconds.
func cpu(b *testing.B) int64 {
	b.Helper()
	var u unix.Rusage
	if err := unix.Getrusage(unix.RUSAGE_SELF, &u); err != nil {
		b.Fatal(err)
	}
	return u.Utime.Nano() + u.Stime.Nano()
}

// discarding is a response writer that discards the body.
type discarding struct{ header http.Header }

func (d *discarding) Header() http.Header         { return d.header }
func (d *discarding) Write(b []byte) (int, error) { return len(b), nil }
func (d *discarding) WriteHeader(int)             {}
