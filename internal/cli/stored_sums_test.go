package cli

import (
	"path/filepath"
	"strings"
	"testing"

	"birthmark/core/query"
)

// The stored balances and texts of an address agree with its outputs.
func TestStoredTextsAndBalancesAgreeWithOutputs(t *testing.T) {
	slow(t)
	t.Parallel()
	file := filepath.Join(t.TempDir(), "birthmark.yaml")
	write(t, file, "chain: bitcoin\nindexes:\n  address: { prefix: true, balance: true }\n  script_type: {}\n")
	plain, db := first200(t), first200(t, "--config", file)
	args := []string{"values", "address", "--prefix", "12", "--limit", "2", "--db", db}
	golden(t, "values_prefix.txt", birthmark(args...).stdout)
	golden(t, "values_prefix.json", birthmark(append(args, "--json")...).stdout)

	var all, begin query.ValuesAnswer
	ask(t, &all, "values", "address", "--db", plain, "--limit", "1000")
	for order, line := range map[string]string{"asc": "values address --prefix=1J --limit 1000", "desc": "values address --prefix 1J --order desc --limit 1000"} {
		ask(t, &begin, append(strings.Fields(line), "--db", db)...)
		want := 0
		for _, v := range all.Values {
			if strings.HasPrefix(v.Value, "1J") {
				want++
			}
		}
		if len(begin.Values) != want || want < 2 || begin.Prefix != "1J" || begin.Count != all.Count {
			t.Errorf("%s: %+v, expected %d", line, begin, want)
		}
		for i := range begin.Values[1:] {
			if a, b := begin.Values[i].Value, begin.Values[i+1].Value; (a < b) != (order == "asc") {
				t.Errorf("%s: %s before %s", line, a, b)
			}
		}
	}
	if ask(t, &begin, "values", "address", "--prefix=", "--limit=1000", "--db", db); uint64(len(begin.Values)) != all.Count {
		t.Errorf("an empty prefix gives %d of %d values", len(begin.Values), all.Count)
	}
	if r := birthmark("values", "address", "--prefix", "bc1", "--db", db); r.status != exitDone || !strings.Contains(r.stdout, "no value has this prefix") {
		t.Errorf("a prefix of nothing: %+v", r)
	}
	wantFailure(t, exitUsage, "not_kept", `^prefix search is not enabled for index address: .*prefix: true.*birthmark index add address$`, "values", "address", "--prefix", "1", "--db", plain)
	wantFailure(t, exitUsage, "not_kept", `index script_type`, "values", "script_type", "--prefix", "1", "--db", db)
	wantFailure(t, exitUsage, "bad_value", `^prefix of 256 bytes: expected at most 255$`, "values", "address", "--prefix", strings.Repeat("1", 256), "--db", db)

	if a, b := birthmark("richest", "address", "--limit=300", "--db", db), birthmark("richest", "address", "--limit=300", "--db", plain); a != b || !strings.Contains(a.stdout, satoshi) {
		t.Errorf("from balances %.200s, from outputs %.200s", a.stdout+a.stderr, b.stdout+b.stderr)
	}
	wantFailure(t, exitUsage, "bad_value", `^--asset: expected the id or fingerprint of an asset, not ""$`, "richest", "address", "--asset=", "--db", db)
	wantFailure(t, exitFailed, "unknown_asset", `bitcoin has no assets`, "richest", "address", "--asset", "aa", "--db", db)
}
