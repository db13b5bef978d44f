package cardanogen_test

import (
	"encoding/hex"
	"fmt"
	"math/big"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"birthmark/api/compat/blockfrost"
	"birthmark/api/compat/utxo"
	"birthmark/bench/generate/cardanogen"
	"birthmark/chains/cardano"
	"birthmark/chains/cardano/body"
	"birthmark/chains/cardano/ledger"
	"birthmark/core"
	"birthmark/core/coretest"
	"birthmark/internal/testrun"
	"birthmark/internal/testseed"
	"birthmark/model"
	"birthmark/storage/memory"
)

// chainOf returns the chain of the genesis of a generated one.
func chainOf(t *testing.T, c *cardanogen.Chain) model.Chain {
	t.Helper()
	dir := t.TempDir()
	if err := c.Genesis().Write(dir); err != nil {
		t.Fatal(err)
	}
	chain, err := cardano.New(dir)
	if err != nil {
		t.Fatal(err)
	}
	return chain
}

// wholeLedger adds the deposits, rewards and scripts of transactions to a ledger.
type wholeLedger struct {
	chain   model.Chain
	seen    map[string]int
	pools   map[string]bool
	scripts map[string]string // reference scripts, by outpoint
}

// balance returns the lovelace that a transaction has in addition to its inputs, less what its outputs do not get, and
// checks that each redeemer is for a script that the transaction has or refers to.
func (l *wholeLedger) balance(t *testing.T, tx *model.Tx) *big.Int {
	t.Helper()
	d, err := l.chain.(model.TxDescriber).DescribeTx(tx.Raw, nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	raw, err := ledger.ReadRaw(tx.Raw)
	if err != nil {
		t.Fatal(err)
	}
	b, err := body.Read(raw.Body)
	if err != nil {
		t.Fatal(err)
	}
	sum, valid := new(big.Int), d.Valid == nil || *d.Valid
	add := func(n int64) { sum.Add(sum, big.NewInt(n)) }
	for _, c := range d.Certificates {
		l.seen[c.Type]++
		switch c.Type {
		case "stake_registration", "reg", "stake_reg_deleg", "vote_reg_deleg", "stake_vote_reg_deleg":
			add(-2_000_000)
		case "stake_deregistration", "unreg":
			add(2_000_000)
		case "reg_drep":
			add(-500_000_000)
		case "unreg_drep":
			add(500_000_000)
		case "pool_registration":
			if !l.pools[c.Pool] {
				add(-500_000_000)
			}
			l.pools[c.Pool] = l.pools[c.Pool] || valid
		case "pool_retirement":
			l.pools[c.Pool] = l.pools[c.Pool] && !valid
		}
	}
	for _, w := range d.Withdrawals {
		n, _ := new(big.Int).SetString(w.Amount, 10)
		sum.Add(sum, n)
		l.seen["withdrawal"]++
	}
	for i, item := range b.Proposals {
		p, ok := body.ReadProposal(item)
		if !ok {
			t.Fatalf("proposal %d of %s cannot be read", i, tx.Hash)
		}
		add(-int64(p.Deposit))
		l.seen[body.Actions[p.Kind]]++
	}
	add(-int64(b.Donation))
	for _, v := range d.Votes {
		l.seen["vote of "+v.Voter[:4]]++
	}
	l.run(t, tx, d, raw, &b)
	for i, o := range d.Outputs {
		if o.ScriptRef != nil {
			l.scripts[outpoint(tx.Hash, tx.OutputIndex(i))] = o.ScriptRef.Hash
			l.seen["reference to "+o.ScriptRef.Language]++
		}
	}
	if !valid {
		return new(big.Int)
	}
	return sum
}

// run checks that the scripts of the redeemers are there, and counts the kinds.
func (l *wholeLedger) run(t *testing.T, tx *model.Tx, d *model.TxDescription, raw *ledger.RawTx, b *body.Body) {
	t.Helper()
	has := map[string]bool{}
	for _, s := range d.Scripts {
		has[s.Hash] = true
		l.seen["script of "+s.Language]++
		if text, _ := l.chain.(model.ScriptPrinter).PrintScript(s.Language, mustHex(s.Raw), 1<<20); text != "" {
			for _, kind := range []string{"signature of", "all of", "any of", "at least", "from slot", "before slot"} {
				l.seen[kind] += strings.Count(text, kind)
			}
		}
	}
	for _, in := range d.ReferenceInputs {
		has[l.scripts[fmt.Sprintf("%s:%d", in.Tx, in.Index)]] = true
	}
	for _, r := range ledger.ReadWitnesses(raw.Witnesses).Redeemers {
		l.seen["redeemer of "+r.PurposeName()]++
		if r.Purpose == ledger.PurposeSpend {
			continue // its script is in the address
		}
		if script := hex.EncodeToString(b.ScriptOf(&r, nil)); !has[script] {
			t.Errorf("transaction %s has no script %q for its redeemer %s %d", tx.Hash, script, r.PurposeName(), r.Index)
		}
	}
}

func mustHex(text string) []byte {
	b, err := hex.DecodeString(text)
	if err != nil {
		panic(err)
	}
	return b
}

// wanted are the parts that a chain with all parts has.
var wanted = strings.Split("stake_registration stake_deregistration stake_delegation pool_registration pool_retirement "+
	"genesis_key_delegation move_instantaneous_rewards reg unreg vote_deleg stake_vote_deleg stake_reg_deleg vote_reg_deleg "+
	"stake_vote_reg_deleg auth_committee_hot resign_committee_cold reg_drep unreg_drep update_drep withdrawal parameter_change "+
	"hard_fork_initiation treasury_withdrawals no_confidence new_committee new_constitution info_action", " ")

func init() {
	for before, names := range map[string]string{
		"redeemer of ": "spend mint cert reward vote propose", "script of ": "native plutus_v1 plutus_v2 plutus_v3",
		"reference to ": "native plutus_v1 plutus_v2 plutus_v3", "vote of ": "cc_h drep pool", "era ": "shelley allegra mary alonzo babbage conway",
	} {
		for _, name := range strings.Split(names, " ") {
			wanted = append(wanted, before+name)
		}
	}
	wanted = append(wanted, "signature of", "all of", "any of", "at least", "from slot", "before slot", "failed")
}

// A chain with all parts has each part of the CDDL of its eras, in the order of the ledger, and follows the rules for blocks.
func TestChainWithAllParts(t *testing.T) {
	c := cardanogen.New(cardanogen.Options{Seed: testseed.Of(t, 5), TxsPerBlock: 12, AllParts: true})
	w := &wholeLedger{chain: chainOf(t, c), seen: map[string]int{}, pools: map[string]bool{}, scripts: map[string]string{}}
	l := ledgerOf(t)
	l.more = w.balance
	blocks := blocksOf(t, w.chain, c, 300)
	for _, b := range blocks {
		w.seen["era "+ledger.EraNames[b.Header[0]]]++
		l.apply(b)
	}
	made := c.Made()
	made.Bytes = 0
	l.counts.Outputs -= c.Genesis().Outputs
	if w.seen["failed"] = l.counts.Failed; l.counts != made {
		t.Errorf("%+v was read, %+v written", l.counts, made)
	}
	for _, what := range wanted {
		if w.seen[what] == 0 {
			t.Errorf("no %s in %d transactions", what, made.Txs)
		}
	}
	t.Log(w.seen)
}

// blocksOf decodes the next blocks of a chain, with the genesis in the first.
func blocksOf(t *testing.T, chain model.Chain, c *cardanogen.Chain, n int) (blocks []*model.Block) {
	t.Helper()
	var raws []byte
	for range n {
		raws = append(raws, c.Next().Raw...)
	}
	path := filepath.Join(t.TempDir(), "00000.chunk")
	if err := os.WriteFile(path, raws, 0o600); err != nil {
		t.Fatal(err)
	}
	src, err := chain.Open(t.Context(), model.SourceOptions{URI: "file://" + path, Indexes: namesOf(chain), Raw: true})
	if err != nil {
		t.Fatal(err)
	}
	defer src.Close()
	for e, err := range src.Follow(t.Context(), nil) {
		if err != nil {
			t.Fatal(err)
		}
		blocks = append(blocks, e.Block)
	}
	return blocks
}

func namesOf(chain model.Chain) (names []string) {
	for _, x := range chain.Indexes() {
		names = append(names, x.Name)
	}
	return names
}

// openWith opens a database in memory with every index and option.
func openWith(t *testing.T, chain model.Chain) *core.DB {
	t.Helper()
	o := core.Options{Chain: chain, Raw: true, Keep: map[string]model.IndexOptions{}, CacheBytes: 4 << 20}
	o.Indexes = append(namesOf(chain), cardano.PoolIndex, model.StatisticsIndex)
	for _, name := range namesOf(chain) {
		o.Keep[name] = model.IndexOptions{Balance: true, Unspent: true, History: true, Prefix: true, Statistics: name == "address"}
	}
	db, err := core.Open(t.Context(), memory.New(), o)
	if err != nil {
		t.Fatal(err)
	}
	return db
}

// Databases of a chain with all parts do not depend on batches, and a rollback undoes each block.
func TestInvariantsOfAllParts(t *testing.T) {
	c := cardanogen.New(cardanogen.Options{Seed: testseed.Rand(t).Uint64(), TxsPerBlock: 5, AllParts: true})
	chain, err := chainOf(t, c).Define([]model.Definition{blockfrost.Labels, blockfrost.Subjects, blockfrost.Scripts, utxo.FailedDatums, utxo.FailedScripts})
	if err != nil {
		t.Fatal(err)
	}
	blocks := blocksOf(t, chain, c, testrun.Amount(90, 60))
	db := openWith(t, chain)
	dumps := []coretest.Dumped{coretest.Dump(t, db)}
	for i := range blocks {
		coretest.AppendAll(t, db, blocks[i:i+1], 1)
		dumps = append(dumps, coretest.Dump(t, db))
	}
	coretest.Consistent(t, db)
	for _, batch := range []int{7, len(blocks)} {
		other := openWith(t, chain)
		coretest.AppendAll(t, other, blocks, batch)
		coretest.Same(t, fmt.Sprintf("in batches of %d", batch), coretest.Dump(t, other), dumps[len(blocks)])
	}
	for i := len(blocks) - 2; i >= 0; i-- {
		coretest.Rollback(t, db, blocks[i].Point())
		coretest.Same(t, fmt.Sprintf("rolled back to %d", i), coretest.Dump(t, db), dumps[i+1])
	}
	coretest.AppendAll(t, db, blocks[1:], 3)
	coretest.Same(t, "appended again", coretest.Dump(t, db), dumps[len(blocks)])
	coretest.Consistent(t, db)
}
