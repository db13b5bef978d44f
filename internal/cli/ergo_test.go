package cli

import (
	"context"
	"encoding/json"
	"fmt"
	"math/big"
	"net/http"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"birthmark/api/compat/boxes/boxestest"
	"birthmark/bench/generate/ergogen"
	"birthmark/chains/ergo"
	"birthmark/core"
	"birthmark/core/query"
	"birthmark/core/verify"
	"birthmark/internal/testblocks"
	"birthmark/internal/testnode/ergotest"
	"birthmark/internal/testseed"
	"birthmark/model"
	"birthmark/storage/memory"
)

const (
	everyErgoIndex = "address,ergo_tree_hash,ergo_tree_template_hash,register"

	// allErgs is the value of the genesis boxes. No value is created after them.
	allErgs = "97739925000000000"
)

// ergoSync syncs a database up to the tip of a source.
func ergoSync(t *testing.T, network, db, source string, more ...string) {
	t.Helper()
	ask(t, nil, append([]string{"sync", "--chain", "ergo", "--network", network, "--source", source, "--db", db, "--index", everyErgoIndex}, more...)...)
}

// ergoFile writes a file of blocks and returns its URI.
func ergoFile(t *testing.T, blocks ...ergotest.Block) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "blocks.jsonl")
	if err := ergotest.WriteFile(path, blocks); err != nil {
		t.Fatal(err)
	}
	return "file://" + path
}

// Every transaction of a chain with unusual values, trees and tokens is shown, with its details if the database has its
// bytes, and so is each of its outputs.
func TestOddTransactionsOfErgoAreShown(t *testing.T) {
	t.Parallel()
	rng := testseed.Rand(t)
	blocks := ergotest.Made(ergogen.New(boxestest.Odd(rng)), 6)
	db := filepath.Join(t.TempDir(), "db")
	ergoSync(t, "testnet", db, ergoFile(t, blocks...), "--raw=keep")
	for _, b := range blocks[1:] {
		for _, tx := range ergotest.Txs(b) {
			var shown query.TxAnswer
			ask(t, &shown, "tx", tx.ID.String(), "--db", db)
			if shown.Hash != tx.ID.String() || len(shown.Inputs) != len(tx.Inputs) || shown.Size == 0 {
				t.Errorf("transaction %s: %d inputs, %d bytes", tx.ID, len(shown.Inputs), shown.Size)
			}
			for i, o := range shown.Outputs {
				if o.OutputDetails == nil || o.ErgoTree == "" {
					t.Errorf("output %d of %s has no details", i, tx.ID)
				}
			}
			for i, in := range shown.Inputs {
				if in.InputDetails == nil || in.SpendingProof == nil {
					t.Errorf("input %d of %s has no details", i, tx.ID)
				}
			}
			var output query.OutputAnswer
			ask(t, &output, "output", fmt.Sprintf("%s:0", tx.ID), "--db", db)
		}
	}
}

// The first 2,000 blocks of mainnet from a file and from a node: the database is the same for every source and every
// sequence of syncs.
func TestEverySourceOfErgoGivesOneDatabase(t *testing.T) {
	slow(t)
	t.Parallel()
	path := testblocks.Path(t, "ergo", "ergo-uexplorer", "blocks_first.gz")
	blocks, err := ergotest.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	n := ergotest.New(ergotest.Options{})
	n.Extend(blocks...)
	node, file := n.Start(t), "file://"+path
	dir := t.TempDir()
	whole, parts, other := filepath.Join(dir, "whole"), filepath.Join(dir, "parts"), filepath.Join(dir, "other")

	ergoSync(t, "mainnet", whole, file)
	digest := digestOf(t, whole)
	consistent(t, whole)
	var status query.StatusAnswer
	ask(t, &status, "status", "--db", whole)
	if got := status.Totals; got.Blocks != 2000 || got.GenesisOutputs != 3 || got.UnspentValue != allErgs || got.Unspent != got.Outputs+3-got.Inputs {
		t.Errorf("totals %+v", got)
	}
	ergoSync(t, "mainnet", other, node)
	same(t, other, digest)
	for _, height := range []int{1, 2, 900, 1999} {
		ergoSync(t, "mainnet", parts, node, "--to-height", strconv.Itoa(height))
		ask(t, &status, "status", "--db", parts)
		if int(status.Tip.Height) != height || status.Totals.UnspentValue != allErgs {
			t.Errorf("at height %d: tip %+v, totals %+v", height, status.Tip, status.Totals)
		}
	}
	ergoSync(t, "mainnet", parts, file)
	same(t, parts, digest)
	ask(t, nil, "rollback", "--db", parts, "--to-height", "77")
	consistent(t, parts)
	ergoSync(t, "mainnet", parts, node)
	same(t, parts, digest)

	for _, source := range []string{file, node} {
		var a verify.Result
		ask(t, &a, "verify", "--db", whole, "--source", source, "--sample", "60")
		if !a.OK || a.Tip.Height != 2000 || a.SourceTip != a.Tip {
			t.Errorf("verify with %s: %+v", source, a)
		}
	}
	var box struct {
		Tx      string
		Index   int
		Value   string
		SpentBy struct{ Height uint32 } `json:"spent_by"`
	}
	ask(t, &box, "output", "--db", whole, "71bc9534d4a4fe8ff67698a5d0f29782836970635de8418da39fee1cd964fcbe")
	if box.Tx != "4c6282be413c6e300a530618b37790be5f286ded758accc2aebd41554a1be308" || box.Index != 0 || box.Value != "93409065000000000" || box.SpentBy.Height != 2 {
		t.Errorf("box 0 of block 1 is %+v", box)
	}
}

