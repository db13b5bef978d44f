package kupo_test

import (
	"encoding/hex"
	"encoding/json"
	"fmt"
	"reflect"
	"testing"

	"golang.org/x/crypto/blake2b"

	"birthmark/internal/testrun"
)

// The metadata of the transactions of a block equal those in the details of the transactions.
func TestMetadata(t *testing.T) {
	testrun.Slow(t)
	w := preview(t, true, 50_939)
	seen := 0
	for at := range w.naive.blocks {
		p := w.naive.blocks[at]
		want := w.naive.metadata[p.Hash]
		if len(want) == 0 && at%1000 > 0 {
			continue
		}
		url := fmt.Sprintf("/metadata/%d", p.Slot)
		a := w.ask(t, "GET", url)
		if got := a.header.Get("X-Block-Header-Hash"); got != p.Hash.String() {
			t.Fatalf("%s: block %s: %s", url, got, a.body)
		}
		var all []struct {
			Hash, Raw string
			Schema    map[string]map[string]any
		}
		d := json.Unmarshal([]byte(a.body), &all)
		if d != nil || len(all) != len(want) {
			t.Fatalf("%s: %v: %d transactions, expected %d", url, d, len(all), len(want))
		}
		for i, m := range all {
			raw, err := hex.DecodeString(m.Raw)
			if sum := blake2b.Sum256(raw); err != nil || hex.EncodeToString(sum[:]) != m.Hash {
				t.Errorf("%s: transaction %d: the hash is not that of the bytes", url, i)
			}
			got := map[string]any{}
			for label, v := range m.Schema {
				got[label] = plain(v)
			}
			if g, e := text(t, got), text(t, want[i].values); g != e {
				t.Errorf("%s: transaction %d:\n got %s\nwant %s", url, i, g, e)
			}
			one := w.get(t, url+"?transaction_id="+want[i].tx.String()).([]any)
			if len(one) != 1 || one[0].(map[string]any)["raw"] != m.Raw {
				t.Errorf("%s: transaction %s alone: %v", url, want[i].tx, one)
			}
			seen++
		}
	}
	if seen < 100 {
		t.Errorf("only %d transactions have metadata", seen)
	}
}

// plain returns a value as cardano-cli writes it without a schema.
func plain(v map[string]any) any {
	for kind, content := range v {
		switch kind {
		case "bytes":
			return "0x" + content.(string)
		case "list":
			items := []any{}
			for _, item := range content.([]any) {
				items = append(items, plain(item.(map[string]any)))
			}
			return items
		case "map":
			items := map[string]any{}
			for _, pair := range content.([]any) {
				k := plain(pair.(map[string]any)["k"].(map[string]any))
				key, isText := k.(string)
				if !isText {
					b, err := json.Marshal(k)
					if err != nil {
						panic(err)
					}
					key = string(b)
				}
				items[key] = plain(pair.(map[string]any)["v"].(map[string]any))
			}
			return items
		default:
			return content
		}
	}
	return nil
}

func text(t *testing.T, v any) string {
	t.Helper()
	b, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	var again any
	if err := json.Unmarshal(b, &again); err != nil {
		t.Fatal(err)
	}
	if reflect.DeepEqual(again, map[string]any{}) {
		t.Error("empty metadata")
	}
	return fmt.Sprint(again)
}
