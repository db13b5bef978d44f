package blockfrost

// parametersValue has the protocol parameters of an epoch.
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