// The value of the unspent outputs equals that of the genesis after every block.
func TestTheValueOfErgoIsConstant(t *testing.T) {
	slow(t)
	t.Parallel()
	ctx := context.Background()
	path := testblocks.Path(t, "ergo", "ergo-uexplorer", "blocks_first.gz")
	chain, err := ergo.New("")
	if err != nil {
		t.Fatal(err)
	}
	db, err := core.Open(ctx, memory.New(), core.Options{Chain: chain, CacheBytes: 1 << 20})
	if err != nil {
		t.Fatal(err)
	}
	src, err := chain.Open(ctx, model.SourceOptions{URI: "file://" + path, Indexes: db.Indexes()})
	if err != nil {
		t.Fatal(err)
	}
	defer src.Close()
	for e, err := range src.Follow(ctx, nil) {
		if err != nil {
			t.Fatal(err)
		}
		if e.Block == nil {
			continue // the start of the stream
		}
		if err := db.Append(ctx, []*model.Block{e.Block}); err != nil {
			t.Fatal(err)
		}
		status, err := db.Status(ctx)
		if err != nil || status.Totals.UnspentValue != allErgs {
			t.Fatalf("after block %d %+v (%v)", e.Block.Height, status.Totals, err)
		}
	}
	if tip := db.Tip(); tip.Height != 2000 {
		t.Errorf("the tip is %d", tip.Height)
	}
}

// Orphaned blocks leave no trace in the database.
func TestForksOfErgoAreFollowed(t *testing.T) {
	slow(t)
	t.Parallel()
	t.Run("of real blocks", func(t *testing.T) {
		blocks, err := ergotest.ReadFile(testblocks.Path(t, "ergo", "ergo-uexplorer", "blocks_first.gz"))
		if err != nil {
			t.Fatal(err)
		}
		longer := append([]ergotest.Block{}, blocks[:4]...)
		for _, b := range blocks[4:10] {
			if b, err = ergotest.Rehead(b, longer[len(longer)-1].ID); err != nil {
				t.Fatal(err)
			}
			longer = append(longer, b)
		}
		ergoForks(t, "mainnet", blocks[:7], longer, 4)
	})
	for _, depth := range []int{1, 10, 200} {
		t.Run(strconv.Itoa(depth)+" deep", func(t *testing.T) {
			c := ergogen.New(ergogen.Options{Seed: uint64(depth), TxsPerBlock: 3})
			common := ergotest.Made(c, 25)
			f := c.Fork(1)
			branch := func(c *ergogen.Chain, n int) []ergotest.Block {
				return append(append([]ergotest.Block{}, common...), ergotest.Made(c, n)...)
			}
			ergoForks(t, "testnet", branch(c, depth), branch(f, depth+1), 25)
		})
	}
}

