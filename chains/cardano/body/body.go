// Package body reads the parts of a transaction body that [model.TxDescription] does not have, in the order of the ledger,
// and finds the scripts that redeemers are for.
package body

import (
	"bytes"
	"slices"

	"birthmark/chains/cardano/address"
	"birthmark/chains/cardano/cbor"
	"birthmark/chains/cardano/ledger"
	"birthmark/model"
)

// Keys of a transaction body (rule transaction_body of the ledger's CDDL).
const (
	bodyInputs           = 0
	bodyCertificates     = 4
	bodyWithdrawals      = 5
	bodyMint             = 9
	bodyGuards           = 14
	bodyCollateralReturn = 16
	bodyVotes            = 19
	bodyProposals        = 20
	bodyDonation         = 22
)

// Body is the parts of a transaction body that [model.TxDetails] does not have. Values point into the bytes.
type Body struct {
	Inputs           []model.Input // regular ones, in the order of the ledger
	Certificates     [][]byte
	Accounts         [][]byte            // of withdrawals, in the order of the ledger
	Mints            map[string][][]byte // names by policy
	CollateralReturn []byte
	Voters           [][]byte // in the order of the ledger, as [kind, hash]
	Votes            []byte   // by voter; nil: none
	Proposals        [][]byte
	Guards           [][]byte // hashes of keys and scripts
	Donation         uint64
}

// Read parses a transaction body. A nil raw (Byron) yields an empty Body.
func Read(raw []byte) (b Body, err error) {
	if raw == nil {
		return b, nil
	}
	w := cbor.Walker{Data: raw}
	for _, e := range w.Entries("body") {
		key, ok := e.Number()
		if !ok {
			continue
		}
		in := cbor.Walker{Data: e.Value}
		switch key {
		case bodyInputs:
			b.Inputs = ledger.Outpoints(e.Value)
		case bodyCertificates:
			b.Certificates = in.Sequence("certificates")
		case bodyWithdrawals:
			for _, w := range ReadWithdrawals(e.Value) {
				b.Accounts = append(b.Accounts, w.Account)
			}
		case bodyMint:
			b.Mints = readMints(&in)
		case bodyCollateralReturn:
			b.CollateralReturn = e.Value
		case bodyVotes:
			b.Votes = e.Value
			for _, e := range in.Entries("votes") {
				b.Voters = append(b.Voters, e.Key)
			}
		case bodyProposals:
			b.Proposals = in.Sequence("proposals")
		case bodyGuards:
			b.Guards = ledger.RequiredSigners(e.Value)
		case bodyDonation:
			b.Donation = in.Uint("donation")
		}
		if in.Err != nil {
			return b, in.Err
		}
	}
	ledger.SortInputs(b.Inputs)
	slices.SortFunc(b.Accounts, compareAccounts)
	slices.SortFunc(b.Voters, compareVoters)
	return b, w.Err
}

func readMints(w *cbor.Walker) map[string][][]byte {
	all := map[string][][]byte{}
	for _, of := range w.Entries("mint") {
		policy, assets := cbor.Walker{Data: of.Key}, cbor.Walker{Data: of.Value}
		id := string(policy.Bytes("policy"))
		for _, e := range assets.Entries("assets of a policy") {
			name, amount := cbor.Walker{Data: e.Key}, cbor.Walker{Data: e.Value}
			if amount.Int("amount") != 0 {
				all[id] = append(all[id], name.Bytes("asset name"))
			}
		}
	}
	return all
}

// Withdrawal is an amount of lovelace for a reward account: from the account, or from the treasury.
type Withdrawal struct {
	Account []byte
	Amount  uint64
}

// ReadWithdrawals reads a map of reward accounts to amounts, in the order of the bytes; none if it is nil. If it is
// malformed, the entries before the fault are returned.
func ReadWithdrawals(raw []byte) (all []Withdrawal) {
	in := cbor.Walker{Data: raw}
	for _, e := range in.Entries("withdrawals") {
		account, amount := cbor.Walker{Data: e.Key}, cbor.Walker{Data: e.Value}
		w := Withdrawal{account.Bytes("reward account"), amount.Uint("amount")}
		if account.Err == nil && amount.Err == nil {
			all = append(all, w)
		}
	}
	return all
}

// MintCount returns the number of assets that the transaction mints or burns.
func (b *Body) MintCount() (n int) {
	for _, names := range b.Mints {
		n += len(names)
	}
	return n
}

