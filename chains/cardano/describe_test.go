package cardano

import (
	"encoding/hex"
	"encoding/json"
	"fmt"
	"math/big"
	"slices"
	"strings"
	"testing"

	gouroboros "github.com/blinklabs-io/gouroboros/ledger"
	"github.com/blinklabs-io/gouroboros/ledger/common"
	"github.com/fxamacker/cbor/v2"

	"birthmark/chains/cardano/address"
	"birthmark/chains/cardano/ledger"
	"birthmark/internal/testrun"
	"birthmark/model"
)

// oddPool is a transaction of a generated block with a pool hash of 56 bytes.
const oddPool = "93d27dd059706c95d5d6618cf1bb88df78eaba6f105969c06e24445f2879aa8e"

// The details of real transactions of every era match the details from gouroboros.
func TestDetailsMatchGouroboros(t *testing.T) {
	testrun.Slow(t)
	seen := map[string]int{}
	each := func(name, network string, raw []byte) {
		c, err := New(network)
		if err != nil {
			t.Fatal(err)
		}
		b := whole(t, network, raw)
		era := b.Header[0]
		for i := range b.Txs {
			tx := &b.Txs[i]
			d, err := c.(model.TxDescriber).DescribeTx(tx.Raw, nil, nil)
			if err != nil {
				t.Fatalf("%s: %s: %v", name, tx.Hash, err)
			}
			if era == ledger.EraByron || tx.Hash.String() == oddPool {
				continue
			}
			theirs, err := gouroboros.NewTransactionFromCbor(uint(era)-ledger.EraShelley+gouroboros.TxTypeShelley, tx.Raw)
			if err != nil {
				t.Fatal(err)
			}
			if len(d.Outputs) != len(tx.Outputs) {
				t.Fatalf("%s: %s has %d outputs, expected %d", name, tx.Hash, len(d.Outputs), len(tx.Outputs))
			}
			if got, want := detailLines(d, seen), theirLines(t, theirs, era); got != want {
				t.Fatalf("%s: details of %s:\n%s\nexpected\n%s", name, tx.Hash, got, want)
			}
			if got, want := bodyLines(t, d, tx.Raw, seen), theirBodyLines(t, c.(*chain).net.Network, theirs); !slices.Equal(got, want) {
				t.Fatalf("%s: the body of %s:\n%s\nexpected\n%s", name, tx.Hash, got, want)
			}
			for _, m := range d.Metadata {
				if m == nil {
					t.Errorf("%s: metadata of %s cannot be read", name, tx.Hash)
				}
				seen["metadata"]++
			}
		}
	}
	for _, s := range singles(t) {
		each(s.File, s.network(), realFile(t, s.File))
	}
	chunks(t, func(name, network string, blocks [][]byte) {
		for _, raw := range blocks {
			each(name, network, raw)
		}
	})
	t.Log(seen)
	for what, least := range map[string]int{
		"certificate": 100, "withdrawal": 20, "reference input": 100, "collateral": 1000, "redeemer": 1000, "datum": 500,
		"inline datum": 500, "script reference": 20, "script": 500, "metadata": 500, "drep": 1,
		"account": 100, "vote": 1, "proposal": 1,
	} {
		if seen[what] < least {
			t.Errorf("%d times %s, expected at least %d", seen[what], what, least)
		}
	}
}

// detailLines returns the compared details as text, and counts them in seen.
func detailLines(d *model.TxDescription, seen map[string]int) string {
	var b strings.Builder
	line := func(what string, values ...any) {
		seen[what]++
		fmt.Fprintln(&b, append([]any{what}, values...)...)
	}
	if d.Valid != nil && !*d.Valid {
		line("failed")
	}
	for _, slot := range []*uint64{d.ValidFrom, d.ValidTo} {
		if slot != nil && *slot > 0 {
			line("slot", *slot)
		}
	}
	for _, c := range d.Certificates {
		line("certificate", c.Type, c.Pool)
		if c.DRep != "" {
			seen["drep"]++
		}
	}
	sum := new(big.Int)
	for _, w := range d.Withdrawals {
		n, _ := new(big.Int).SetString(w.Amount, 10)
		sum.Add(sum, n)
		seen["withdrawal"]++
	}
	line("withdrawn", sum, len(d.Withdrawals))
	for _, r := range d.ReferenceInputs {
		line("reference input", r.Tx, r.Index)
	}
	for _, r := range d.Collateral {
		line("collateral", r.Tx, r.Index)
	}
	for _, hash := range d.RequiredSigners {
		line("signer", hash)
	}
	var lines []string
	for _, r := range d.Redeemers {
		seen["redeemer"]++
		lines = append(lines, fmt.Sprintln("redeemer", r.Purpose, r.Index, r.Memory, r.Steps, r.Data.Raw, r.Data.Value != nil))
	}
	slices.Sort(lines)
	b.WriteString(strings.Join(lines, ""))
	for _, datum := range d.Datums {
		line("datum", datum.Hash, datum.Value != nil)
	}
	lines = lines[:0]
	for _, s := range d.Scripts {
		seen["script"]++
		lines = append(lines, fmt.Sprintln("script", s.Hash))
	}
	slices.Sort(lines)
	b.WriteString(strings.Join(lines, ""))
	for i := range d.Outputs {
		o := &d.Outputs[i]
		if o.Datum != nil {
			line("inline datum", o.Datum.Raw, o.Datum.Value != nil)
		} else if o.DatumHash != "" {
			line("datum hash", o.DatumHash)
		}
		if o.ScriptRef != nil {
			line("script reference", o.ScriptRef.Hash)
		}
	}
	return b.String()
}

