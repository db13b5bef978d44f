package explorer

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/big"
	"net/http"
	"slices"
	"strings"
	"testing"

	"birthmark/api/compat/utxo"
	"birthmark/api/explorer/format"
	"birthmark/bench/generate"
	"birthmark/chains"
	"birthmark/core"
	"birthmark/core/coretest"
	"birthmark/core/query"
	"birthmark/internal/humanize"
	"birthmark/internal/testrun"
	"birthmark/internal/testseed"
	"birthmark/model"
	"birthmark/storage/memory"
)

// governed returns a database of a generated chain with certificates, votes and proposals, and its valid transactions
// with outputs.
func governed(t *testing.T, more ...string) (db *core.DB, valid []*query.TxAnswer) {
	t.Helper()
	return governedChain(t, generate.Options{Seed: testseed.Of(t, 6), Txs: 1500, TxsPerBlock: 8, AllParts: true}, more...)
}

func governedChain(t *testing.T, o generate.Options, more ...string) (db *core.DB, valid []*query.TxAnswer) {
	t.Helper()
	made, err := generate.Write(t.Context(), "cardano", t.TempDir(), o, nil)
	if err != nil {
		t.Fatal(err)
	}
	chain, err := chains.New("cardano", made.Network)
	if err == nil {
		chain, err = chain.Define([]model.Definition{utxo.Subjects})
	}
	if err != nil {
		t.Fatal(err)
	}
	db, err = core.Open(t.Context(), memory.New(), core.Options{Chain: chain, Raw: true, CacheBytes: 16 << 20, Indexes: append(more, "address", "stake_credential")})
	if err != nil {
		t.Fatal(err)
	}
	src, err := chain.Open(t.Context(), model.SourceOptions{URI: "file://" + made.Path, Indexes: db.Indexes(), Raw: true})
	if err != nil {
		t.Fatal(err)
	}
	defer src.Close()
	if err := core.Sync(t.Context(), db, src, core.SyncOptions{}); err != nil {
		t.Fatal(err)
	}
	coretest.Consistent(t, db)
	for _, tx := range txsOf(t, db) {
		if (tx.Valid == nil || *tx.Valid) && len(tx.Outputs) > 0 { // the first output of a transaction has its names
			valid = append(valid, tx)
		}
	}
	return db, valid
}

// tableRows returns the cells of the rows of the table in a section, joined by spaces.
func (d *document) tableRows(id string) (rows []string) {
	for _, n := range d.each("section") {
		if by, _ := attr(n, "aria-labelledby"); by != id {
			continue
		}
		for row := range n.Descendants() {
			if row.Data != "tr" {
				continue
			}
			var cells []string
			for cell := range row.Descendants() {
				if cell.Data == "td" {
					cells = append(cells, textOf(cell))
				}
			}
			if len(cells) > 0 {
				rows = append(rows, strings.Join(cells, " "))
			}
		}
	}
	return rows
}

// ballots is the votes of a chain, by a model that reads all transactions in their order.
type ballots struct {
	last  map[[2]string]string // choices by action and voter
	count map[string]int       // votes by action or voter
}

func ballotsOf(txs []*query.TxAnswer) *ballots {
	b := &ballots{map[[2]string]string{}, map[string]int{}}
	for _, tx := range txs {
		for _, v := range tx.Votes {
			b.last[[2]string{v.Action, v.Voter}] = v.Choice
			b.count[v.Action]++
			b.count[v.Voter]++
		}
	}
	return b
}

// of returns the numbers of the choices of the last votes that match.
func (b *ballots) of(match func(action, voter string) bool) string {
	n := map[string]int{}
	for of, choice := range b.last {
		if match(of[0], of[1]) {
			n[choice]++
		}
	}
	return fmt.Sprintf("%d %d %d", n["yes"], n["no"], n["abstain"])
}

