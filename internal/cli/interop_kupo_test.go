//go:build interop

package cli

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"birthmark/chains/cardano/address"
	"birthmark/internal/testblocks"
)

// kupmiosOutput is an output in the form of Lucid Evolution.
type kupmiosOutput struct {
	TxHash      string                         `json:"txHash"`
	OutputIndex int                            `json:"outputIndex"`
	Address     string                         `json:"address"`
	Assets      map[string]string              `json:"assets"`
	DatumHash   string                         `json:"datumHash"`
	Datum       string                         `json:"datum"`
	ScriptRef   *struct{ Type, Script string } `json:"scriptRef"`
}

// detailedOutput is an output of a transaction in the API of this program.
type detailedOutput struct {
	Index     int
	Datum     *struct{ Raw string }
	ScriptRef *struct{ Language, Raw string } `json:"script_ref"`
}

func (o *kupmiosOutput) text() string {
	return fmt.Sprintf("%s:%d %s %v", o.TxHash, o.OutputIndex, o.Address, o.Assets)
}

// unspentOf returns the unspent outputs of a value from the API of this program, as kupmiosOutput.text formats them. It
// returns nil if they do not fit on one page.
func unspentOf(t *testing.T, s *serverProcess, index, value string) (texts []string) {
	t.Helper()
	var a struct {
		Outputs []struct {
			Tx     string
			Index  int
			Value  string
			Keys   struct{ Address string }
			Assets []struct{ Asset, Amount string }
		}
		Next *string
	}
	s.get(t, "v1/cardano-preview/find/"+index+"/"+value+"?unspent=true&limit=10000").into(t, &a)
	if a.Next != nil {
		return nil
	}
	for _, o := range a.Outputs {
		out := kupmiosOutput{TxHash: o.Tx, OutputIndex: o.Index, Address: o.Keys.Address, Assets: map[string]string{"lovelace": o.Value}}
		for _, asset := range o.Assets {
			out.Assets[asset.Asset] = asset.Amount
		}
		texts = append(texts, out.text())
	}
	slices.Sort(texts)
	return texts
}

// kupmiosAnswer is the value of a method of Lucid Evolution's Kupmios provider, or its error.
type kupmiosAnswer struct {
	Value json.RawMessage
	Error string
}

// kupmios calls methods of the provider. Each element is a method and its arguments.
func kupmios(t *testing.T, url string, questions [][]any) (answers []kupmiosAnswer) {
	t.Helper()
	in, err := json.Marshal(questions)
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), "node", "kupmios.js", url+"kupo", url+"ogmios")
	cmd.Dir, cmd.Stdin, cmd.Stderr = filepath.Join("..", "..", "tools", "interop", "cardano"), bytes.NewReader(in), os.Stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%v: run make test-interop, which installs it", err)
	}
	if err := json.Unmarshal(out, &answers); err != nil || len(answers) != len(questions) {
		t.Fatalf("%d answers to %d questions: %v", len(answers), len(questions), err)
	}
	return answers
}

// kupmiosOfANode checks the methods of Kupmios that need Ogmios, over a server with the node of [stateOfTheNode].
func kupmiosOfANode(t *testing.T, url, tx string) {
	t.Helper()
	answers := kupmios(t, url+"/", [][]any{
		{"getProtocolParameters"},
		{"getDelegation", address.FormatStakeCredential(address.Network{Testnet: true}, append([]byte{0}, bytes.Repeat([]byte{1}, 28)...))},
		{"submitTx", tx},
		{"submitTx", "80"},
		{"evaluateTx", tx},
	})
	for i, wants := range [][]string{
		{`"minFeeA":44`, `"minFeeB":155381`, `"coinsPerUtxoByte":"4310"`, `"priceMem":0.0577`, `"minFeeRefScriptCostPerByte":15`, `"drepDeposit":"500000000"`},
		{`"poolId":"` + address.FormatPoolHash(bytes.Repeat([]byte{2}, 28)) + `"`, `"rewards":"1000"`},
		{`"`},
	} {
		for _, want := range wants {
			if !strings.Contains(string(answers[i].Value), want) {
				t.Errorf("answer %d: %s %s, expected %s", i, answers[i].Value, answers[i].Error, want)
			}
		}
	}
	for _, a := range answers[3:] {
		if a.Error == "" {
			t.Errorf("%s is not an error", a.Value)
		}
	}
}