// ergoForks switches a database from one chain to the other and back, with files and with a node.
func ergoForks(t *testing.T, network string, one, other []ergotest.Block, common int) {
	dir := t.TempDir()
	fresh := func(name string, blocks []ergotest.Block) (file, digest string) {
		file = ergoFile(t, blocks...)
		ergoSync(t, network, filepath.Join(dir, name), file)
		return file, digestOf(t, filepath.Join(dir, name))
	}
	oneFile, oneDigest := fresh("one", one)
	otherFile, otherDigest := fresh("other", other)
	db := filepath.Join(dir, "files")
	for range 2 {
		ergoSync(t, network, db, oneFile)
		same(t, db, oneDigest)
		ergoSync(t, network, db, otherFile)
		same(t, db, otherDigest)
	}
	consistent(t, db)
	var a query.ForksAnswer
	ask(t, &a, "forks", "--db", db, "--limit", "1")
	if len(a.Forks) != 1 || a.Forks[0].Depth != len(one)-common || int(a.Forks[0].Height) != common+1 {
		t.Errorf("the last fork is %+v", a.Forks)
	}

	chain, err := ergo.New(network)
	if err != nil {
		t.Fatal(err)
	}
	n := ergotest.New(ergotest.Options{Network: network})
	n.Extend(one...)
	f := followInto(t, openInMemory(t, chain, "address", "register"), n.Start(t), 1000)
	for _, to := range [][]ergotest.Block{other, one, other} {
		until(t, "the node's tip", func() bool { return f.Tip() == n.Tip() })
		n.Switch(model.HeightPk(common), to[common:]...)
	}
	until(t, "the node's tip", func() bool { return f.Tip() == n.Tip() })
	if err := f.stop(); err != nil {
		t.Fatal(err)
	}
	fromFile := openInMemory(t, chain, "address", "register")
	syncInMemory(t, fromFile, otherFile)
	equal(t, f.DB, fromFile)
}

// tokens are the amounts of all tokens, computed from the blocks.
type tokens struct {
	boxes  map[string]map[string]uint64 // tokens of each unspent box
	supply map[string]uint64
}

// apply adds or removes a block.
func (k *tokens) apply(t *testing.T, b ergotest.Block) {
	t.Helper()
	var full struct {
		BlockTransactions struct {
			Transactions []struct {
				Inputs  []struct{ BoxID string }
				Outputs []struct {
					BoxID  string
					Assets []struct {
						TokenID string
						Amount  uint64
					}
				}
			}
		}
	}
	if err := json.Unmarshal(b.JSON, &full); err != nil {
		t.Fatal(err)
	}
	for _, tx := range full.BlockTransactions.Transactions {
		for _, in := range tx.Inputs {
			for id, amount := range k.boxes[in.BoxID] {
				k.supply[id] -= amount
			}
			delete(k.boxes, in.BoxID)
		}
		for _, out := range tx.Outputs {
			held := map[string]uint64{}
			for _, a := range out.Assets {
				held[a.TokenID] += a.Amount
				k.supply[a.TokenID] += a.Amount
			}
			k.boxes[out.BoxID] = held
		}
	}
}

// The supply of every token equals the held amount, after every block and after rollbacks. Tokens are minted over
// several boxes, burned in part and completely, twice in a box, and in a box of 255 entries.
func TestTokensOfErgoAddUp(t *testing.T) {
	slow(t)
	t.Parallel()
	chain, err := ergo.New("testnet")
	if err != nil {
		t.Fatal(err)
	}
	blocks := ergotest.Made(ergogen.New(ergogen.Options{Seed: 5, TxsPerBlock: 12}), 70)
	n := ergotest.New(ergotest.Options{Network: "testnet"})
	source := n.Start(t)
	db := openInMemory(t, chain, "address")
	adds := func(k *tokens) {
		t.Helper()
		for id := range k.supply {
			a, err := db.Asset(t.Context(), id)
			if err != nil {
				t.Fatal(err)
			}
			held := new(big.Int)
			for page := (query.Page{Limit: 1000}); ; {
				h, err := db.AssetHolders(t.Context(), id, page)
				if err != nil {
					t.Fatal(err)
				}
				for _, holder := range h.Holders {
					amount, _ := new(big.Int).SetString(holder.Amount, 10)
					held.Add(held, amount)
				}
				if h.Next == nil {
					break
				}
				page.After = *h.Next
			}
			minted, _ := new(big.Int).SetString(a.Minted, 10)
			burned, _ := new(big.Int).SetString(a.Burned, 10)
			want := strconv.FormatUint(k.supply[id], 10)
			if a.Supply != want || held.String() != want || minted.Sub(minted, burned).String() != want {
				t.Fatalf("block %d: of token %s there are %s, %s minted less burned, %s held: expected %s", db.Tip().Height, id, a.Supply, minted, held, want)
			}
		}
	}
	count := func(upTo int) *tokens {
		k := &tokens{map[string]map[string]uint64{}, map[string]uint64{}}
		for _, b := range blocks[:upTo] {
			k.apply(t, b)
		}
		return k
	}
	k := count(0)
	for _, b := range blocks {
		n.Extend(b)
		syncInMemory(t, db, source)
		k.apply(t, b)
		adds(k)
	}
	if len(k.supply) < 20 {
		t.Fatalf("only %d tokens", len(k.supply))
	}
	for _, height := range []int{60, 25, 12} {
		if err := db.Rollback(t.Context(), blocks[height-1].Point()); err != nil {
			t.Fatal(err)
		}
		adds(count(height))
		checkDB(t, db)
	}
	syncInMemory(t, db, source)
	adds(k)
	checkDB(t, db)
}