// The page of a governance action counts the last vote of each voter, that of a voter its last vote on each action, as a
// model does that reads all transactions. Their lists have all votes.
func TestVotesEqualTheModel(t *testing.T) {
	testrun.Slow(t)
	db, txs := governed(t, utxo.Subjects.Name)
	h := explorerOf(t, chainOf("cardano", db, nil))
	b := ballotsOf(txs)
	checked := map[string]int{}
	actions, voters := map[string]bool{}, map[string]bool{}
	for of := range b.last {
		actions[of[0]], voters[of[1]] = true, true
	}
	listed := func(name string, parts []*document) {
		rows := 0
		for _, d := range parts {
			if rows += strings.Count(d.section("votes"), " UTC"); strings.Contains(d.section("votes"), "more vote") {
				return // more than a page shows
			}
		}
		checked["list"]++
		if rows != b.count[name] {
			t.Errorf("%s lists %d votes, expected %d", name, rows, b.count[name])
		}
	}
	for action := range actions {
		if checked["action"]++; checked["action"] > 25 {
			break
		}
		parts := pages(t, h, "/cardano/governance/"+action)
		listed(action, parts)
		var want []string
		for _, role := range [][2]string{{"cc_hot", "committee members "}, {"drep", "representatives "}, {"pool", "pools "}} {
			want = append(want, role[1]+b.of(func(a, v string) bool { return a == action && strings.HasPrefix(v, role[0]) }))
		}
		if got := parts[0].tableRows("result"); !slices.Equal(got, want) {
			t.Errorf("%s: %q, expected %q", action, got, want)
		}
	}
	for voter := range voters {
		role, _, _ := strings.Cut(voter, "1")
		if checked[role]++; checked[role] > 10 {
			continue
		}
		parts := pages(t, h, "/cardano/governance/"+voter)
		listed(voter, parts)
		want := b.of(func(_, v string) bool { return v == voter })
		if got := parts[0].tableRows("result"); !slices.Equal(got, []string{want}) {
			t.Errorf("%s: %q, expected %q", voter, got, want)
		}
	}
	for _, what := range []string{"action", "drep", "pool", "cc_hot", "list"} {
		if checked[what] == 0 {
			t.Errorf("no %s was checked", what)
		}
	}
}

// An action on which every voter of a chain votes, and a proposal with 500 members of the committee, have small pages. The
// result is that of the model, or missing with a reason. BIRTHMARK_ROUNDS=80000 makes 15,000 transactions with votes.
func TestActionOfManyVotes(t *testing.T) {
	testrun.Slow(t)
	db, txs := governedChain(t, generate.Options{Seed: testseed.Of(t, 8), Txs: testrun.Rounds(t, 4000), TxsPerBlock: 40, AllParts: true, Crowded: true},
		utxo.Subjects.Name)
	h := explorerOf(t, chainOf("cardano", db, nil))
	b := ballotsOf(txs)
	if len(b.last) == 0 {
		t.Fatal("no votes")
	}
	voted, action := map[string]bool{}, ""
	for _, tx := range txs {
		if len(tx.Votes) > 0 {
			voted[tx.Hash], action = true, tx.Votes[0].Action
		}
	}
	d := read(t, h, "/cardano/governance/"+action, http.StatusOK)
	var want []string
	for _, role := range [][2]string{{"cc_hot", "committee members "}, {"drep", "representatives "}, {"pool", "pools "}} {
		want = append(want, role[1]+b.of(func(a, v string) bool { return a == action && strings.HasPrefix(v, role[0]) }))
	}
	got := d.tableRows("result")
	missing := strings.Contains(d.main(), "too many votes to count")
	t.Logf("%d transactions with %d votes, a page of %d bytes; the result is missing: %t", len(voted), b.count[action], len(d.text), missing)
	if !missing && !slices.Equal(got, want) || missing && len(got) > 0 {
		t.Errorf("%q, expected %q", got, want)
	}
	large := 0
	for _, tx := range txs {
		for _, p := range tx.Proposals {
			if len(p.Added) < 100 || large == 3 {
				continue
			}
			large++
			d := read(t, h, "/cardano/governance/"+p.Action, http.StatusOK)
			d.has(t, "481 more")
			if len(d.text) > 60_000 {
				t.Errorf("%s: %d bytes", p.Action, len(d.text))
			}
		}
	}
	if len(d.text) > 60_000 || large == 0 {
		t.Errorf("%d bytes, %d large committees", len(d.text), large)
	}
}

