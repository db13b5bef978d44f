package cardano

import (
	"bytes"
	"math/big"
	"reflect"
	"testing"

	"github.com/blinklabs-io/gouroboros/cbor"
	"github.com/blinklabs-io/gouroboros/ledger/common"
	"github.com/blinklabs-io/gouroboros/ledger/conway"

	"birthmark/chains/cardano/address"
	"birthmark/chains/cardano/ledger"
	"birthmark/chains/cardano/node"
	"birthmark/internal/testnode/cardanotest"
	"birthmark/internal/testnode/ouroborostest"
	"birthmark/model"
)

func encoded(t testing.TB, v any) []byte {
	t.Helper()
	raw, err := cbor.Encode(v)
	if err != nil {
		t.Fatal(err)
	}
	return raw
}

func ratio(a, b int64) *cbor.Rat { return &cbor.Rat{Rat: big.NewRat(a, b)} }

// conwayParameters are protocol parameters with distinct values.
func conwayParameters() *conway.ConwayProtocolParameters {
	r := func(n int64) cbor.Rat { return *ratio(n, 101) }
	return &conway.ConwayProtocolParameters{
		MinFeeA: 44, MinFeeB: 155381, MaxBlockBodySize: 90112, MaxTxSize: 16384, MaxBlockHeaderSize: 1100, KeyDeposit: 2_000_000,
		PoolDeposit: 500_000_000, MaxEpoch: 18, NOpt: 500, A0: ratio(3, 10), Rho: ratio(3, 1000), Tau: ratio(1, 5),
		ProtocolVersion: common.ProtocolParametersProtocolVersion{Major: 10, Minor: 2}, MinPoolCost: 170_000_000, AdaPerUtxoByte: 4310,
		CostModels:     map[uint][]int64{0: {1, -2}, 1: {3}, 2: {1 << 40, 5, 6}},
		ExecutionCosts: common.ExUnitPrice{MemPrice: ratio(577, 10000), StepPrice: ratio(721, 10000000)},
		MaxTxExUnits:   common.ExUnits{Memory: 14_000_000, Steps: 10_000_000_000}, MaxBlockExUnits: common.ExUnits{Memory: 62_000_000, Steps: 20_000_000_000},
		MaxValueSize: 5000, CollateralPercentage: 150, MaxCollateralInputs: 3,
		PoolVotingThresholds: conway.PoolVotingThresholds{MotionNoConfidence: r(1), CommitteeNormal: r(2), CommitteeNoConfidence: r(3), HardForkInitiation: r(4), PpSecurityGroup: r(5)},
		DRepVotingThresholds: conway.DRepVotingThresholds{MotionNoConfidence: r(6), CommitteeNormal: r(7), CommitteeNoConfidence: r(8), UpdateToConstitution: r(9),
			HardForkInitiation: r(10), PpNetworkGroup: r(11), PpEconomicGroup: r(12), PpTechnicalGroup: r(13), PpGovGroup: r(14), TreasuryWithdrawal: r(15)},
		MinCommitteeSize: 7, CommitteeTermLimit: 146, GovActionValidityPeriod: 6, GovActionDeposit: 100_000_000_000, DRepDeposit: 500_000_001,
		DRepInactivityPeriod: 20, MinFeeRefScriptCostPerByte: ratio(15, 1),
	}
}

