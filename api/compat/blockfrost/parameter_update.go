package blockfrost

import (
	"math/big"
	"slices"
	"strings"

	"birthmark/chains/cardano/body"
)

// decimalParameters are numbers that Blockfrost answers as texts.
var decimalParameters = []string{
	"key_deposit", "pool_deposit", "min_pool_cost", "coins_per_utxo_size", "max_tx_ex_mem", "max_tx_ex_steps", "max_block_ex_mem",
	"max_block_ex_steps", "max_val_size", "committee_min_size", "committee_max_term_length", "gov_action_lifetime",
	"gov_action_deposit", "drep_deposit", "drep_activity",
}

// moreNames are further names of parameters, with the same value.
var moreNames = map[string][]string{
	"coins_per_utxo_size":    {"min_utxo", "coins_per_utxo_word"},
	"pvt_p_p_security_group": {"pvtpp_security_group"},
}

// goneParameters are parameters of earlier eras, which no proposal changes.
var goneParameters = []string{"epoch", "decentralisation_param", "extra_entropy", "protocol_major_ver", "protocol_minor_ver"}

// changedParameters returns the parameters that a proposal changes, by name. The others are null. Parameters of later
// eras have no names at Blockfrost, so they are left out.
func changedParameters(raw []byte) (map[string]any, error) {
	all := map[string]any{}
	set := func(name string, value any) {
		for _, name := range append([]string{name}, moreNames[name]...) {
			all[name] = value
		}
	}
	for _, name := range slices.Concat(goneParameters, body.ParameterNames()) {
		set(name, nil)
	}
	changed, err := body.ReadParameters(raw)
	if err != nil {
		return nil, err
	}
	for i := range changed {
		if p := &changed[i]; p.Unknown == nil {
			set(p.Name, parameterValue(p))
		}
	}
	return all, nil
}

// parameterValue returns the value of a parameter as Blockfrost answers it.
func parameterValue(p *body.Parameter) any {
	switch {
	case p.Models != nil:
		models := map[string][]int64{}
		for _, m := range p.Models {
			models[strings.Replace(m.Language, "plutus_v", "PlutusV", 1)] = m.Costs
		}
		return models
	case p.Denominator > 0:
		return float(new(big.Rat).SetFrac(new(big.Int).SetUint64(p.Number), new(big.Int).SetUint64(p.Denominator)))
	case slices.Contains(decimalParameters, p.Name):
		return decimal(p.Number)
	}
	return p.Number
}