// The list of governance actions has every proposal, newest first, unless its transaction has more than a few, and each
// has a page. Representatives and committee members have their certificates.
func TestGovernanceHasEveryProposal(t *testing.T) {
	testrun.Slow(t)
	db, txs := governed(t, utxo.Subjects.Name)
	h := explorerOf(t, chainOf("cardano", db, nil))
	parts := pages(t, h, "/cardano/governance")
	parts[0].has(t, "Representatives", "Committee")
	links := func(path string) (n int) {
		for _, d := range parts {
			n += d.count(path)
		}
		return n
	}
	proposals, dreps := 0, 0
	types := map[string]bool{}
	for _, tx := range slices.Backward(txs) {
		for i, p := range tx.Proposals {
			proposals++
			path := "/cardano/governance/" + p.Action
			if n := links(path); n != 1 && i < proposalsPerTx || n > 0 && i >= proposalsPerTx {
				t.Errorf("%d links to proposal %d of %s", n, i, tx.Hash)
			}
			if types[p.Type] && proposals > 20 {
				continue
			}
			types[p.Type] = true
			d := read(t, h, path, http.StatusOK)
			d.has(t, format.Capital(strings.ReplaceAll(p.Type, "_", " ")), p.Action, tx.Hash, p.ReturnAddress, "Blocks do not state the outcome")
			if p.URL != "" {
				d.has(t, p.URL, p.Hash)
			}
			for i, w := range p.Withdrawals {
				if i < paymentsShown {
					d.has(t, w.Address)
				}
			}
			if to := searchFor(t, h, "/cardano/search", p.Action).Header.Get("Location"); to != path {
				t.Errorf("the search for %s leads to %q", p.Action, to)
			}
			of := read(t, h, "/cardano/tx/"+tx.Hash, http.StatusOK)
			if i == 0 && !strings.Contains(of.section("proposals"), "action") && !strings.Contains(of.main(), "more") {
				t.Errorf("%s does not have its proposals: %q", of.path, of.section("proposals"))
			}
		}
		for _, c := range tx.Certificates {
			if c.Type == "reg_drep" && dreps < 5 {
				dreps++
				path := "/cardano/governance/" + c.DRep
				if !slices.ContainsFunc(pages(t, h, path), func(d *document) bool {
					return strings.Contains(d.section("certificates"), "reg drep") && d.count("/cardano/tx/"+tx.Hash) > 0
				}) {
					t.Errorf("%s does not have its registration in %s", path, tx.Hash)
				}
				if to := searchFor(t, h, "/cardano/search", c.DRep).Header.Get("Location"); to != path {
					t.Errorf("the search for %s leads to %q", c.DRep, to)
				}
				read(t, h, "/cardano/index/subject/"+c.DRep, http.StatusOK).has(t, "votes and certificates")
			}
		}
	}
	if len(types) < 4 || dreps == 0 {
		t.Errorf("%d proposals of the types %v, %d representatives", proposals, types, dreps)
	}
}

// votersOfNode is a node that has one representative.
type votersOfNode struct {
	model.Source
	drep  string
	state *model.VoterState
	fails error
}

func (n votersOfNode) VoterState(_ context.Context, id string) (*model.VoterState, error) {
	if id != n.drep {
		return nil, n.fails
	}
	return n.state, n.fails
}

// Pages of governance show the command that adds the index. The state of a representative comes from the node.
func TestGovernanceWithoutTheIndex(t *testing.T) {
	db, txs := governed(t)
	served := chainOf("cardano", db, nil)
	h := explorerOf(t, served)
	const command = "birthmark index add subject --index blockfrost"
	read(t, h, "/cardano/governance", http.StatusOK).has(t, command)
	action, drep, hash := "", "", ""
	for _, tx := range txs {
		if len(tx.Proposals) > 0 {
			action, hash = tx.Proposals[0].Action, tx.Hash
		}
		for _, c := range tx.Certificates {
			if c.Type == "reg_drep" {
				drep = c.DRep
			}
		}
	}
	if action == "" || drep == "" {
		t.Fatal("the chain has no proposal or no representative")
	}
	read(t, h, "/cardano/governance/"+action, http.StatusOK).has(t, command, hash)
	read(t, h, "/cardano/governance/"+drep, http.StatusOK).has(t, command)
	if to := searchFor(t, h, "/cardano/search", action).Header.Get("Location"); to != "/cardano/governance/"+action {
		t.Errorf("the search leads to %q", to)
	}
	state := &model.VoterState{Registered: true, Expires: 1234, Power: "5000000000000", Delegators: []string{"stake_test1made", "stake_test1other"}}
	served.Node = votersOfNode{drep: drep, state: state}
	read(t, h, "/cardano/governance/"+drep, http.StatusOK).has(t, "As the node has it now", "up to epoch 1,234", "Voting power5,000,000", "Delegators2", "stake_test1other")
	state.Expired = true
	for range delegatorsShown {
		state.Delegators = append(state.Delegators, "stake_test1another")
	}
	read(t, h, "/cardano/governance/"+drep, http.StatusOK).has(t, "Activeno up to", "And 2 more")
	served.Node = votersOfNode{drep: drep, fails: errors.New("the node is gone")}
	if d := read(t, h, "/cardano/governance/"+drep, http.StatusOK); strings.Contains(d.main(), "Voting power") {
		t.Errorf("%s has the state of a node that fails", d.path)
	}
	for _, name := range []string{"x", action + "x", hash, "gov_action1"} {
		read(t, h, "/cardano/governance/"+name, http.StatusNotFound)
	}
	bitcoin := explorerOf(t, chainOf("bitcoin", emptyBitcoin(t), nil))
	read(t, bitcoin, "/bitcoin/governance", http.StatusNotFound).has(t, "has no governance")
	read(t, bitcoin, "/bitcoin/governance/"+drep, http.StatusNotFound).has(t, "has no governance")
	if d := read(t, bitcoin, "/bitcoin", http.StatusOK); d.count("/bitcoin/governance") > 0 {
		t.Error("the navigation of Bitcoin has the governance")
	}
}

