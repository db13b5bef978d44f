package blockfrost_test

import (
	"bytes"
	"context"
	"fmt"
	"math/big"
	"net/http/httptest"
	"reflect"
	"strings"
	"testing"
	"time"

	gcbor "github.com/blinklabs-io/gouroboros/cbor"
	"github.com/blinklabs-io/gouroboros/ledger/common"
	"github.com/blinklabs-io/gouroboros/ledger/conway"

	"birthmark/api/compat/answertest"
	"birthmark/api/compat/blockfrost"
	"birthmark/api/served"
	"birthmark/bench/generate/cardanogen"
	"birthmark/chains/cardano/address"
	"birthmark/core/pending"
	"birthmark/core/query"
	"birthmark/internal/testblocks"
	"birthmark/internal/testnode/ouroborostest"
	"birthmark/internal/testrun"
	"birthmark/model"
)

// nodeWorld is a world with a node of the same chain.
type nodeWorld struct {
	*world
	node    *ouroborostest.Node
	mempool *pending.Follower
	made    []ouroborostest.Block // the first of them are the node's at the start
	rest    []ouroborostest.Block // after the node's tip at the start
}

// generated returns a world of generated blocks of Conway, of which the node has the first 20.
func generated(t *testing.T) *nodeWorld {
	t.Helper()
	return generatedWith(t, 50*time.Millisecond)
}

// generatedWith is generated with a pause between two lists of the mempool, and with changes of its source.
func generatedWith(t *testing.T, pause time.Duration, changes ...func(model.Source) model.Source) *nodeWorld {
	t.Helper()
	g := cardanogen.New(cardanogen.Options{Seed: 5})
	dir := t.TempDir()
	if err := g.Genesis().Write(dir); err != nil {
		t.Fatal(err)
	}
	var raws [][]byte
	for range 24 {
		raws = append(raws, g.NextOf(12).Raw)
	}
	blocks, err := ouroborostest.Blocks(raws...)
	if err != nil {
		t.Fatal(err)
	}
	return beside(t, dir, cardanogen.DefaultMagic, blocks, 19, pause, changes...)
}

// beside starts a node with the blocks up to a height, and serves a database of it. pause is between two lists of the
// mempool, whose source changes.
func beside(
	t *testing.T, network string, magic uint32, blocks []ouroborostest.Block, to model.HeightPk, pause time.Duration,
	changes ...func(model.Source) model.Source,
) *nodeWorld {
	t.Helper()
	n := &nodeWorld{world: newWorld(t, network), node: ouroborostest.Start(t, magic, blocks[:to+1]), made: blocks, rest: blocks[to+1:]}
	n.world.sync(t, n.node.Unix(), to)
	db := n.db
	open := func(indexes []string) (model.Source, error) {
		return db.Chain().Open(t.Context(), model.SourceOptions{URI: n.node.Unix(), Indexes: indexes, Raw: true})
	}
	src, err := open(db.Indexes())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { src.Close() })
	n.mempool = answertest.Follow(t, db, func(_ context.Context, indexes []string) (model.Source, error) {
		src, err := open(indexes)
		for _, change := range changes {
			if err == nil {
				src = change(src)
			}
		}
		return src, err
	}, func(o *pending.Options) { o.Interval = pause })
	n.Handler = blockfrost.New(blockfrost.Options{Path: path, InSync: func() bool { return true }, Chain: &served.Chain{
		Name: "cardano-preview", Model: db.Chain(), View: db.View, Moved: db.Moved, State: func() served.State { return served.State{} },
		Mempool: n.mempool, Submitter: src.(model.Submitter), Node: src,
	}})
	return n
}

// pending waits until the mempool has the number of transactions.
func (n *nodeWorld) pending(t *testing.T, count int) {
	t.Helper()
	for end := time.Now().Add(testrun.Patience); ; time.Sleep(5 * time.Millisecond) {
		s := n.mempool.Standing()
		if s.Count() == count && s.State() == pending.Live && s.Tip == n.db.Tip() {
			return
		}
		if time.Now().After(end) {
			t.Fatalf("%d transactions, expected %d, %s", s.Count(), count, s.State())
		}
	}
}

// The answers about a transaction in the mempool equal those after its block, for the fields that Blockfrost has for
// the mempool.
func TestMempoolAnswersEqualThoseOfTheBlock(t *testing.T) {
	n := generated(t)
	if inputs, _ := n.compare(t); inputs == 0 {
		t.Error("no inputs")
	}
}