// theirLines returns the expected result of detailLines.
func theirLines(t *testing.T, tx common.Transaction, era byte) string {
	t.Helper()
	var b strings.Builder
	line := func(values ...any) { fmt.Fprintln(&b, values...) }
	if !tx.IsValid() {
		line("failed")
	}
	for _, slot := range []uint64{tx.ValidityIntervalStart(), tx.TTL()} {
		if slot > 0 {
			line("slot", slot)
		}
	}
	for _, c := range tx.Certificates() {
		pool := ""
		switch c := c.(type) {
		case *common.StakeDelegationCertificate:
			pool = c.PoolKeyHash.String()
		case *common.PoolRetirementCertificate:
			pool = c.PoolKeyHash.String()
		case *common.PoolRegistrationCertificate:
			pool = c.Operator.String()
		case *common.StakeVoteDelegationCertificate:
			pool = common.NewBlake2b224(c.PoolKeyHash[:]).String()
		}
		if pool != "" {
			pool = address.FormatPoolHash(digits(t, pool))
		}
		line("certificate", certificateForms[c.Type()].name, pool)
	}
	sum := new(big.Int)
	for _, amount := range tx.Withdrawals() {
		sum.Add(sum, amount)
	}
	line("withdrawn", sum, len(tx.Withdrawals()))
	for _, r := range tx.ReferenceInputs() {
		line("reference input", r.Id().String(), r.Index())
	}
	for _, r := range tx.Collateral() {
		line("collateral", r.Id().String(), r.Index())
	}
	for _, hash := range tx.RequiredSigners() {
		line("signer", hash.String())
	}
	w := tx.Witnesses()
	var lines []string
	if era >= ledger.EraAlonzo && w.Redeemers() != nil {
		for key, value := range w.Redeemers().Iter() {
			lines = append(lines, fmt.Sprintln("redeemer", ledger.RedeemerPurposes[key.Tag], key.Index, value.ExUnits.Memory, value.ExUnits.Steps,
				fmt.Sprintf("%x", value.Data.Cbor()), true))
		}
	}
	slices.Sort(lines)
	b.WriteString(strings.Join(lines, ""))
	datums := map[string]bool{}
	for _, datum := range w.PlutusData() {
		if hash := datum.Hash().String(); !datums[hash] { // the ledger keeps one of equal datums
			datums[hash] = true
			line("datum", hash, true)
		}
	}
	lines = lines[:0]
	for _, s := range w.NativeScripts() {
		lines = append(lines, fmt.Sprintln("script", s.Hash().String()))
	}
	for _, s := range w.PlutusV1Scripts() {
		lines = append(lines, fmt.Sprintln("script", s.Hash().String()))
	}
	for _, s := range w.PlutusV2Scripts() {
		lines = append(lines, fmt.Sprintln("script", s.Hash().String()))
	}
	for _, s := range w.PlutusV3Scripts() {
		lines = append(lines, fmt.Sprintln("script", s.Hash().String()))
	}
	slices.Sort(lines)
	lines = slices.Compact(lines) // the ledger keeps one of equal scripts
	b.WriteString(strings.Join(lines, ""))
	for _, u := range tx.Produced() {
		o := u.Output
		if datum := o.Datum(); datum != nil {
			line("inline datum", fmt.Sprintf("%x", datum.Cbor()), true)
		} else if hash := o.DatumHash(); hash != nil {
			line("datum hash", hash.String())
		}
		if s := o.ScriptRef(); s != nil {
			line("script reference", s.Hash().String())
		}
	}
	return b.String()
}