// emptyBitcoin returns an empty database of Bitcoin.
func emptyBitcoin(t *testing.T) *core.DB {
	t.Helper()
	chain, err := chains.New("bitcoin", "regtest")
	if err != nil {
		t.Fatal(err)
	}
	db, err := core.Open(t.Context(), memory.New(), core.Options{Chain: chain, CacheBytes: 1 << 20})
	if err != nil {
		t.Fatal(err)
	}
	return db
}

// The page of an account has the sum of its withdrawals in each epoch, as a model has them that reads all transactions.
func TestWithdrawalsByEpoch(t *testing.T) {
	testrun.Slow(t)
	db, txs := governed(t, utxo.Subjects.Name)
	h := explorerOf(t, chainOf("cardano", db, nil))
	unit := humanize.UnitOf(db.Chain())
	sums, counts := map[string]map[int]*big.Int{}, map[string]int{}
	for _, tx := range txs {
		b, err := db.Block(t.Context(), tx.BlockHash)
		if err != nil {
			t.Fatal(err)
		}
		for _, w := range tx.Withdrawals {
			if sums[w.Address] == nil {
				sums[w.Address] = map[int]*big.Int{}
			}
			epoch := epochOf(t, b.Header)
			if sums[w.Address][epoch] == nil {
				sums[w.Address][epoch] = new(big.Int)
			}
			sums[w.Address][epoch].Add(sums[w.Address][epoch], format.Integer(w.Amount))
			counts[w.Address]++
		}
	}
	checked := 0
	for account, of := range sums {
		if checked++; checked > 30 {
			break
		}
		d := read(t, h, "/cardano/index/stake_credential/"+account, http.StatusOK)
		d.has(t, "Withdrawals of rewards", humanize.Plural(counts[account], "withdrawal"))
		total, got := new(big.Int), map[int]string{}
		for _, row := range d.tableRows("withdrawals") {
			var epoch int
			text, amount, _ := strings.Cut(row, " ")
			if _, err := fmt.Sscan(strings.ReplaceAll(text, ",", ""), &epoch); err != nil {
				t.Fatalf("%s: %q", d.path, row)
			}
			got[epoch] = amount
		}
		for epoch, n := range of {
			total.Add(total, n)
			if want := format.AmountOf(unit, n.String()).String(); got[epoch] != want && len(got) < 30 {
				t.Errorf("%s: %q in epoch %d, expected %q", d.path, got[epoch], epoch, want)
			}
			delete(got, epoch)
		}
		for epoch, amount := range got {
			if !strings.HasPrefix(amount, "0") {
				t.Errorf("%s: %q in epoch %d, expected none", d.path, amount, epoch)
			}
		}
		if text := d.section("withdrawals"); !strings.Contains(text, format.AmountOf(unit, total.String()).String()) {
			t.Errorf("%s: %q, expected a total of %s", d.path, text, total)
		}
	}
	if checked == 0 {
		t.Error("no account withdraws")
	}
}

// epochOf returns the epoch in the header of an answer.
func epochOf(t *testing.T, header any) int {
	t.Helper()
	text, err := json.Marshal(header)
	if err != nil {
		t.Fatal(err)
	}
	var h struct {
		Epoch *int `json:"epoch"`
	}
	if err := json.Unmarshal(text, &h); err != nil || h.Epoch == nil {
		t.Fatalf("the header %s has no epoch (%v)", text, err)
	}
	return *h.Epoch
}
