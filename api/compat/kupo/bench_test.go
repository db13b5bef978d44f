//go:build bench

package kupo_test

import (
	"bytes"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"syscall"
	"testing"
	"time"

	"golang.org/x/crypto/blake2b"

	"birthmark/bench/generate/cardanogen"
	"birthmark/chains/cardano/address"
	"birthmark/chains/cardano/ledger"
	"birthmark/internal/testblocks"
	"birthmark/internal/testnode/cardanotest"
	"birthmark/internal/testnode/ouroborostest"
	"birthmark/model"
	"birthmark/storage/rocks"
	"birthmark/storage/rocks/rockstest"
)

// BenchmarkMatches lists the matches of an address with about 25 outputs, of a transaction, of a policy and of
// everything, on real blocks in RocksDB, without HTTP. cpu-µs/match is the processor time of the process.
func BenchmarkMatches(b *testing.B) {
	w := newWorldIn(b, "preview", true, onDisk(b))
	w.sync(b, "file://"+testblocks.Path(b, "cardano", "dingo-immutable"), 50_939)
	counts := map[string]int{}
	policies := map[string]int{}
	for _, o := range w.naive.outputs {
		counts[address.FormatAny(o.address)]++
		for _, a := range o.assets {
			policies[string(a.ID[:address.PolicySize])]++
		}
	}
	owner, most := "", 0
	for text, n := range counts {
		if n >= 20 && n <= 30 && n > most {
			owner, most = text, n
		}
	}
	policy, largest := "", 0
	for id, n := range policies {
		if n > largest {
			policy, largest = id, n
		}
	}
	for name, url := range map[string]string{
		"Address": "/matches/" + owner, "Transaction": "/matches/*@" + w.naive.outputs[1000].tx.String(),
		"Policy": "/matches/" + hex.EncodeToString([]byte(policy)) + ".*", "All": "/matches",
	} {
		b.Run(name, func(b *testing.B) { w.measure(b, url) })
	}
}

// BenchmarkHotPolicy lists at least 49,000 matches of one policy, that of the hot asset of a generated chain.
func BenchmarkHotPolicy(b *testing.B) {
	c := cardanogen.New(cardanogen.Options{Seed: 1, TxsPerBlock: 50})
	dir := b.TempDir()
	if err := c.Genesis().Write(dir); err != nil {
		b.Fatal(err)
	}
	w := newWorldIn(b, dir, true, onDisk(b))
	n := ouroborostest.Start(b, cardanogen.DefaultMagic, branch(b, c, 200))
	policy := c.HotAsset()[:address.PolicySize]
	for matches, seen := 0, 0; matches < 49_000; n.Extend(branch(b, c, 200)...) {
		w.sync(b, n.TCP(), model.HeightPk(n.Tip().Number))
		for _, o := range w.naive.outputs[seen:] {
			if slices.ContainsFunc(o.assets, func(a model.Asset) bool { return bytes.HasPrefix(a.ID, policy) }) {
				matches++
			}
		}
		seen = len(w.naive.outputs)
		b.Logf("block %d: %d matches", n.Tip().Number, matches)
	}
	b.ResetTimer()
	w.measure(b, "/matches/"+hex.EncodeToString(policy)+".*")
}