// The same for real blocks of preview, with scripts.
func TestMempoolAnswersEqualThoseOfRealBlocks(t *testing.T) {
	if testrun.Rounds(t, 0) == 0 {
		t.Skip("reads 45,000 blocks: set BIRTHMARK_ROUNDS")
	}
	blocks, err := ouroborostest.Chunks(testblocks.Path(t, "cardano", "dingo-immutable"))
	if err != nil {
		t.Fatal(err)
	}
	n := beside(t, "preview", 2, blocks[:45_300], 45_000, 50*time.Millisecond)
	if inputs, redeemers := n.compare(t); inputs == 0 || redeemers == 0 {
		t.Errorf("%d inputs, %d redeemers", inputs, redeemers)
	}
}

// compare compares the answers for the transactions of each further block.
func (n *nodeWorld) compare(t *testing.T) (inputs, redeemers int) {
	compared := 0
	for from := range n.rest {
		txs, err := n.rest[from].Txs()
		if err != nil {
			t.Fatal(err)
		}
		n.node.SetMempool(txs...)
		if len(txs) > 0 {
			n.pending(t, len(txs))
			listed := n.get(t, "/mempool").([]any)
			if len(listed) != len(txs) {
				t.Fatalf("%d of %d transactions are listed", len(listed), len(txs))
			}
			if page := n.get(t, "/mempool?count=1&page=1&order=desc").([]any); !reflect.DeepEqual(page[0], listed[len(listed)-1]) {
				t.Fatalf("%v is not the last of %v", page, listed)
			}
		}
		before := map[string]object{}
		for _, tx := range n.world.hashesOf(t, n.rest[from]) {
			if len(txs) > 0 {
				before[tx] = n.get(t, "/mempool/"+tx).(object)
			}
		}
		n.node.Extend(n.rest[from])
		n.world.sync(t, n.node.Unix(), n.db.Tip().Height+1)
		n.pending(t, 0)
		for id, was := range before {
			is := n.get(t, "/txs/"+id).(object)
			for field, value := range was["tx"].(object) {
				if !reflect.DeepEqual(value, is[field]) {
					t.Fatalf("%s: %s is %v in the mempool, then %v", id, field, value, is[field])
				}
			}
			utxos := n.get(t, "/txs/"+id+"/utxos").(object)
			for i, o := range was["outputs"].([]any) {
				after := utxos["outputs"].([]any)[i].(object)
				delete(after, "consumed_by_tx")
				if !reflect.DeepEqual(o, any(after)) {
					t.Fatalf("%s: output %d is %v, then %v", id, i, o, after)
				}
			}
			for i, in := range was["inputs"].([]any) {
				after := utxos["inputs"].([]any)[i].(object)
				for field, value := range in.(object) {
					if !reflect.DeepEqual(value, after[field]) {
						t.Fatalf("%s: input %d: %s is %v, then %v", id, i, field, value, after[field])
					}
				}
				inputs++
			}
			for i, r := range was["redeemers"].([]any) {
				status, body := n.ask(t, "GET", "/txs/"+id+"/redeemers")
				if status == 501 { // it also has fees, which need the prices of a public network
					continue
				}
				after := parsed(t, id, body).([]any)[i].(object)
				for field, value := range r.(object) {
					if !reflect.DeepEqual(value, after[field]) {
						t.Fatalf("%s: redeemer %d: %s is %v, then %v", id, i, field, value, after[field])
					}
				}
				redeemers++
			}
			address := was["outputs"].([]any)[0].(object)["address"].(string)
			if of := n.get(t, "/mempool/addresses/"+address).([]any); len(of) != 0 {
				t.Errorf("%s is still pending", id)
			}
			compared++
		}
	}
	t.Logf("%d transactions, %d inputs, %d redeemers", compared, inputs, redeemers)
	return inputs, redeemers
}

// hashesOf returns the hashes of the transactions of a block.
func (w *world) hashesOf(t *testing.T, b ouroborostest.Block) (hashes []string) {
	t.Helper()
	raw, err := gcbor.Encode([]any{b.Type, gcbor.RawMessage(b.CBOR)})
	if err != nil {
		t.Fatal(err)
	}
	for block, err := range w.db.Chain().Decode(t.Context(), bytes.NewReader(raw), nil, 0) {
		if err != nil {
			t.Fatal(err)
		}
		for i := range block.Txs {
			hashes = append(hashes, block.Txs[i].Hash.String())
		}
	}
	return hashes
}