func digits(t *testing.T, text string) []byte {
	t.Helper()
	b, err := hex.DecodeString(text)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// A transaction whose scripts failed creates only the collateral return.
func TestDetailsOfAFailedTransaction(t *testing.T) {
	c, err := New("mainnet")
	if err != nil {
		t.Fatal(err)
	}
	output := func(datum int) dict {
		return dict{0: make([]byte, 29), 1: 5, 2: list{1, cbor.Tag{Number: 24, Content: []byte(raw(t, datum))}}}
	}
	tx := raw(t, list{dict{0: list{}, 1: list{output(1), output(2)}, 2: 0, 16: output(3)}, dict{}, false, nil})
	d, err := c.(model.TxDescriber).DescribeTx(tx, nil, nil)
	if err != nil || d.Valid == nil || *d.Valid || len(d.Outputs) != 1 || d.Outputs[0].Datum.Raw != "03" {
		t.Errorf("%+v, %v", d, err)
	}
}

// Metadata and Plutus data have the same JSON as in cardano-cli.
func TestValuesAreWrittenAsByCardanoCLI(t *testing.T) {
	lists := func(n int) string { return strings.Repeat("81", n) + "00" }
	linked := strings.Repeat("d8798201", 4_090) + "80" // the longest list in a transaction
	for _, test := range []struct {
		read      func([]byte) any
		raw, want string
	}{
		{metadataJSON, "a2636d73678161611a075bcd15a1410f20", `{"123456789":{"0x0f":-1},"msg":["a"]}`},
		{metadataJSON, "a18101f5", `{"[1]":true}`},
		{metadataJSON, "c249010000000000000000", `18446744073709551616`},
		{metadataJSON, "61ff", `"�"`},
		{metadataJSON, "9f01ff", `[1]`},
		{metadataJSON, "0000", `null`},
		{metadataJSON, lists(MaxNesting), strings.Repeat("[", MaxNesting) + "0" + strings.Repeat("]", MaxNesting)},
		{metadataJSON, lists(MaxNesting + 1), `null`},
		{metadataJSON, "1bffffffffffffffff", `18446744073709551615`},
		{metadataJSON, "3bffffffffffffffff", `-18446744073709551616`},
		{plutusJSON, "d8799f0041ffff", `{"constructor":0,"fields":[{"int":0},{"bytes":"ff"}]}`},
		{plutusJSON, "d9050080", `{"constructor":7,"fields":[]}`},
		{plutusJSON, "d8668218ff8101", `{"constructor":255,"fields":[{"int":1}]}`},
		{plutusJSON, "a10102", `{"map":[{"k":{"int":1},"v":{"int":2}}]}`},
		{plutusJSON, "c349010000000000000000", `{"int":-18446744073709551617}`},
		{plutusJSON, "8120", `{"list":[{"int":-1}]}`},
		{plutusJSON, "6161", `null`},
		{plutusJSON, linked, strings.Repeat(`{"constructor":0,"fields":[{"int":1},`, 4_090) + `{"list":[]}` + strings.Repeat("]}", 4_090)},
		{plutusJSON, lists(MaxNesting/2 + 1), `null`},
	} {
		got, err := json.Marshal(test.read(digits(t, test.raw)))
		if err != nil || string(got) != test.want {
			t.Errorf("%.100s: %.100s, %v, expected %.100s", test.raw, got, err, test.want)
		}
	}
}

// Certificates of Conway. The available real blocks have few of them.
func TestCertificatesOfConway(t *testing.T) {
	c, err := New("mainnet")
	if err != nil {
		t.Fatal(err)
	}
	key, zero := list{0, make([]byte, 28)}, make([]byte, 28)
	const (
		drep = "drep1ygqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqq7vlc9n" // CIP-129
		hot  = "cc_hot1qgqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqvcdjk7"
		cold = "cc_cold1zvqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqq6kflvs"
	)
	for _, test := range []struct {
		certificate list
		want        model.Certificate
	}{
		{list{13, key, zero, list{0, zero}, 2000000}, model.Certificate{
			Type: "stake_vote_reg_deleg", DRep: drep, Deposit: "2000000", Pool: address.FormatPoolHash(zero),
		}},
		{list{9, key, list{2}}, model.Certificate{Type: "vote_deleg", DRep: "abstain"}},
		{list{9, key, list{3}}, model.Certificate{Type: "vote_deleg", DRep: "no_confidence"}},
		{list{14, list{1, zero}, list{0, zero}}, model.Certificate{Type: "auth_committee_hot", Credential: cold, HotCredential: hot}},
		{list{16, key, 500000000, nil}, model.Certificate{Type: "reg_drep", DRep: drep, Deposit: "500000000"}},
		{list{18, key, list{"url", make([]byte, 32)}}, model.Certificate{Type: "update_drep", DRep: drep, URL: "url", Hash: strings.Repeat("0", 64)}},
		{list{99, 1}, model.Certificate{Type: "unknown_99"}},
		{list{3, zero, filled(32, 0), list{filled(96, 0), filled(48, 0)}, 7, 8, tagged(30, list{1, 2}), append([]byte{0xe0}, zero...), list{}, list{}, nil},
			model.Certificate{Type: "pool_registration", Pool: address.FormatPoolHash(zero), Pledge: "7", Cost: "8", Margin: "1/2", RewardAddress: address.FormatStakeCredential(address.Mainnet, make([]byte, 29))}}, // of Dijkstra; the account has another tag
		{list{2, key}, model.Certificate{Type: "stake_delegation"}}, // without a pool: malformed
	} {
		item := raw(t, list{test.certificate})
		got := c.(*chain).certificates(item)
		test.want.Raw = fmt.Sprintf("%x", raw(t, test.certificate))
		if len(got) == 1 && got[0].StakeAddress != "" {
			if !strings.HasPrefix(got[0].StakeAddress, "stake1u") {
				t.Errorf("stake address %s", got[0].StakeAddress)
			}
			got[0].StakeAddress = ""
		}
		if len(got) != 1 || fmt.Sprint(got[0]) != fmt.Sprint(test.want) {
			t.Errorf("%v\n got %+v\nwant %+v", test.certificate, got, test.want)
		}
	}
}
