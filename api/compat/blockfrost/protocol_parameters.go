package blockfrost

import (
	"math/big"
	"strconv"

	"github.com/blinklabs-io/plutigo/lang"

	"birthmark/chains/cardano/node"
)

// parametersValue is the protocol parameters of an epoch.
type parametersValue struct {
	Epoch              uint64  `json:"epoch"`
	MinFeeA            uint64  `json:"min_fee_a"`
	MinFeeB            uint64  `json:"min_fee_b"`
	MaxBlockSize       uint64  `json:"max_block_size"`
	MaxTxSize          uint64  `json:"max_tx_size"`
	MaxBlockHeaderSize uint64  `json:"max_block_header_size"`
	KeyDeposit         string  `json:"key_deposit"`
	PoolDeposit        string  `json:"pool_deposit"`
	EMax               uint64  `json:"e_max"`
	NOpt               uint64  `json:"n_opt"`
	A0                 float64 `json:"a0"`
	Rho                float64 `json:"rho"`
	Tau                float64 `json:"tau"`
	Decentralisation   float64 `json:"decentralisation_param"` // 0 since Babbage
	ExtraEntropy       *string `json:"extra_entropy"`          // none since Babbage
	ProtocolMajor      uint64  `json:"protocol_major_ver"`
	ProtocolMinor      uint64  `json:"protocol_minor_ver"`
	MinUTxO            string  `json:"min_utxo"`
	MinPoolCost        string  `json:"min_pool_cost"`
	Nonce              *string `json:"nonce"`

	CostModels    map[string]map[string]int64 `json:"cost_models"`
	CostModelsRaw map[string][]int64          `json:"cost_models_raw"`

	PriceMem            float64 `json:"price_mem"`
	PriceStep           float64 `json:"price_step"`
	MaxTxExMem          string  `json:"max_tx_ex_mem"`
	MaxTxExSteps        string  `json:"max_tx_ex_steps"`
	MaxBlockExMem       string  `json:"max_block_ex_mem"`
	MaxBlockExSteps     string  `json:"max_block_ex_steps"`
	MaxValSize          string  `json:"max_val_size"`
	CollateralPercent   uint64  `json:"collateral_percent"`
	MaxCollateralInputs uint64  `json:"max_collateral_inputs"`
	CoinsPerUTxOSize    string  `json:"coins_per_utxo_size"`
	CoinsPerUTxOWord    string  `json:"coins_per_utxo_word"`

	PVTMotionNoConfidence    *float64 `json:"pvt_motion_no_confidence"`
	PVTCommitteeNormal       *float64 `json:"pvt_committee_normal"`
	PVTCommitteeNoConfidence *float64 `json:"pvt_committee_no_confidence"`
	PVTHardForkInitiation    *float64 `json:"pvt_hard_fork_initiation"`
	PVTSecurityGroup         *float64 `json:"pvt_p_p_security_group"`
	PVTSecurityGroupOther    *float64 `json:"pvtpp_security_group"`
	DVTMotionNoConfidence    *float64 `json:"dvt_motion_no_confidence"`
	DVTCommitteeNormal       *float64 `json:"dvt_committee_normal"`
	DVTCommitteeNoConfidence *float64 `json:"dvt_committee_no_confidence"`
	DVTUpdateToConstitution  *float64 `json:"dvt_update_to_constitution"`
	DVTHardForkInitiation    *float64 `json:"dvt_hard_fork_initiation"`
	DVTNetworkGroup          *float64 `json:"dvt_p_p_network_group"`
	DVTEconomicGroup         *float64 `json:"dvt_p_p_economic_group"`
	DVTTechnicalGroup        *float64 `json:"dvt_p_p_technical_group"`
	DVTGovGroup              *float64 `json:"dvt_p_p_gov_group"`
	DVTTreasuryWithdrawal    *float64 `json:"dvt_treasury_withdrawal"`
	CommitteeMinSize         *string  `json:"committee_min_size"`
	CommitteeMaxTermLength   *string  `json:"committee_max_term_length"`
	GovActionLifetime        *string  `json:"gov_action_lifetime"`
	GovActionDeposit         *string  `json:"gov_action_deposit"`
	DRepDeposit              *string  `json:"drep_deposit"`
	DRepActivity             *string  `json:"drep_activity"`
	ReferenceScriptCost      *float64 `json:"min_fee_ref_script_cost_per_byte"`
}

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