// Submitted transactions are pending at once. Rejections have the node's message, and without a node there are no
// answers.
func TestSubmitAndParameters(t *testing.T) {
	n := generated(t)
	txs, err := n.rest[0].Txs()
	if err != nil {
		t.Fatal(err)
	}
	n.pending(t, 0)
	submit := func(body []byte) (int, string) {
		r := httptest.NewRequestWithContext(t.Context(), "POST", path+"/tx/submit", bytes.NewReader(body))
		r.Header.Set("Content-Type", "application/cbor")
		rec := httptest.NewRecorder()
		n.ServeHTTP(rec, r)
		return rec.Code, rec.Body.String()
	}
	id := n.world.hashesOf(t, n.rest[0])[0]
	if status, body := submit(txs[0].Raw); status != 200 || body != `"`+id+`"` {
		t.Fatalf("%d %s", status, body)
	}
	likeReal(t, "POST /tx/submit", id)
	if got := n.get(t, "/mempool").([]any); !reflect.DeepEqual(got, []any{object{"tx_hash": id}}) {
		t.Errorf("%v", got)
	}
	address := n.get(t, "/mempool/"+id).(object)["outputs"].([]any)[0].(object)["address"].(string)
	if got := n.get(t, "/mempool/addresses/"+address).([]any); !reflect.DeepEqual(got, []any{object{"tx_hash": id}}) {
		t.Errorf("%v", got)
	}
	n.node.Refuse([]byte{0x62, 'n', 'o'})
	if status, body := submit(txs[0].Raw); status != 400 || body != `{"status_code":400,"error":"Bad Request","message":"no"}` {
		t.Errorf("%d %s", status, body)
	}
	for endpoint, status := range map[string]int{
		"/mempool/" + strings.Repeat("ab", 32): 404, "/mempool/x": 404, "/mempool/addresses/x": 400, "/mempool?count=0": 400,
		"/epochs/latest/parameters": 502, // the node of the test has none yet
	} {
		if got, body := n.ask(t, "GET", endpoint); got != status {
			t.Errorf("%s: %d %s, expected %d", endpoint, got, body, status)
		}
	}

	raw, err := gcbor.Encode(parametersOfTheNode)
	if err != nil {
		t.Fatal(err)
	}
	n.node.Answers(map[int][]byte{1: {0x18, 200}, 3: raw})
	got := n.get(t, "/epochs/latest/parameters").(object)
	for field, want := range map[string]string{
		"epoch": "200", "min_fee_a": "44", "key_deposit": "2000000", "a0": "0.3", "price_mem": "0.0577", "price_step": "0.0000721", "nonce": "<nil>",
		"coins_per_utxo_size": "4310", "coins_per_utxo_word": "4310", "min_utxo": "4310", "max_tx_ex_steps": "10000000000", "extra_entropy": "<nil>",
		"pvt_hard_fork_initiation": "0.54", "pvtpp_security_group": "0.55", "pvt_p_p_security_group": "0.55", "dvt_treasury_withdrawal": "0.7",
		"committee_max_term_length": "146", "drep_activity": "20", "min_fee_ref_script_cost_per_byte": "15", "protocol_major_ver": "10",
	} {
		if fmt.Sprint(got[field]) != want {
			t.Errorf("%s: %v, expected %s", field, got[field], want)
		}
	}
	models, raws := got["cost_models"].(object), got["cost_models_raw"].(object)
	v1 := models["PlutusV1"].(object)
	if len(models) != 3 || len(raws) != 3 || fmt.Sprintf("%v %v %d", v1["addInteger-cpu-arguments-intercept"], v1["verifySignature-memory-arguments"], len(v1)) != "1 166 166" {
		t.Errorf("%d and %d cost models, %d costs", len(models), len(raws), len(v1))
	}
	n.accounts(t)
	n.node.Stop()
	if status, body := n.ask(t, "GET", "/epochs/latest/parameters"); status != 200 { // of the same tip
		t.Errorf("%d %s", status, body)
	}
}

