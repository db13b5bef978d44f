package node

import (
	"context"
	"math/big"

	"birthmark/chains/cardano/cbor"
	"birthmark/chains/cardano/ouroboros"
	"birthmark/model"
)

// Numbers of queries of the ledger state of an era (local-state-query).
const (
	queryEpoch      = 1
	queryParameters = 3
	queryAccounts   = 10
	queryConsensus  = 13
	queryRewardInfo = 18
	querySnapshots  = 20
	queryDeposits   = 22
	queryDReps      = 25
	queryDRepStakes = 26
	queryDelegatees = 28
)

// Numbers of eras.
const babbage = 5

// Parameters are the protocol parameters of the current epoch. Amounts are in lovelace.
type Parameters struct {
	Epoch uint64
	Nonce []byte // of the epoch; nil: unknown or neutral

	MinFeeA, MinFeeB                          uint64
	MaxBlockSize, MaxTxSize, MaxHeaderSize    uint64 // bytes
	KeyDeposit, PoolDeposit                   uint64
	MaxEpoch, OptimalPools                    uint64
	A0, Rho, Tau                              *big.Rat
	Major, Minor                              uint64 // protocol version
	MinPoolCost, CoinsPerByte                 uint64
	CostModels                                map[uint64][]int64 // by language: 0 Plutus V1
	PriceMemory, PriceSteps                   *big.Rat
	MaxTxMemory, MaxTxSteps                   uint64
	MaxBlockMemory, MaxBlockSteps             uint64
	MaxValueSize                              uint64
	CollateralPercentage, MaxCollateralInputs uint64

	Governance *GovernanceParameters // nil before Conway
}

// GovernanceParameters are the protocol parameters that Conway added.
type GovernanceParameters struct {
	// PoolThresholds are those of motions of no confidence, of a committee in normal times and after one, of hard forks,
	// and of the security group.
	PoolThresholds [5]*big.Rat
	// DRepThresholds are those of motions of no confidence, of a committee in normal times and after one, of the
	// constitution, of hard forks, of the groups network, economic, technical and governance, and of the treasury.
	DRepThresholds [10]*big.Rat

	CommitteeMinSize, CommitteeMaxTerm uint64
	ActionLifetime, ActionDeposit      uint64
	DRepDeposit, DRepActivity          uint64
	ReferenceScriptCost                *big.Rat // lovelace per byte
}

// Account is the state of a stake credential.
type Account struct {
	Registered bool
	Rewards    uint64 // that can be withdrawn
	Deposit    uint64 // of the registration, in lovelace
	Pool       []byte // hash of the pool that it delegates to; nil: none
	DRep       *DRep  // nil: none
}

// DRep is a representative that an account delegates its votes to.
type DRep struct {
	Kind uint64 // 0 key, 1 script, 2 always abstain, 3 always no confidence
	Hash []byte // of a key or a script
}

// Kinds of [DRep] without a credential.
const (
	DRepAbstain      = 2
	DRepNoConfidence = 3
)

// ledgerState asks the node for its ledger state in the current era.
func (l *Local) ledgerState(ctx context.Context, f func(era uint64, ask func(of []byte) (*cbor.Walker, error)) error) error {
	_, err := query(ctx, l.Source, func(ctx context.Context, c *ouroboros.Conn) (struct{}, error) {
		return struct{}{}, c.State(ctx, func(query func([]byte) ([]byte, error)) error {
			era, err := ouroboros.Era(query)
			if err != nil {
				return err
			}
			return f(era, func(of []byte) (*cbor.Walker, error) {
				result, err := ouroboros.QueryEra(query, era, of)
				return &cbor.Walker{Data: result}, err
			})
		})
	})
	return err
}

// badState returns the error of a result that cannot be read.
func (l *Local) badState(what string, err error) error {
	return model.Errorf(model.BadSource, "bad_answer", "%s sent malformed %s: %w", l.address, what, err)
}

