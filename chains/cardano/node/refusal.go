package node

import (
	"encoding/hex"
	"fmt"
	"strings"

	gledger "github.com/blinklabs-io/gouroboros/ledger"
	fx "github.com/fxamacker/cbor/v2"

	"birthmark/chains/cardano/cbor"
)

// refusalText returns the reason for which a node refused a transaction, as text. A reason is CBOR: a text, or the
// failures of the ledger's rules. Those are named as far as they are known, with their contents in diagnostic notation
// (RFC 8949, section 8), and the bytes are added in hex. The rules of Conway are below, because the tags of gouroboros
// differ from those of cardano-ledger; older rules are those of gouroboros.
func refusalText(raw []byte) string {
	w := cbor.Walker{Data: raw}
	if w.Major() == cbor.Text {
		if text := w.Text("reason"); w.Err == nil {
			return string(text)
		}
	}
	text := failures(raw)
	if text == "" {
		text = olderFailures(raw)
	}
	return fmt.Sprintf("%s (CBOR %s)", text, hex.EncodeToString(raw))
}

// rule has the names of the failures of a rule of the ledger, by tag, and the rules whose failures these are.
type rule struct {
	names []string
	inner map[uint64]*rule
}

// Failures of Conway (cardano-ledger, eras/conway/impl/src/Cardano/Ledger/Conway/Rules).
var (
	utxosRule = &rule{names: []string{"ValidationTagMismatch", "CollectErrors"}}
	utxoRule  = &rule{inner: map[uint64]*rule{0: utxosRule}, names: []string{
		"UtxosFailure", "BadInputsUTxO", "OutsideValidityIntervalUTxO", "MaxTxSizeUTxO", "InputSetEmptyUTxO", "FeeTooSmallUTxO",
		"ValueNotConservedUTxO", "WrongNetwork", "WrongNetworkWithdrawal", "OutputTooSmallUTxO", "OutputBootAddrAttrsTooBig",
		"OutputTooBigUTxO", "InsufficientCollateral", "ScriptsNotPaidUTxO", "ExUnitsTooBigUTxO", "CollateralContainsNonADA",
		"WrongNetworkInTxBody", "OutsideForecast", "TooManyCollateralInputs", "NoCollateralInputs",
		"IncorrectTotalCollateralField", "BabbageOutputTooSmallUTxO", "BabbageNonDisjointRefInputs",
	}}
	utxowRule = &rule{inner: map[uint64]*rule{0: utxoRule}, names: []string{
		"UtxoFailure", "InvalidWitnessesUTXOW", "MissingVKeyWitnessesUTXOW", "MissingScriptWitnessesUTXOW",
		"ScriptWitnessNotValidatingUTXOW", "MissingTxBodyMetadataHash", "MissingTxMetadata", "ConflictingMetadataHash",
		"InvalidMetadata", "ExtraneousScriptWitnessesUTXOW", "MissingRedeemers", "MissingRequiredDatums",
		"NotAllowedSupplementalDatums", "PPViewHashesDontMatch", "UnspendableUTxONoDatumHash", "ExtraRedeemers",
		"MalformedScriptWitnesses", "MalformedReferenceScripts", "ScriptIntegrityHashMismatch",
	}}
	certsRule  = &rule{names: []string{"WithdrawalsNotInRewardsCERTS", "CertFailure"}}
	ledgerRule = &rule{inner: map[uint64]*rule{1: utxowRule, 2: certsRule}, names: []string{
		1: "ConwayUtxowFailure", 2: "ConwayCertsFailure", 3: "ConwayGovFailure", 4: "ConwayWdrlNotDelegatedToDRep",
		5: "ConwayTreasuryValueMismatch", 6: "ConwayTxRefScriptsSizeTooBig", 7: "ConwayMempoolFailure",
		8: "ConwayWithdrawalsMissingAccounts", 9: "ConwayIncompleteWithdrawals",
	}}
)

// conway is the number of the era.
const conway = 6

// failures names the failures of Conway, [[era, [failure, …]]]; "" if the bytes are something else.
func failures(raw []byte) string {
	w := cbor.Walker{Data: raw}
	outer := w.Fields("refusal")
	inner := outer.Fields("refusal of an era")
	if era := inner.Uint("era"); w.Err != nil || era != conway {
		return ""
	}
	var texts []string
	list := inner.Fields("failures")
	for w.Err == nil && !list.IsEmpty() {
		texts = append(texts, ledgerRule.describe(list.Item("failure")))
	}
	if w.Err != nil || len(texts) == 0 {
		return ""
	}
	return strings.Join(texts, "; ")
}

// describe names a failure of the rule, [tag, content, …], by the innermost rule that failed.
func (r *rule) describe(raw []byte) string {
	w := cbor.Walker{Data: raw}
	fields := w.Fields("failure")
	tag := fields.Uint("tag")
	if w.Err != nil || tag >= uint64(len(r.names)) || r.names[tag] == "" {
		return notation(raw)
	}
	var contents []string
	inner := r.inner[tag]
	for w.Err == nil && !fields.IsEmpty() {
		item := fields.Item("content")
		if inner != nil {
			return inner.describe(item)
		}
		contents = append(contents, notation(item))
	}
	return strings.TrimSpace(r.names[tag] + " " + strings.Join(contents, ", "))
}

// notation returns the diagnostic notation of an item.
func notation(raw []byte) string {
	if text, err := fx.Diagnose(raw); err == nil {
		return text
	}
	return hex.EncodeToString(raw)
}

// olderFailures names the failures of eras before Conway, and a transaction of another era, as gouroboros does.
func olderFailures(raw []byte) (text string) {
	const unknown = "the reason is unknown to this version"
	defer func() {
		if recover() != nil { // gouroboros expects what nodes send
			text = unknown
		}
	}()
	reason, err := gledger.NewTxSubmitErrorFromCbor(raw)
	if _, generic := reason.(*gledger.GenericError); err != nil || generic {
		return unknown
	}
	return reason.Error()
}