// Lucid Evolution's Kupmios provider reads unspent outputs, datums and scripts of the real blocks of preview. They
// equal those in the API of this program. No other test runs beside it: the provider waits for at most 5 or 10 s.
func TestInteropKupmios(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "birthmark.yaml")
	write(t, file, fmt.Sprintf("memory: 512MiB\nchain: cardano\nnetwork: preview\nsource: file://%s\ndb: %s\nraw: keep\n"+
		"indexes: kupo\nserve: { kupo: /kupo }\n", testblocks.Path(t, "cardano", "dingo-immutable"), filepath.Join(dir, "db")))
	if r := birthmark("sync", "--config", file); r.status != exitDone {
		t.Fatalf("status %d: %s", r.status, r.stderr)
	}
	s := startRealServer(t, "--config", file)

	type match struct {
		Tx         string `json:"transaction_id"`
		Index      int    `json:"output_index"`
		Address    string
		DatumHash  *string `json:"datum_hash"`
		DatumType  string  `json:"datum_type"`
		ScriptHash *string `json:"script_hash"`
		Value      struct{ Assets map[string]json.Number }
	}
	var matches []match
	s.get(t, "kupo/matches/*?unspent", "Accept", "application/json").into(t, &matches)
	var questions [][]any
	var want [][]string           // sorted texts of the answer; nil for other kinds of answers
	special := map[string]match{} // outputs with inline datums or scripts, by address
	ask := func(expected []string, question ...any) {
		questions, want = append(questions, question), append(want, expected)
	}
	asked := map[string]bool{}
	units := 0
	for i, m := range matches {
		inline := m.DatumType == "inline" || m.ScriptHash != nil
		if asked[m.Address] || !inline && i%(1+len(matches)/120) != 0 || inline && len(special) > 60 {
			continue
		}
		asked[m.Address] = true
		all := unspentOf(t, s, "address", m.Address)
		if all == nil {
			continue
		}
		ask(all, "getUtxos", m.Address)
		if inline {
			special[m.Address] = m
			ask(nil, "getUtxosByOutRef", []map[string]any{{"txHash": m.Tx, "outputIndex": m.Index}})
		}
		for _, name := range slices.Sorted(maps.Keys(m.Value.Assets))[:min(2, len(m.Value.Assets))] {
			unit := strings.ReplaceAll(name, ".", "")
			ask(holding(all, unit), "getUtxosWithUnit", m.Address, unit)
			if all := holding(unspentOf(t, s, "policy", unit[:56]), unit); len(all) == 1 {
				ask(all, "getUtxoByUnit", unit)
				units++
			}
		}
	}
	ask(nil, "getDatum", strings.Repeat("ab", 32))
	ask(nil, "getUtxoByUnit", strings.Repeat("ab", 28))
	answers := kupmios(t, s.URL, questions)
	datums, scripts, outputs := 0, 0, 0
	for i, a := range answers {
		method := questions[i][0].(string)
		if i >= len(answers)-2 { // an unknown datum, and an unknown unit
			if a.Error == "" {
				t.Errorf("%v: %s, expected an error", questions[i], a.Value)
			}
			continue
		}
		if a.Error != "" {
			t.Errorf("%v: %s", questions[i], a.Error)
			continue
		}
		var got []kupmiosOutput
		raw := a.Value
		if method == "getUtxoByUnit" {
			raw = slices.Concat([]byte("["), raw, []byte("]"))
		}
		if err := json.Unmarshal(raw, &got); err != nil {
			t.Fatalf("%v: %v: %.300s", questions[i], err, raw)
		}
		var texts []string
		for _, o := range got {
			texts = append(texts, o.text())
		}
		slices.Sort(texts)
		outputs += len(got)
		if want[i] != nil && !slices.Equal(texts, want[i]) {
			t.Errorf("%v:\n%s\nexpected\n%s", questions[i], strings.Join(texts, "\n"), strings.Join(want[i], "\n"))
		}
		if want[i] != nil {
			continue
		}
		if len(got) != 1 {
			t.Fatalf("%v: %d outputs", questions[i], len(got))
		}
		// Datum and reference script equal those in the transaction.
		var tx struct{ Outputs []detailedOutput }
		s.get(t, "v1/cardano-preview/tx/"+url.PathEscape(got[0].TxHash)).into(t, &tx)
		o := tx.Outputs[slices.IndexFunc(tx.Outputs, func(o detailedOutput) bool { return o.Index == got[0].OutputIndex })]
		if o.Datum != nil {
			if datums++; got[0].Datum != o.Datum.Raw {
				t.Errorf("%v: datum %q, expected %q", questions[i], got[0].Datum, o.Datum.Raw)
			}
		}
		if o.ScriptRef != nil {
			scripts++
			ref := got[0].ScriptRef
			language := strings.ReplaceAll(strings.ToLower(fmt.Sprint(ref)), "{plutusv", "plutus_v")
			if ref == nil || !strings.HasSuffix(ref.Script, o.ScriptRef.Raw[len(o.ScriptRef.Raw)/2:]) || ref.Type != "Native" && !strings.Contains(language, o.ScriptRef.Language) {
				t.Errorf("%v: script %.200v, expected %.200v", questions[i], ref, o.ScriptRef)
			}
		}
	}
	t.Logf("%d questions, %d outputs, %d inline datums, %d reference scripts, %d unique assets", len(questions), outputs, datums, scripts, units)
	if outputs < 500 || datums == 0 || scripts == 0 || units == 0 {
		t.Error("too few answers of some kind")
	}
}

// holding returns the texts of outputs with an asset.
func holding(texts []string, unit string) []string {
	return slices.DeleteFunc(slices.Clone(texts), func(text string) bool { return !strings.Contains(text, unit+":") })
}
