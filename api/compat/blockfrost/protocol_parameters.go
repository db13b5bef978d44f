package blockfrost

import (
	"math/big"
	"strconv"

	"github.com/blinklabs-io/plutigo/lang"

	"birthmark/chains/cardano/node"
)

// parametersOf returns the parameters of a node.
func parametersOf(p *node.Parameters) *parametersValue {
	a := &parametersValue{
		Epoch: p.Epoch, MinFeeA: p.MinFeeA, MinFeeB: p.MinFeeB, MaxBlockSize: p.MaxBlockSize, MaxTxSize: p.MaxTxSize,
		MaxBlockHeaderSize: p.MaxHeaderSize, KeyDeposit: decimal(p.KeyDeposit), PoolDeposit: decimal(p.PoolDeposit),
		EMax: p.MaxEpoch, NOpt: p.OptimalPools, A0: float(p.A0), Rho: float(p.Rho), Tau: float(p.Tau),
		ProtocolMajor: p.Major, ProtocolMinor: p.Minor, MinUTxO: decimal(p.CoinsPerByte), MinPoolCost: decimal(p.MinPoolCost),
		Nonce: hexText(p.Nonce), PriceMem: float(p.PriceMemory), PriceStep: float(p.PriceSteps),
		MaxTxExMem: decimal(p.MaxTxMemory), MaxTxExSteps: decimal(p.MaxTxSteps),
		MaxBlockExMem: decimal(p.MaxBlockMemory), MaxBlockExSteps: decimal(p.MaxBlockSteps), MaxValSize: decimal(p.MaxValueSize),
		CollateralPercent: p.CollateralPercentage, MaxCollateralInputs: p.MaxCollateralInputs,
		CoinsPerUTxOSize: decimal(p.CoinsPerByte), CoinsPerUTxOWord: decimal(p.CoinsPerByte),
		CostModels: map[string]map[string]int64{}, CostModelsRaw: map[string][]int64{},
	}
	for language, costs := range p.CostModels {
		name := "PlutusV" + strconv.FormatUint(language+1, 10)
		a.CostModelsRaw[name], a.CostModels[name] = costs, namedCosts(language, costs)
	}
	g := p.Governance
	if g == nil {
		return a
	}
	for i, to := range []**float64{
		&a.PVTMotionNoConfidence, &a.PVTCommitteeNormal, &a.PVTCommitteeNoConfidence, &a.PVTHardForkInitiation, &a.PVTSecurityGroup,
	} {
		*to = new(float(g.PoolThresholds[i]))
	}
	a.PVTSecurityGroupOther = a.PVTSecurityGroup
	for i, to := range []**float64{
		&a.DVTMotionNoConfidence, &a.DVTCommitteeNormal, &a.DVTCommitteeNoConfidence, &a.DVTUpdateToConstitution, &a.DVTHardForkInitiation,
		&a.DVTNetworkGroup, &a.DVTEconomicGroup, &a.DVTTechnicalGroup, &a.DVTGovGroup, &a.DVTTreasuryWithdrawal,
	} {
		*to = new(float(g.DRepThresholds[i]))
	}
	a.CommitteeMinSize, a.CommitteeMaxTermLength = new(decimal(g.CommitteeMinSize)), new(decimal(g.CommitteeMaxTerm))
	a.GovActionLifetime, a.GovActionDeposit = new(decimal(g.ActionLifetime)), new(decimal(g.ActionDeposit))
	a.DRepDeposit, a.DRepActivity = new(decimal(g.DRepDeposit)), new(decimal(g.DRepActivity))
	a.ReferenceScriptCost = new(float(g.ReferenceScriptCost))
	return a
}

// namedCosts returns the costs of a language by name; a cost that this version has no name for by its position.
func namedCosts(language uint64, costs []int64) map[string]int64 {
	names := [...][]string{lang.CostModelParamNamesV1, lang.CostModelParamNamesV2, lang.CostModelParamNamesV3}
	all := map[string]int64{}
	for i, cost := range costs {
		if language < uint64(len(names)) && i < len(names[language]) {
			all[names[language][i]] = cost
		} else {
			all[strconv.Itoa(i)] = cost
		}
	}
	return all
}

func float(r *big.Rat) float64 {
	f, _ := r.Float64()
	return f
}
