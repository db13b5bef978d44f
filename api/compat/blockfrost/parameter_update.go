package blockfrost

import (
	"math/big"
	"strconv"

	"birthmark/chains/cardano/cbor"
)

// change is one parameter of an update (rule protocol_param_update of the ledger's CDDL), or several that have one key.
type change struct {
	names [][]string // of each value; several names have the same value
	read  func(*cbor.Walker) any
	array bool // the values are in an array
}

func oneValue(read func(*cbor.Walker) any, names ...string) change {
	return change{[][]string{names}, read, false}
}

func manyValues(read func(*cbor.Walker) any, names ...string) change {
	c := change{read: read, array: true}
	for _, name := range names {
		c.names = append(c.names, []string{name})
	}
	return c
}

func readInteger(w *cbor.Walker) any { return w.Uint("parameter") }
func readDecimal(w *cbor.Walker) any { return decimal(w.Uint("parameter")) }

// readRatio reads #6.30([numerator, denominator]).
func readRatio(w *cbor.Walker) any {
	if major, _, _ := w.Head("ratio"); w.Err == nil && major != cbor.Tag {
		w.Fail("expected a ratio")
	}
	f := w.Fields("ratio")
	a, b := f.Uint("numerator"), f.Uint("denominator")
	if f.End(); w.Err == nil && b == 0 {
		w.Fail("a ratio with the denominator 0")
	}
	if w.Err != nil {
		return nil
	}
	return float(new(big.Rat).SetFrac(new(big.Int).SetUint64(a), new(big.Int).SetUint64(b)))
}

// readModels reads the costs of each language in their order.
func readModels(w *cbor.Walker) any {
	all := map[string][]int64{}
	for _, e := range w.Entries("cost models") {
		language, ok := e.Number()
		if !ok {
			continue
		}
		in, costs := cbor.Walker{Data: e.Value}, []int64{}
		for n := in.Array("cost model"); in.More(&n); {
			costs = append(costs, in.Int("cost"))
		}
		all["PlutusV"+strconv.FormatUint(language+1, 10)] = costs
	}
	return all
}

// changes are the parameters by their keys.
var changes = map[uint64]change{
	0: oneValue(readInteger, "min_fee_a"), 1: oneValue(readInteger, "min_fee_b"), 2: oneValue(readInteger, "max_block_size"),
	3: oneValue(readInteger, "max_tx_size"), 4: oneValue(readInteger, "max_block_header_size"), 5: oneValue(readDecimal, "key_deposit"),
	6: oneValue(readDecimal, "pool_deposit"), 7: oneValue(readInteger, "e_max"), 8: oneValue(readInteger, "n_opt"), 9: oneValue(readRatio, "a0"),
	10: oneValue(readRatio, "rho"), 11: oneValue(readRatio, "tau"), 16: oneValue(readDecimal, "min_pool_cost"),
	17: oneValue(readDecimal, "min_utxo", "coins_per_utxo_size", "coins_per_utxo_word"), 18: oneValue(readModels, "cost_models"),
	19: manyValues(readRatio, "price_mem", "price_step"), 20: manyValues(readDecimal, "max_tx_ex_mem", "max_tx_ex_steps"),
	21: manyValues(readDecimal, "max_block_ex_mem", "max_block_ex_steps"), 22: oneValue(readDecimal, "max_val_size"),
	23: oneValue(readInteger, "collateral_percent"), 24: oneValue(readInteger, "max_collateral_inputs"),
	25: {[][]string{
		{"pvt_motion_no_confidence"}, {"pvt_committee_normal"}, {"pvt_committee_no_confidence"}, {"pvt_hard_fork_initiation"},
		{"pvtpp_security_group", "pvt_p_p_security_group"},
	}, readRatio, true},
	26: manyValues(readRatio, "dvt_motion_no_confidence", "dvt_committee_normal", "dvt_committee_no_confidence",
		"dvt_update_to_constitution", "dvt_hard_fork_initiation", "dvt_p_p_network_group", "dvt_p_p_economic_group",
		"dvt_p_p_technical_group", "dvt_p_p_gov_group", "dvt_treasury_withdrawal"),
	27: oneValue(readDecimal, "committee_min_size"), 28: oneValue(readDecimal, "committee_max_term_length"),
	29: oneValue(readDecimal, "gov_action_lifetime"), 30: oneValue(readDecimal, "gov_action_deposit"), 31: oneValue(readDecimal, "drep_deposit"),
	32: oneValue(readDecimal, "drep_activity"), 33: oneValue(readRatio, "min_fee_ref_script_cost_per_byte"),
}

// goneParameters are parameters of earlier eras, which no proposal changes.
var goneParameters = []string{"epoch", "decentralisation_param", "extra_entropy", "protocol_major_ver", "protocol_minor_ver"}

// changedParameters returns the parameters that a proposal changes, by name. The others are null. Parameters of later
// eras have no names at Blockfrost, so they are left out.
func changedParameters(raw []byte) (map[string]any, error) {
	all := map[string]any{}
	for _, name := range goneParameters {
		all[name] = nil
	}
	for _, c := range changes {
		for _, names := range c.names {
			for _, name := range names {
				all[name] = nil
			}
		}
	}
	w := cbor.Walker{Data: raw}
	for _, e := range w.Entries("parameters") {
		key, _ := e.Number()
		c, known := changes[key]
		if !known {
			continue
		}
		in := cbor.Walker{Data: e.Value}
		left := len(c.names)
		if c.array {
			left = in.Array("parameters")
		}
		for _, names := range c.names {
			if c.array {
				in.Field(&left, "parameter")
			}
			value := c.read(&in)
			for _, name := range names {
				all[name] = value
			}
		}
		if c.array {
			in.End(&left, "parameters")
		}
		if in.Err != nil {
			return nil, in.Err
		}
	}
	return all, w.Err
}