// compareAccounts orders reward accounts as the ledger does: scripts before keys.
func compareAccounts(a, b []byte) int {
	if isScript := isScriptAccount(a); isScript != isScriptAccount(b) {
		if isScript {
			return -1
		}
		return 1
	}
	return bytes.Compare(a, b)
}

func isScriptAccount(account []byte) bool { return len(account) > 0 && account[0]>>4&1 != 0 }

// voterOrder is the position of a kind of voters in the order of the ledger, which has committee members before DReps
// before pools, and scripts before keys. Kinds are numbered by the CDDL rule voter.
var voterOrder = [...]int{1, 0, 3, 2, 4}

func compareVoters(a, b []byte) int {
	x, hashX := readVoter(a)
	y, hashY := readVoter(b)
	if x != y && x < uint64(len(voterOrder)) && y < uint64(len(voterOrder)) {
		return voterOrder[x] - voterOrder[y]
	}
	return bytes.Compare(hashX, hashY)
}

func readVoter(item []byte) (kind uint64, hash []byte) {
	w := cbor.Walker{Data: item}
	f := w.Fields("voter")
	return f.Uint("kind of a voter"), f.Bytes("hash of a voter")
}

// ScriptOf returns the hash of the script that a redeemer is for, nil if it is unknown. spent is the address of the input
// at a position.
func (b *Body) ScriptOf(r *ledger.Redeemer, spent func(i uint64) []byte) []byte {
	at := func(list [][]byte) []byte {
		if r.Index < uint64(len(list)) {
			return list[r.Index]
		}
		return nil
	}
	switch r.Purpose {
	case 0: // spend
		cred, ok := address.PaymentCredential(spent(r.Index))
		if ok {
			return cred[1:]
		}
	case 1: // mint
		policies := make([][]byte, 0, len(b.Mints))
		for p := range b.Mints {
			policies = append(policies, []byte(p))
		}
		slices.SortFunc(policies, bytes.Compare)
		return at(policies)
	case 2: // cert
		return certificateScript(at(b.Certificates))
	case 3: // reward
		if account := at(b.Accounts); len(account) > 1 {
			return account[1:]
		}
	case 4: // vote
		_, hash := readVoter(at(b.Voters))
		return hash
	case 5: // propose
		return guardrail(at(b.Proposals))
	case 6: // guard
		return at(b.Guards)
	}
	return nil
}

// certificateScript returns the hash of the credential of a certificate, its first field, if there is one.
func certificateScript(item []byte) []byte {
	w := cbor.Walker{Data: item}
	f := w.Fields("certificate")
	f.Uint("type")
	cred := f.Fields("credential")
	cred.Uint("kind")
	if hash := cred.Bytes("hash"); w.Err == nil {
		return hash
	}
	return nil
}

// guardrail returns the hash of the script in a proposal: the last part of its action, of parameters or withdrawals.
func guardrail(item []byte) []byte {
	w := cbor.Walker{Data: item}
	f := w.Fields("proposal")
	f.Skip("deposit")
	f.Skip("reward account")
	action := f.Fields("action")
	switch action.Uint("kind of the action") {
	case 0:
		action.Skip("action before")
		action.Skip("parameters")
	case 2:
		action.Skip("withdrawals")
	default:
		return nil
	}
	if hash := action.Item("guardrail script"); w.Err == nil && len(hash) > address.CredentialSize {
		return hash[len(hash)-address.CredentialSize:]
	}
	return nil
}

// Payment is a payment of rewards by a certificate (move_instantaneous_rewards).
type Payment struct {
	Treasury   bool   // from the treasury, otherwise from the reserves
	Credential []byte // as it is stored
	Amount     string // lovelace, in decimal
}

const certificateMIR = 6

// Payments returns the payments of a certificate; none if it moves lovelace between reserves and treasury.
func Payments(item []byte) (all []Payment) {
	w := cbor.Walker{Data: item}
	f := w.Fields("certificate")
	if f.Uint("type") != certificateMIR {
		return nil
	}
	move := f.Fields("rewards")
	treasury := move.Uint("pot") == 1
	in := cbor.Walker{Data: move.Item("payments")}
	if w.Err != nil || in.Major() != cbor.Map {
		return nil
	}
	for _, e := range in.Entries("payments") {
		key, amount := cbor.Walker{Data: e.Key}, cbor.Walker{Data: e.Value}
		cred := key.Fields("credential")
		kind, hash := cred.Uint("kind"), cred.Bytes("hash")
		cred.End()
		n := amount.Integer("amount")
		if key.Err != nil || amount.Err != nil {
			return all
		}
		all = append(all, Payment{treasury, append([]byte{byte(kind)}, hash...), n.String()})
	}
	return all
}
