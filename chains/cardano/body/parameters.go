package body

import (
	"encoding/hex"
	"strconv"

	"birthmark/chains/cardano/cbor"
)

// Parameter is a protocol parameter that an update sets: a number, a ratio, or the costs of the languages of scripts.
type Parameter struct {
	Name        string // of Blockfrost; unknown_N if the key N is of a later era
	Number      uint64 // the numerator of a ratio
	Denominator uint64 // 0 unless the parameter is a ratio
	Models      []CostModel
	Unknown     []byte // the value of an unknown parameter
}

// CostModel is the costs of the operations of a language, in the order of the ledger.
type CostModel struct {
	Language string // plutus_v1, plutus_v2 …
	Costs    []int64
}

// String returns the value as text: 44, 1/100, "plutus_v3: 297 costs", the bytes in hex.
func (p *Parameter) String() string {
	switch {
	case p.Unknown != nil:
		return hex.EncodeToString(p.Unknown)
	case p.Denominator > 0:
		return strconv.FormatUint(p.Number, 10) + "/" + strconv.FormatUint(p.Denominator, 10)
	case p.Models == nil:
		return strconv.FormatUint(p.Number, 10)
	}
	text := ""
	for i, m := range p.Models {
		if i > 0 {
			text += ", "
		}
		text += m.Language + ": " + strconv.Itoa(len(m.Costs)) + " costs"
	}
	return text
}

// parameter is the parameters of a key of an update (rule protocol_param_update of the ledger's CDDL).
type parameter struct {
	names []string // several are in an array
	ratio bool
}

func numbers(names ...string) parameter { return parameter{names, false} }
func ratios(names ...string) parameter  { return parameter{names, true} }

// keyModels is the key of the costs of scripts.
const keyModels = 18

var parameters = map[uint64]parameter{
	0: numbers("min_fee_a"), 1: numbers("min_fee_b"), 2: numbers("max_block_size"), 3: numbers("max_tx_size"),
	4: numbers("max_block_header_size"), 5: numbers("key_deposit"), 6: numbers("pool_deposit"), 7: numbers("e_max"),
	8: numbers("n_opt"), 9: ratios("a0"), 10: ratios("rho"), 11: ratios("tau"), 16: numbers("min_pool_cost"),
	17: numbers("coins_per_utxo_size"), keyModels: numbers("cost_models"), 19: ratios("price_mem", "price_step"),
	20: numbers("max_tx_ex_mem", "max_tx_ex_steps"), 21: numbers("max_block_ex_mem", "max_block_ex_steps"),
	22: numbers("max_val_size"), 23: numbers("collateral_percent"), 24: numbers("max_collateral_inputs"),
	25: ratios("pvt_motion_no_confidence", "pvt_committee_normal", "pvt_committee_no_confidence", "pvt_hard_fork_initiation",
		"pvt_p_p_security_group"),
	26: ratios("dvt_motion_no_confidence", "dvt_committee_normal", "dvt_committee_no_confidence",
		"dvt_update_to_constitution", "dvt_hard_fork_initiation", "dvt_p_p_network_group", "dvt_p_p_economic_group",
		"dvt_p_p_technical_group", "dvt_p_p_gov_group", "dvt_treasury_withdrawal"),
	27: numbers("committee_min_size"), 28: numbers("committee_max_term_length"), 29: numbers("gov_action_lifetime"),
	30: numbers("gov_action_deposit"), 31: numbers("drep_deposit"), 32: numbers("drep_activity"),
	33: ratios("min_fee_ref_script_cost_per_byte"),
}

// ParameterNames returns the names of all parameters that an update of the present era can set.
func ParameterNames() (names []string) {
	for _, p := range parameters {
		names = append(names, p.names...)
	}
	return names
}

// ReadParameters reads an update of the protocol parameters, in its order. If it is malformed, it returns an error and
// the parameters before the fault.
func ReadParameters(update []byte) (all []Parameter, err error) {
	w := cbor.Walker{Data: update}
	for _, e := range w.Entries("parameters") {
		key, ok := e.Number()
		p, known := parameters[key]
		if !ok || !known {
			name := "unknown_" + hex.EncodeToString(e.Key)
			if ok {
				name = "unknown_" + strconv.FormatUint(key, 10)
			}
			all = append(all, Parameter{Name: name, Unknown: e.Value})
			continue
		}
		in := cbor.Walker{Data: e.Value}
		left := 1
		if len(p.names) > 1 {
			left = in.Array("parameters")
		}
		for _, name := range p.names {
			set := Parameter{Name: name}
			if len(p.names) > 1 {
				in.Field(&left, "parameter")
			}
			switch {
			case key == keyModels:
				set.Models = readModels(&in)
			case p.ratio:
				set.Number, set.Denominator = ReadRatio(&in)
			default:
				set.Number = in.Uint("parameter")
			}
			if in.Err != nil {
				return all, in.Err
			}
			all = append(all, set)
		}
		if len(p.names) > 1 {
			in.End(&left, "parameters")
		}
		if in.Err != nil {
			return all, in.Err
		}
	}
	return all, w.Err
}

// ReadRatio reads #6.30([numerator, denominator]).
func ReadRatio(w *cbor.Walker) (numerator, denominator uint64) {
	if major, _, _ := w.Head("ratio"); w.Err == nil && major != cbor.Tag {
		w.Fail("expected a ratio")
	}
	f := w.Fields("ratio")
	numerator, denominator = f.Uint("numerator"), f.Uint("denominator")
	if f.End(); w.Err == nil && denominator == 0 {
		w.Fail("a ratio with the denominator 0")
	}
	return numerator, denominator
}

// readModels reads the costs of each language, in their order.
func readModels(w *cbor.Walker) []CostModel {
	all := []CostModel{}
	for _, e := range w.Entries("cost models") {
		language, ok := e.Number()
		if !ok {
			continue
		}
		m := CostModel{"plutus_v" + strconv.FormatUint(language+1, 10), []int64{}}
		in := cbor.Walker{Data: e.Value}
		for n := in.Array("cost model"); in.More(&n); {
			m.Costs = append(m.Costs, in.Int("cost"))
		}
		all = append(all, m)
	}
	return all
}