func TestProtocolParametersOfTheNode(t *testing.T) {
	n, l := startPooled(t)
	nonce := bytes.Repeat([]byte{7}, 32)
	neutral := []any{0}
	n.Answers(map[int][]byte{
		1: encoded(t, 577), 3: encoded(t, conwayParameters()),
		13: encoded(t, []any{0, []any{[]any{1, 5}, map[uint]uint{}, neutral, neutral, []any{1, nonce}, neutral, neutral, neutral}}),
	})
	p, err := l.Parameters(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	g := p.Governance
	r := func(a int64) *big.Rat { return big.NewRat(a, 101) }
	want := &node.Parameters{
		Epoch: 577, Nonce: nonce, MinFeeA: 44, MinFeeB: 155381, MaxBlockSize: 90112, MaxTxSize: 16384, MaxHeaderSize: 1100, KeyDeposit: 2_000_000,
		PoolDeposit: 500_000_000, MaxEpoch: 18, OptimalPools: 500, A0: big.NewRat(3, 10), Rho: big.NewRat(3, 1000), Tau: big.NewRat(1, 5),
		Major: 10, Minor: 2, MinPoolCost: 170_000_000, CoinsPerByte: 4310, CostModels: map[uint64][]int64{0: {1, -2}, 1: {3}, 2: {1 << 40, 5, 6}},
		PriceMemory: big.NewRat(577, 10000), PriceSteps: big.NewRat(721, 10000000), MaxTxMemory: 14_000_000, MaxTxSteps: 10_000_000_000,
		MaxBlockMemory: 62_000_000, MaxBlockSteps: 20_000_000_000, MaxValueSize: 5000, CollateralPercentage: 150, MaxCollateralInputs: 3,
		Governance: &node.GovernanceParameters{
			PoolThresholds: [5]*big.Rat{r(1), r(2), r(3), r(4), r(5)}, DRepThresholds: [10]*big.Rat{r(6), r(7), r(8), r(9), r(10), r(11), r(12), r(13), r(14), r(15)},
			CommitteeMinSize: 7, CommitteeMaxTerm: 146, ActionLifetime: 6, ActionDeposit: 100_000_000_000, DRepDeposit: 500_000_001, DRepActivity: 20,
			ReferenceScriptCost: big.NewRat(15, 1),
		},
	}
	if !reflect.DeepEqual(p, want) {
		t.Errorf("%+v %+v", p, g)
	}
	for what, answers := range map[string]map[int][]byte{
		"no nonce":        {1: encoded(t, 577), 3: encoded(t, conwayParameters())},
		"another version": {1: encoded(t, 577), 3: encoded(t, conwayParameters()), 13: encoded(t, []any{1, []any{}})},
	} {
		n.Answers(answers)
		if p, err := l.Parameters(t.Context()); err != nil || p.Nonce != nil || p.Governance == nil {
			t.Errorf("%s: %+v, %v", what, p, err)
		}
	}
	for _, malformed := range [][]byte{encoded(t, []any{1, 2}), encoded(t, "x"), encoded(t, conwayParameters())[:1]} {
		n.Answers(map[int][]byte{1: encoded(t, 577), 3: malformed})
		if _, err := l.Parameters(t.Context()); err == nil {
			t.Errorf("malformed parameters %x are accepted", malformed)
		} else if kind, _ := model.KindOf(err); kind != model.BadSource {
			t.Error(err)
		}
	}
}

// Before Babbage protocol parameters have another form.
func TestProtocolParametersBeforeBabbage(t *testing.T) {
	blocks, err := ouroborostest.Blocks(cardanotest.Block(t, ledger.EraAlonzo, cardanotest.List{}, cardanotest.List{}, cardanotest.Dict{}, cardanotest.List{}))
	if err != nil {
		t.Fatal(err)
	}
	n := ouroborostest.Start(t, 2, blocks)
	c, err := New("preview")
	if err != nil {
		t.Fatal(err)
	}
	src, err := c.Open(t.Context(), model.SourceOptions{URI: n.Unix()})
	if err != nil {
		t.Fatal(err)
	}
	defer src.Close()
	if _, err := src.(*node.Local).Parameters(t.Context()); err == nil {
		t.Error("parameters of Alonzo are accepted")
	} else if kind, code := model.KindOf(err); kind != model.NotFound || code != "unsupported" {
		t.Error(err)
	}
}

func TestAccountOfTheNode(t *testing.T) {
	n, l := startPooled(t)
	hash, pool, drep := bytes.Repeat([]byte{1}, 28), bytes.Repeat([]byte{2}, 28), bytes.Repeat([]byte{3}, 28)
	cred := struct {
		cbor.StructAsArray
		Kind uint
		Hash cbor.ByteString
	}{Kind: 1, Hash: cbor.NewByteString(hash)}
	n.Answers(map[int][]byte{
		10: encoded(t, []any{map[any]any{cred: pool}, map[any]any{cred: 1234567}}),
		22: encoded(t, map[any]any{cred: 2_000_000}), 28: encoded(t, map[any]any{cred: []any{0, drep}}),
	})
	a, err := l.Account(t.Context(), 1, hash)
	want := &node.Account{Registered: true, Rewards: 1234567, Deposit: 2_000_000, Pool: pool, DRep: &node.DRep{Kind: 0, Hash: drep}}
	if err != nil || !reflect.DeepEqual(a, want) {
		t.Errorf("%+v, %v", a, err)
	}
	text := address.FormatStakeCredential(address.Preview, append([]byte{1}, hash...))
	state, err := l.AccountState(t.Context(), "stake_credential", text)
	named := &model.AccountState{Registered: true, Rewards: "1234567", Pool: address.FormatPoolHash(pool),
		DRep: address.FormatGovernance(address.DRep, append([]byte{0}, drep...))}
	if err != nil || !reflect.DeepEqual(state, named) {
		t.Errorf("%+v, %v, expected %+v", state, err, named)
	}
	if state, err := l.AccountState(t.Context(), "address", text); err != nil || state != nil {
		t.Errorf("an address is an account: %+v, %v", state, err)
	}
	if _, err := l.AccountState(t.Context(), "stake_credential", "stake1"); err == nil {
		t.Error("an invalid account has a state")
	}
	// The query contains the credential, as gouroboros decodes it.
	if q := n.Queries()[10]; !bytes.Contains(q, hash) || !bytes.Contains(q, []byte{0x82, 1, 0x58, 28}) {
		t.Errorf("query %x", q)
	}
	empty := encoded(t, []any{map[any]any{}, map[any]any{}})
	none := encoded(t, map[any]any{})
	n.Answers(map[int][]byte{10: empty, 22: none, 28: none})
	if a, err := l.Account(t.Context(), 0, hash); err != nil || !reflect.DeepEqual(a, &node.Account{}) {
		t.Errorf("%+v, %v", a, err)
	}
	n.Answers(map[int][]byte{10: empty, 22: none, 28: encoded(t, map[any]any{cred: []any{2}})})
	if a, err := l.Account(t.Context(), 0, hash); err != nil || a.DRep == nil || a.DRep.Kind != 2 || a.DRep.Hash != nil {
		t.Errorf("%+v, %v", a, err)
	}
	if state, err := l.AccountState(t.Context(), "stake_credential", text); err != nil || !reflect.DeepEqual(state, &model.AccountState{Rewards: "0", DRep: "always_abstain"}) {
		t.Errorf("%+v, %v", state, err)
	}
}

func TestRepresentativeOfTheNode(t *testing.T) {
	n, l := startPooled(t)
	type cred struct {
		cbor.StructAsArray
		Kind uint
		Hash cbor.ByteString
	}
	hash := func(kind uint, with byte) cred {
		return cred{Kind: kind, Hash: cbor.NewByteString(bytes.Repeat([]byte{with}, 28))}
	}
	stake := func(c cred) string {
		return address.FormatStakeCredential(address.Preview, append([]byte{byte(c.Kind)}, c.Hash.Bytes()...))
	}
	id := func(c cred) string {
		return address.FormatGovernance(address.DRep, append([]byte{byte(c.Kind)}, c.Hash.Bytes()...))
	}
	active, expired, unknown := hash(0, 1), hash(1, 2), hash(0, 3)
	first, second := hash(0, 8), hash(1, 9)
	n.Answers(map[int][]byte{
		1:  {0x18, 200},
		25: encoded(t, map[any]any{active: []any{200, nil, 500_000_000, []any{first, second}}, expired: []any{199, nil, 500_000_000, []any{}}}),
		26: encoded(t, map[any]any{active: 7_000_000_000}),
	})
	for of, want := range map[cred]*model.VoterState{
		active:  {Registered: true, Expires: 200, Power: "7000000000", Delegators: []string{stake(first), stake(second)}},
		expired: {Registered: true, Expired: true, Expires: 199, Power: "0"},
		unknown: {Power: "0"},
	} {
		if state, err := l.VoterState(t.Context(), id(of)); err != nil || !reflect.DeepEqual(state, want) {
			t.Errorf("%+v, %v, expected %+v", state, err, want)
		}
	}
	if state, err := l.VoterState(t.Context(), address.FormatPoolHash(bytes.Repeat([]byte{1}, 28))); err != nil || state != nil {
		t.Errorf("a pool is a representative: %+v, %v", state, err)
	}
}
