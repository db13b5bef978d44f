package ogmios

import (
	"math/big"
	"strconv"

	"birthmark/chains/cardano/node"
)

// Constants of the ledger in Conway, whose parameters do not have them (cardano-ledger, eras/conway/impl).
const (
	maxReferenceScripts = 200 << 10 // bytes of the reference scripts of a transaction
	referenceTier       = 25_600    // bytes of reference scripts after which the next ones cost more
	referenceMultiplier = 1.2       // of the cost of each tier
)

type units struct {
	Memory uint64 `json:"memory"`
	CPU    uint64 `json:"cpu"`
}

type prices struct {
	Memory string `json:"memory"`
	CPU    string `json:"cpu"`
}

type version struct {
	Major uint64 `json:"major"`
	Minor uint64 `json:"minor"`
}

// parameters is the protocol parameters of an epoch. Those of governance are absent before Conway.
type parameters struct {
	MinFeeCoefficient     uint64             `json:"minFeeCoefficient"`
	MinFeeConstant        ada                `json:"minFeeConstant"`
	ReferenceScripts      *referenceFee      `json:"minFeeReferenceScripts,omitempty"`
	MaxBlockBodySize      size               `json:"maxBlockBodySize"`
	MaxBlockHeaderSize    size               `json:"maxBlockHeaderSize"`
	MaxTransactionSize    size               `json:"maxTransactionSize"`
	MaxReferenceScripts   *size              `json:"maxReferenceScriptsSize,omitempty"`
	CredentialDeposit     ada                `json:"stakeCredentialDeposit"`
	PoolDeposit           ada                `json:"stakePoolDeposit"`
	RetirementBound       uint64             `json:"stakePoolRetirementEpochBound"`
	DesiredPools          uint64             `json:"desiredNumberOfStakePools"`
	PledgeInfluence       string             `json:"stakePoolPledgeInfluence"`
	MonetaryExpansion     string             `json:"monetaryExpansion"`
	TreasuryExpansion     string             `json:"treasuryExpansion"`
	MinPoolCost           ada                `json:"minStakePoolCost"`
	MinDepositConstant    ada                `json:"minUtxoDepositConstant"` // 0 since Babbage
	MinDepositCoefficient uint64             `json:"minUtxoDepositCoefficient"`
	CostModels            map[string][]int64 `json:"plutusCostModels"`
	Prices                prices             `json:"scriptExecutionPrices"`
	MaxUnitsOfTransaction units              `json:"maxExecutionUnitsPerTransaction"`
	MaxUnitsOfBlock       units              `json:"maxExecutionUnitsPerBlock"`
	MaxValueSize          size               `json:"maxValueSize"`
	CollateralPercentage  uint64             `json:"collateralPercentage"`
	MaxCollateralInputs   uint64             `json:"maxCollateralInputs"`
	Version               version            `json:"version"`

	PoolThresholds      *poolThresholds `json:"stakePoolVotingThresholds,omitempty"`
	DRepThresholds      *drepThresholds `json:"delegateRepresentativeVotingThresholds,omitempty"`
	CommitteeMinSize    *uint64         `json:"constitutionalCommitteeMinSize,omitempty"`
	CommitteeTermLength *uint64         `json:"constitutionalCommitteeMaxTermLength,omitempty"`
	ActionLifetime      *uint64         `json:"governanceActionLifetime,omitempty"`
	ActionDeposit       *ada            `json:"governanceActionDeposit,omitempty"`
	DRepDeposit         *ada            `json:"delegateRepresentativeDeposit,omitempty"`
	DRepMaxIdleTime     *uint64         `json:"delegateRepresentativeMaxIdleTime,omitempty"`
}

// referenceFee is the fee for the bytes of reference scripts.
type referenceFee struct {
	Base       float64 `json:"base"` // lovelace per byte of the first tier
	Range      uint64  `json:"range"`
	Multiplier float64 `json:"multiplier"`
}

type committeeThresholds struct {
	Default      string `json:"default"`
	NoConfidence string `json:"stateOfNoConfidence"`
}