// accounts compares the answers about an account with the node's state.
func (n *nodeWorld) accounts(t *testing.T) {
	var stake string
	for _, b := range n.naive.blocks {
		for _, tx := range b.txs {
			for _, o := range tx.Outputs {
				for _, k := range o.Keys {
					if x := n.db.Chain().Indexes()[2]; x.Name == "stake_credential" && len(k.Value) == 29 && n.db.Indexes()[k.Index] == x.Name {
						stake = x.Format(k.Value)
					}
				}
			}
		}
	}
	cred := struct {
		gcbor.StructAsArray
		Kind uint
		Hash gcbor.ByteString
	}{Kind: 0, Hash: gcbor.NewByteString(bytes.Repeat([]byte{1}, 28))}
	encode := func(v any) []byte {
		raw, err := gcbor.Encode(v)
		if err != nil {
			t.Fatal(err)
		}
		return raw
	}
	n.node.Answers(map[int][]byte{
		10: encode([]any{map[any]any{cred: bytes.Repeat([]byte{2}, 28)}, map[any]any{cred: 1000}}), 22: encode(map[any]any{cred: 2_000_000}),
		28: encode(map[any]any{cred: []any{2}}),
	})
	var unspent *big.Int
	if err := n.db.View(t.Context(), func(v *query.View) error {
		b, err := v.Balance(t.Context(), "stake_credential", stake)
		if err == nil {
			unspent, _ = new(big.Int).SetString(b.Balance, 10)
		}
		return err
	}); err != nil {
		t.Fatal(err)
	}
	got := n.get(t, "/accounts/"+stake).(object)
	for field, want := range map[string]string{
		"stake_address": stake, "active": "true", "withdrawable_amount": "1000", "drep_id": "drep_always_abstain", "rewards_sum": "1000",
		"withdrawals_sum": "0", "reserves_sum": "0", "treasury_sum": "0",
		"controlled_amount": unspent.Add(unspent, big.NewInt(1000)).String(), "pool_id": address.FormatPoolHash(bytes.Repeat([]byte{2}, 28)),
	} {
		if fmt.Sprint(got[field]) != want {
			t.Errorf("%s: %v, expected %s", field, got[field], want)
		}
	}
	none := map[any]any{}
	n.node.Answers(map[int][]byte{10: encode([]any{none, none}), 22: encode(none), 28: encode(none)})
	got = n.get(t, "/accounts/"+stake).(object)
	if got["active"] != false || got["pool_id"] != nil || got["drep_id"] != nil {
		t.Errorf("%v", got)
	}
}

// parametersOfTheNode are those of mainnet, with costs that are their positions.
var parametersOfTheNode = func() *conway.ConwayProtocolParameters {
	r := func(a, b int64) *gcbor.Rat { return &gcbor.Rat{Rat: big.NewRat(a, b)} }
	costs := func(n int64) (all []int64) {
		for i := range n {
			all = append(all, i+1)
		}
		return all
	}
	p := &conway.ConwayProtocolParameters{
		MinFeeA: 44, MinFeeB: 155381, MaxBlockBodySize: 90112, MaxTxSize: 16384, MaxBlockHeaderSize: 1100, KeyDeposit: 2_000_000,
		PoolDeposit: 500_000_000, MaxEpoch: 18, NOpt: 500, A0: r(3, 10), Rho: r(3, 1000), Tau: r(1, 5),
		ProtocolVersion: common.ProtocolParametersProtocolVersion{Major: 10}, MinPoolCost: 170_000_000, AdaPerUtxoByte: 4310,
		CostModels:     map[uint][]int64{0: costs(166), 1: costs(175), 2: costs(297)},
		ExecutionCosts: common.ExUnitPrice{MemPrice: r(577, 10_000), StepPrice: r(721, 10_000_000)},
		MaxTxExUnits:   common.ExUnits{Memory: 14_000_000, Steps: 10_000_000_000}, MaxBlockExUnits: common.ExUnits{Memory: 62_000_000, Steps: 20_000_000_000},
		MaxValueSize: 5000, CollateralPercentage: 150, MaxCollateralInputs: 3, MinCommitteeSize: 7, CommitteeTermLimit: 146,
		GovActionValidityPeriod: 6, GovActionDeposit: 100_000_000_000, DRepDeposit: 500_000_000, DRepInactivityPeriod: 20, MinFeeRefScriptCostPerByte: r(15, 1),
	}
	for i, to := range []*gcbor.Rat{
		&p.PoolVotingThresholds.MotionNoConfidence, &p.PoolVotingThresholds.CommitteeNormal, &p.PoolVotingThresholds.CommitteeNoConfidence,
		&p.PoolVotingThresholds.HardForkInitiation, &p.PoolVotingThresholds.PpSecurityGroup, &p.DRepVotingThresholds.MotionNoConfidence,
		&p.DRepVotingThresholds.CommitteeNormal, &p.DRepVotingThresholds.CommitteeNoConfidence, &p.DRepVotingThresholds.UpdateToConstitution,
		&p.DRepVotingThresholds.HardForkInitiation, &p.DRepVotingThresholds.PpNetworkGroup, &p.DRepVotingThresholds.PpEconomicGroup,
		&p.DRepVotingThresholds.PpTechnicalGroup, &p.DRepVotingThresholds.PpGovGroup, &p.DRepVotingThresholds.TreasuryWithdrawal,
	} {
		*to = *r(int64(51+i), 100)
	}
	p.DRepVotingThresholds.TreasuryWithdrawal = *r(7, 10)
	return p
}()