// Faults of an Ergo source are reported in one line, with the exit status of their kind.
func TestFaultsOfAnErgoSourceAreReported(t *testing.T) {
	t.Parallel()
	blocks := ergotest.Made(ergogen.New(ergogen.Options{Seed: 6, TxsPerBlock: 2}), 5)
	n := ergotest.New(ergotest.Options{Network: "testnet"})
	n.Announce(0, blocks...)
	url := n.Start(t)
	args := func(network, source string) []string {
		return []string{"sync", "--source-wait", "0", "--chain", "ergo", "--network", network, "--db", filepath.Join(t.TempDir(), "db"), "--source", source}
	}
	wantFailure(t, exitSource, "not_synced", "is not synced", args("testnet", url)...)
	n.Deliver()
	wantFailure(t, exitSource, "wrong_network", "ergo testnet: expected mainnet", args("mainnet", url)...)
	n.Prune(4)
	wantFailure(t, exitSource, "pruned", "below 4", args("testnet", url)...)
	n.Prune(0)
	n.Break(func(r *http.Request, a *ergotest.Answer) {
		if r.Method == http.MethodPost {
			a.Body = []byte(strings.Replace(string(a.Body), `"creationHeight":3,`, `"creationHeight":2,`, 1))
		}
	})
	wantFailure(t, exitSource, "bad_block", "block 3 "+blocks[2].ID.String(), args("testnet", url)...)
	wantFailure(t, exitSource, "source_missing", "does not exist", args("testnet", "file:///no/such/file")...)
	wantFailure(t, exitUsage, "bad_source", "expected http", args("testnet", "tcp://127.0.0.1")...)
	wantFailure(t, exitUsage, "unknown_network", "expected mainnet, testnet", args("preview", url)...)
}

// The fee is the value of the outputs to the fee contract, with any indexes.
func TestErgoFeesAreOutputsToTheFeeContract(t *testing.T) {
	t.Parallel()
	const feeTree = "1005040004000e36100204a00b08cd0279be667ef9dcbbac55a06295ce870b07029bfcdb2dce28d959f2815b16f81798" +
		"ea02d192a39a8cc7a701730073011001020402d19683030193a38cc7b2a57300000193c2b2a57301007473027303830108cdeeac93b1a57304"
	blocks := ergotest.Made(ergogen.New(ergogen.Options{Seed: 8, TxsPerBlock: 4}), 12)
	db := filepath.Join(t.TempDir(), "db")
	ask(t, nil, "sync", "--chain", "ergo", "--network", "testnet", "--source", ergoFile(t, blocks...), "--db", db,
		"--index", "ergo_tree_hash")
	fees := map[string]int{}
	for _, b := range blocks[6:] {
		var made struct {
			BlockTransactions struct {
				Transactions []struct {
					ID      string
					Outputs []struct {
						Value    uint64
						ErgoTree string
					}
				}
			}
		}
		if err := json.Unmarshal(b.JSON, &made); err != nil {
			t.Fatal(err)
		}
		for _, tx := range made.BlockTransactions.Transactions {
			var fee uint64
			for _, o := range tx.Outputs {
				if o.ErgoTree == feeTree {
					fee += o.Value
				}
			}
			want := strconv.FormatUint(fee, 10)
			var a query.TxAnswer
			if ask(t, &a, "tx", "--db", db, tx.ID); a.Fee != want {
				t.Errorf("block %d, transaction %s: fee %q, expected %q", b.Height, tx.ID, a.Fee, want)
			}
			fees[want]++
		}
	}
	if len(fees) < 2 {
		t.Errorf("only fees of %v occur", fees)
	}
}