// Parameters returns the protocol parameters of the current epoch. Its errors are of kind [model.NotFound], code
// unsupported, in an era before Babbage.
func (l *Local) Parameters(ctx context.Context) (*Parameters, error) {
	p := new(Parameters)
	err := l.ledgerState(ctx, func(era uint64, ask func([]byte) (*cbor.Walker, error)) error {
		if era < babbage {
			return l.unsupported("protocol parameters of an era before Babbage")
		}
		w, err := ask([]byte{cbor.Array<<5 | 1, queryEpoch})
		if err != nil {
			return err
		}
		if p.Epoch = w.Uint("epoch"); w.Err != nil {
			return l.badState("epoch", w.Err)
		}
		if w, err = ask([]byte{cbor.Array<<5 | 1, queryParameters}); err != nil {
			return err
		}
		if p.read(w, era); w.Err != nil {
			return l.badState("protocol parameters", w.Err)
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	// The state of the consensus is a query for diagnosis, which nodes need not answer.
	err = l.ledgerState(ctx, func(_ uint64, ask func([]byte) (*cbor.Walker, error)) error {
		w, err := ask([]byte{cbor.Array<<5 | 1, queryConsensus})
		if err == nil {
			p.Nonce = readNonce(w)
		}
		return err
	})
	if ctx.Err() != nil {
		return nil, err
	}
	return p, nil
}

// read reads the parameters, an array in the order of the ledger's rule PParams.
func (p *Parameters) read(w *cbor.Walker, era uint64) {
	f := w.Fields("protocol parameters")
	for _, n := range []*uint64{&p.MinFeeA, &p.MinFeeB, &p.MaxBlockSize, &p.MaxTxSize, &p.MaxHeaderSize, &p.KeyDeposit, &p.PoolDeposit, &p.MaxEpoch, &p.OptimalPools} {
		*n = f.Uint("parameter")
	}
	p.A0, p.Rho, p.Tau = readRatio(&f), readRatio(&f), readRatio(&f)
	readPair(&f, &p.Major, &p.Minor)
	p.MinPoolCost, p.CoinsPerByte = f.Uint("minimum cost of a pool"), f.Uint("coins per byte")
	p.CostModels = map[uint64][]int64{}
	models := cbor.Walker{Data: f.Item("cost models")}
	for n := models.Map("cost models"); w.Err == nil && models.More(&n); {
		language := models.Uint("language")
		for n := models.Array("costs"); models.More(&n); {
			p.CostModels[language] = append(p.CostModels[language], models.Int("cost"))
		}
	}
	if w.Err == nil {
		w.Err = models.Err
	}
	prices := f.Fields("prices")
	p.PriceMemory, p.PriceSteps = readRatio(&prices), readRatio(&prices)
	prices.End()
	readPair(&f, &p.MaxTxMemory, &p.MaxTxSteps)
	readPair(&f, &p.MaxBlockMemory, &p.MaxBlockSteps)
	for _, n := range []*uint64{&p.MaxValueSize, &p.CollateralPercentage, &p.MaxCollateralInputs} {
		*n = f.Uint("parameter")
	}
	if era >= conway {
		p.Governance = readGovernance(&f)
		f.SkipRest() // of later eras
	}
	f.End()
}

func readGovernance(f *cbor.Fields) *GovernanceParameters {
	g := new(GovernanceParameters)
	pools := f.Fields("voting thresholds of pools")
	for i := range g.PoolThresholds {
		g.PoolThresholds[i] = readRatio(&pools)
	}
	pools.End()
	dreps := f.Fields("voting thresholds of DReps")
	for i := range g.DRepThresholds {
		g.DRepThresholds[i] = readRatio(&dreps)
	}
	dreps.End()
	for _, n := range []*uint64{&g.CommitteeMinSize, &g.CommitteeMaxTerm, &g.ActionLifetime, &g.ActionDeposit, &g.DRepDeposit, &g.DRepActivity} {
		*n = f.Uint("parameter")
	}
	g.ReferenceScriptCost = readRatio(f)
	return g
}

func readPair(f *cbor.Fields, a, b *uint64) {
	pair := f.Fields("pair of parameters")
	*a, *b = pair.Uint("parameter"), pair.Uint("parameter")
	pair.End()
}

// readRatio reads a rational number: tag 30, [numerator, denominator] (RFC 8949 does not have it: tag registry of IANA).
func readRatio(f *cbor.Fields) *big.Rat {
	w := cbor.Walker{Data: f.Item("ratio")}
	if f.Err() != nil {
		return new(big.Rat)
	}
	if major, tag, _ := w.Head("ratio"); w.Err == nil && (major != cbor.Tag || tag != ratio) {
		w.Fail("expected a ratio")
	}
	n := w.Array("ratio")
	w.Field(&n, "numerator")
	a := w.Uint("numerator")
	w.Field(&n, "denominator")
	b := w.Uint("denominator")
	w.End(&n, "ratio")
	if b == 0 && w.Err == nil {
		w.Fail("a ratio with the denominator 0")
	}
	if w.Err != nil {
		f.Fail("%w", w.Err)
		return new(big.Rat)
	}
	return new(big.Rat).SetFrac(new(big.Int).SetUint64(a), new(big.Int).SetUint64(b))
}

const ratio = 30

// readNonce reads the nonce of the epoch from the state of Praos: [0, [slot, counters, evolving nonce, candidate nonce,
// nonce, …]], where a nonce is [0] or [1, bytes]. It returns nil if the state has another form.
func readNonce(w *cbor.Walker) []byte {
	outer := w.Fields("state of the consensus")
	if version := outer.Uint("version"); w.Err != nil || version != 0 {
		return nil
	}
	state := outer.Fields("state of Praos")
	for range 4 {
		state.Skip("state of Praos")
	}
	nonce := state.Fields("nonce")
	if kind := nonce.Uint("kind of the nonce"); w.Err != nil || kind != 1 {
		return nil
	}
	if bytes := nonce.Bytes("nonce"); w.Err == nil {
		return bytes
	}
	return nil
}

// Account returns the state of a stake credential: its kind (0 key, 1 script) and hash. It returns the errors of
// Parameters.
func (l *Local) Account(ctx context.Context, kind byte, hash []byte) (*Account, error) {
	a := new(Account)
	err := l.ledgerState(ctx, func(era uint64, ask func([]byte) (*cbor.Walker, error)) error {
		if era < babbage {
			return l.unsupported("accounts of an era before Babbage")
		}
		of := func(number byte) []byte {
			q := []byte{cbor.Array<<5 | 2}
			q = cbor.AppendUint(q, uint64(number))
			if era >= conway {
				q = cbor.AppendHead(q, cbor.Tag, cbor.TagSet)
			}
			return cbor.AppendBytes(append(q, cbor.Array<<5|1, cbor.Array<<5|2, kind), hash)
		}
		w, err := ask(of(queryAccounts))
		if err != nil {
			return err
		}
		both := w.Fields("accounts")
		delegations := cbor.Walker{Data: both.Item("delegations")}
		rewards := cbor.Walker{Data: both.Item("rewards")}
		both.End()
		for n := delegations.Map("delegations"); delegations.More(&n); {
			delegations.Skip("credential")
			a.Pool = delegations.Bytes("pool")
		}
		for n := rewards.Map("rewards"); rewards.More(&n); {
			rewards.Skip("credential")
			a.Rewards, a.Registered = rewards.Uint("rewards"), true
		}
		for _, err := range []error{w.Err, delegations.Err, rewards.Err} {
			if err != nil {
				return l.badState("accounts", err)
			}
		}
		if w, err = ask(of(queryDeposits)); err != nil {
			return err
		}
		for n := w.Map("deposits"); w.More(&n); {
			w.Skip("credential")
			a.Deposit = w.Uint("deposit")
		}
		if w.Err != nil {
			return l.badState("deposits of accounts", w.Err)
		}
		if era < conway {
			return nil
		}
		if w, err = ask(of(queryDelegatees)); err != nil {
			return err
		}
		for n := w.Map("DReps of accounts"); w.More(&n); {
			w.Skip("credential")
			drep := w.Fields("DRep")
			a.DRep = &DRep{Kind: drep.Uint("kind of the DRep")}
			if !drep.IsEmpty() {
				a.DRep.Hash = drep.Bytes("hash of the DRep")
			}
			drep.End()
		}
		if w.Err != nil {
			return l.badState("DReps of accounts", w.Err)
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	return a, nil
}