type poolThresholds struct {
	NoConfidence string              `json:"noConfidence"`
	Committee    committeeThresholds `json:"constitutionalCommittee"`
	HardFork     string              `json:"hardForkInitiation"`
	Parameters   struct {
		Security string `json:"security"`
	} `json:"protocolParametersUpdate"`
}

type drepThresholds struct {
	NoConfidence string              `json:"noConfidence"`
	Committee    committeeThresholds `json:"constitutionalCommittee"`
	Constitution string              `json:"constitution"`
	HardFork     string              `json:"hardForkInitiation"`
	Parameters   struct {
		Network    string `json:"network"`
		Economic   string `json:"economic"`
		Technical  string `json:"technical"`
		Governance string `json:"governance"`
	} `json:"protocolParametersUpdate"`
	Treasury string `json:"treasuryWithdrawals"`
}

func parametersOf(p *node.Parameters) *parameters {
	a := &parameters{
		MinFeeCoefficient: p.MinFeeA, MinFeeConstant: lovelace(p.MinFeeB), MaxBlockBodySize: size{p.MaxBlockSize},
		MaxBlockHeaderSize: size{p.MaxHeaderSize}, MaxTransactionSize: size{p.MaxTxSize}, CredentialDeposit: lovelace(p.KeyDeposit),
		PoolDeposit: lovelace(p.PoolDeposit), RetirementBound: p.MaxEpoch, DesiredPools: p.OptimalPools, PledgeInfluence: ratio(p.A0),
		MonetaryExpansion: ratio(p.Rho), TreasuryExpansion: ratio(p.Tau), MinPoolCost: lovelace(p.MinPoolCost),
		MinDepositCoefficient: p.CoinsPerByte, CostModels: map[string][]int64{}, Prices: prices{ratio(p.PriceMemory), ratio(p.PriceSteps)},
		MaxUnitsOfTransaction: units{p.MaxTxMemory, p.MaxTxSteps}, MaxUnitsOfBlock: units{p.MaxBlockMemory, p.MaxBlockSteps},
		MaxValueSize: size{p.MaxValueSize}, CollateralPercentage: p.CollateralPercentage, MaxCollateralInputs: p.MaxCollateralInputs,
		Version: version{p.Major, p.Minor},
	}
	for language, costs := range p.CostModels {
		a.CostModels["plutus:v"+strconv.FormatUint(language+1, 10)] = costs
	}
	g := p.Governance
	if g == nil {
		return a
	}
	base, _ := g.ReferenceScriptCost.Float64()
	a.ReferenceScripts = &referenceFee{base, referenceTier, referenceMultiplier}
	a.MaxReferenceScripts = &size{maxReferenceScripts}
	pools, dreps := g.PoolThresholds, g.DRepThresholds
	a.PoolThresholds = &poolThresholds{
		NoConfidence: ratio(pools[0]), Committee: committeeThresholds{ratio(pools[1]), ratio(pools[2])}, HardFork: ratio(pools[3]),
	}
	a.PoolThresholds.Parameters.Security = ratio(pools[4])
	a.DRepThresholds = &drepThresholds{
		NoConfidence: ratio(dreps[0]), Committee: committeeThresholds{ratio(dreps[1]), ratio(dreps[2])}, Constitution: ratio(dreps[3]),
		HardFork: ratio(dreps[4]), Treasury: ratio(dreps[9]),
	}
	of := &a.DRepThresholds.Parameters
	of.Network, of.Economic, of.Technical, of.Governance = ratio(dreps[5]), ratio(dreps[6]), ratio(dreps[7]), ratio(dreps[8])
	a.CommitteeMinSize, a.CommitteeTermLength = &g.CommitteeMinSize, &g.CommitteeMaxTerm
	a.ActionLifetime, a.ActionDeposit = &g.ActionLifetime, new(lovelace(g.ActionDeposit))
	a.DRepDeposit, a.DRepMaxIdleTime = new(lovelace(g.DRepDeposit)), &g.DRepActivity
	return a
}

// ratio returns a fraction as "1/2".
func ratio(r *big.Rat) string { return r.String() }