// BenchmarkPolicy lists 50,000 matches of one policy, whose outputs have one asset each, in 10,000 transactions.
func BenchmarkPolicy(b *testing.B) {
	const blocks, txs, tokens = 500, 20, 5
	c := cardanogen.New(cardanogen.Options{Seed: 1})
	dir := b.TempDir()
	if err := c.Genesis().Write(dir); err != nil {
		b.Fatal(err)
	}
	w := newWorldIn(b, dir, true, onDisk(b))
	all := branch(b, c, 1)
	n := ouroborostest.Start(b, cardanogen.DefaultMagic, all)
	w.sync(b, n.TCP(), 0)
	first := w.naive.outputs[slices.IndexFunc(w.naive.outputs, func(o *output) bool { return o.spent == nil && len(o.assets) == 0 })]
	spent, index, policy := first.tx, first.index, cardanotest.Filled(28, 9)
	recipient := func(i int) []byte {
		return binary.BigEndian.AppendUint32(append([]byte{0x60}, cardanotest.Filled(24, 3)...), uint32(i%3000))
	}
	var raws [][]byte
	parent := all[0].Hash
	for at := range blocks {
		bodies, witnesses := cardanotest.List{}, cardanotest.List{}
		for i := range txs {
			outputs, minted := cardanotest.List{cardanotest.List{recipient(at), 1_000_000}}, []any{}
			for range tokens {
				name := fmt.Appendf(nil, "Token%05d", (at*txs+i)*tokens+len(outputs))
				value := cardanotest.List{1_200_000, cardanotest.Endless(b, 0xbf, policy, cardanotest.Endless(b, 0xbf, name, 1))}
				outputs, minted = append(outputs, cardanotest.List{recipient(at*txs + i), value}), append(minted, name, 1)
			}
			body := cardanotest.Raw(b, cardanotest.Dict{
				0: cardanotest.List{cardanotest.List{spent[:], index}}, 1: outputs, 2: 170_000,
				9: cardanotest.Endless(b, 0xbf, policy, cardanotest.Endless(b, 0xbf, minted...)),
			})
			spent, index = blake2b.Sum256(body), 0
			bodies = append(bodies, body)
			witnesses = append(witnesses, cardanotest.Dict{0: cardanotest.List{cardanotest.List{cardanotest.Filled(32, 7), cardanotest.Filled(64, 8)}}})
		}
		raw := cardanotest.BlockAt(b, ledger.EraConway, all[0].Number+1+uint64(at), all[0].Slot+20*uint64(at+1), parent[:], cardanotest.Raw(b, bodies),
			cardanotest.Raw(b, witnesses), cardanotest.Raw(b, cardanotest.Dict{}), cardanotest.Raw(b, cardanotest.List{}))
		next, err := ouroborostest.Blocks(raw)
		if err != nil {
			b.Fatal(err)
		}
		raws, parent = append(raws, raw), next[0].Hash
	}
	next, err := ouroborostest.Blocks(raws...)
	if err != nil {
		b.Fatal(err)
	}
	n.Extend(next...)
	w.sync(b, n.TCP(), model.HeightPk(n.Tip().Number))
	b.ResetTimer()
	w.measure(b, "/matches/"+hex.EncodeToString(policy)+".*")
}

// onDisk returns an empty store of RocksDB.
func onDisk(b *testing.B) *rocks.Store {
	return rockstest.OpenWith(b, b.TempDir()+"/db", rocks.Options{WAL: true, BlockCache: 64 << 20, WriteBuffers: 64 << 20})
}

// measure requests a list.
func (w *world) measure(b *testing.B, url string) {
	a := w.ask(b, http.MethodGet, url)
	matches := len(w.get(b, url).([]any))
	b.ReportAllocs()
	before := processorTime(b)
	for b.Loop() {
		r := httptest.NewRequestWithContext(b.Context(), http.MethodGet, path+url, nil)
		w.ServeHTTP(discarding{http.Header{}}, r)
	}
	cpu := float64((processorTime(b) - before).Nanoseconds()) / 1000 / float64(b.N)
	b.ReportMetric(cpu, "cpu-µs/op")
	b.ReportMetric(cpu/float64(matches), "cpu-µs/match")
	b.ReportMetric(float64(matches), "matches")
	b.ReportMetric(float64(len(a.body))/float64(matches), "bytes/match")
}

// processorTime returns the processor time of the process so far.
func processorTime(b *testing.B) time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		b.Fatal(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// discarding is a response writer that discards the body.
type discarding struct{ header http.Header }

func (d discarding) Header() http.Header         { return d.header }
func (d discarding) Write(b []byte) (int, error) { return len(b), nil }
func (d discarding) WriteHeader(int)             {}
