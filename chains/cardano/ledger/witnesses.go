package ledger

import (
	"math/big"

	"birthmark/chains/cardano/cbor"
)

// Keys of the witnesses (rule transaction_witness_set of the ledger's CDDL).
const (
	witnessNative    = 1
	witnessPlutus1   = 3
	witnessDatums    = 4
	witnessRedeemers = 5
	witnessPlutus2   = 6
	witnessPlutus3   = 7 // the CDDL of Dijkstra has no key for Plutus V4 yet
)

// scriptKeys are the languages of scripts by their key in the witnesses.
var scriptKeys = map[uint64]byte{witnessNative: languageNative, witnessPlutus1: 1, witnessPlutus2: 2, witnessPlutus3: 3}

// Witnesses are the parts of witnesses that concern scripts. Slices point into the bytes that were read.
type Witnesses struct {
	Datums    [][]byte
	Scripts   []Script
	Redeemers []Redeemer
}

// PurposeSpend is the purpose of a redeemer for an input.
const PurposeSpend = 0

// RedeemerPurposes are the names of the purposes of redeemers.
var RedeemerPurposes = [...]string{"spend", "mint", "cert", "reward", "vote", "propose", "guard"}

// PurposeName returns the name of the purpose.
func (r *Redeemer) PurposeName() string {
	if r.Purpose < uint64(len(RedeemerPurposes)) {
		return RedeemerPurposes[r.Purpose]
	}
	return "unknown"
}

// Redeemer is the argument of a script and the limits of its execution.
type Redeemer struct {
	Purpose       uint64 // position of its name in RedeemerPurposes, or beyond
	Index         uint64 // in the sorted inputs, policies and so on
	Data          []byte
	Memory, Steps uint64
}

// The prices of units of memory and of steps, over priceBase. The Alonzo genesis of the public networks has them, and
// no update has changed them.
const (
	priceMemory = 577_000
	priceSteps  = 721
	priceBase   = 10_000_000
)

// Fee returns the fee of the limits in lovelace, rounded up, on the public networks.
func (r *Redeemer) Fee() string {
	fee := new(big.Int).Mul(new(big.Int).SetUint64(r.Memory), big.NewInt(priceMemory))
	fee.Add(fee, new(big.Int).Mul(new(big.Int).SetUint64(r.Steps), big.NewInt(priceSteps)))
	fee.Add(fee, big.NewInt(priceBase-1))
	return fee.Div(fee, big.NewInt(priceBase)).String()
}

// ReadWitnesses reads witnesses. If they are malformed, it returns the parts before the fault.
func ReadWitnesses(raw []byte) (t Witnesses) {
	w := cbor.Walker{Data: raw}
	for _, e := range w.Entries("witnesses") {
		key, ok := e.Number()
		if !ok {
			continue
		}
		in := cbor.Walker{Data: e.Value}
		language, isScript := scriptKeys[key]
		switch {
		case key == witnessRedeemers:
			t.Redeemers = redeemers(&in)
		case key == witnessDatums:
			t.Datums = in.Elements("datums")
		case isScript:
			for _, item := range in.Elements("scripts") {
				s := Script{Language: language, Code: item}
				if language != languageNative {
					code := cbor.Walker{Data: item}
					if s.Code = code.Bytes("script"); code.Err != nil {
						continue
					}
				}
				t.Scripts = append(t.Scripts, s)
			}
		}
	}
	return t
}

// redeemers reads an array of [purpose, index, data, units], or since Conway also a map of [purpose, index] to
// [data, units]. Of equal purposes and indices, the last one counts, in both forms.
func redeemers(w *cbor.Walker) (all []Redeemer) {
	isMap := w.Major() == cbor.Map
	n := 0
	if isMap {
		n = w.Map("redeemers")
	} else {
		n = w.Array("redeemers")
	}
	for w.More(&n) {
		f := w.Fields("redeemer")
		r := Redeemer{Purpose: f.Uint("purpose of a redeemer"), Index: f.Uint("index of a redeemer")}
		if isMap {
			f.End()
			f = w.Fields("redeemer")
		}
		r.Data = f.Item("data of a redeemer")
		units := f.Fields("units of a redeemer")
		r.Memory, r.Steps = units.Uint("memory"), units.Uint("steps")
		units.End()
		f.End()
		if w.Err == nil {
			all = append(all, r)
		}
	}
	return cbor.Distinct(all, func(r *Redeemer) []byte {
		return cbor.AppendUint(cbor.AppendUint([]byte{cbor.Array<<5 | 2}, r.Purpose), r.Index)
	})
}
