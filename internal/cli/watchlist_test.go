package cli

import (
	"bufio"
	"encoding/binary"
	"encoding/json"
	"net/http"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/btcsuite/btcd/address/v2"
	"github.com/btcsuite/btcd/chaincfg/v2"

	"birthmark/api/events"
	"birthmark/internal/testrun"
)

// zpub is the account key of the test vectors of BIP 84.
const zpub = "zpub6rFR7y4Q2AijBEqTUquhVz398htDFrtymD9xYYfG1m4wAcvPhXNfE3EfH1r1ADqtfSdVCToUG868RvUUkgDKf31mGDtKsAYz2oz2AGutZYs"

// find --values-file prints the lines of every address, without those of addresses that are not in the file.
func TestValuesFile(t *testing.T) {
	t.Parallel()
	db := first200(t)
	list := filepath.Join(t.TempDir(), "list.txt")
	write(t, list, "# deposits\r\n\r\n"+satoshi+"\r\n1Q2TWHE3GMdB6BZKafqwxXtWAWgFt5Jvm3\n"+zpub)
	follow := func(args ...string) (lines []string) {
		t.Helper()
		r := birthmark(append([]string{"find", "--follow", "--until-tip", "--spends", "--json", "--db", db}, args...)...)
		if r.status != exitDone || r.stderr != "" {
			t.Fatalf("%v: %+v", args, r)
		}
		return strings.Split(strings.TrimSpace(r.stdout), "\n")
	}
	wanted := map[string]bool{}
	isSpendOf := map[string]bool{}
	var want []string
	for _, line := range follow("address") {
		var e struct {
			told
			Keys map[string]string
		}
		if err := json.Unmarshal([]byte(line), &e); err != nil {
			t.Fatal(err)
		}
		at := e.Tx + ":" + string(rune(e.Index))
		switch {
		case e.Type == "output" && (e.Keys["address"] == satoshi || e.Keys["address"] == "1Q2TWHE3GMdB6BZKafqwxXtWAWgFt5Jvm3"):
			wanted[at] = true
			want = append(want, line)
		case e.Type == "spend" && wanted[at]:
			isSpendOf[at] = true
			want = append(want, line)
		}
	}
	got := slices.DeleteFunc(follow("--values-file", list), func(line string) bool {
		return strings.HasPrefix(line, `{"type":"block"`) || strings.HasPrefix(line, `{"type":"rollback"`)
	})
	if !slices.Equal(got, want) || len(isSpendOf) == 0 {
		t.Errorf("got\n%s\nexpected\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	ask(t, nil, "find", "--follow", "--until-tip", "--values-file", list, "--follower", "deposits", "--db", db, "--json")
	if lines := follow("--values-file", list, "--follower", "deposits"); len(lines) != 1 { // only where it continues
		t.Errorf("a follower at the tip printed %q", lines)
	}
	write(t, list, "12cb\n")
	empty := filepath.Join(t.TempDir(), "empty.txt")
	write(t, empty, "\n# nothing\n")
	for _, c := range []struct{ args, code, message string }{
		{"--follow --values-file " + list, "bad_value", `list.txt: line 1: address: invalid address "12cb"`},
		{"--follow --values-file " + empty, "bad_value", `empty.txt has no values: expected one per line$`},
		{"--follow --values-file " + empty + ".none", "bad_value", `^--values-file: open .*no such file`},
		{"--follow --values-file " + list + " colour", "unknown_index", `"colour"`},
		{"--follow --values-file " + list + " address " + satoshi, "bad_value", `^--values-file and VALUE cannot be combined`},
		{"--follow --values-file " + list + " --gap 1001", "bad_value", `^--gap: expected a number from 1 to 1000, not "1001"$`},
		{"--follow --gap 5 address", "missing_flag", `^--gap needs --values-file, or an extended public key or a descriptor as VALUE$`},
		{"--values-file " + list, "missing_flag", `^--values-file needs --follow$`},
	} {
		wantFailure(t, exitUsage, c.code, c.message, append([]string{"find", "--db", db}, strings.Fields(c.args)...)...)
	}
}

// A server accepts a list that is larger than the body of other requests, extended public keys among them, and sends the
// events of its values.
func TestServerWatchesALargeList(t *testing.T) {
	testrun.Slow(t)
	t.Parallel()
	s := startServer(t, "--db", first200(t))
	defer s.stop(t)
	var b strings.Builder
	const n = 60_000 // two megabytes
	for i := range uint64(n) {
		hash := make([]byte, 20)
		binary.BigEndian.PutUint64(hash, i*0x9e3779b97f4a7c15)
		a, err := address.NewAddressPubKeyHash(hash, &chaincfg.MainNetParams)
		if err != nil {
			t.Fatal(err)
		}
		b.WriteString(a.EncodeAddress() + "\n")
	}
	b.WriteString(zpub + "\n" + satoshi + "\n")
	post := func(query string) (status int, list events.WatchAnswer) {
		t.Helper()
		a, err := http.Post(s.URL+"v1/bitcoin/watch"+query, "text/plain", strings.NewReader(b.String()))
		if err != nil {
			t.Fatal(err)
		}
		defer a.Body.Close()
		if err := json.NewDecoder(a.Body).Decode(&list); err != nil {
			t.Fatal(err)
		}
		return a.StatusCode, list
	}
	status, list := post("?gap=30")
	if status != 200 || list.Values != n+1+2*30 || list.Accounts != 1 || len(list.Watch) < 20 {
		t.Fatalf("%d %+v", status, list)
	}
	a, err := http.Get(s.URL + "v1/bitcoin/events?from=origin&sparse=true&spends=true&watch=" + list.Watch)
	if err != nil {
		t.Fatal(err)
	}
	defer a.Body.Close()
	outputs, spends := 0, 0
	for lines := bufio.NewScanner(a.Body); lines.Scan(); {
		switch line := lines.Text(); {
		case line == "event: output":
			outputs++
		case line == "event: spend":
			spends++
		}
		if strings.HasPrefix(lines.Text(), `data: {"height":199,`) {
			break
		}
	}
	if outputs != 5 || spends != 4 { // of block 9, and the change of four payments
		t.Errorf("%d outputs and %d spends", outputs, spends)
	}
	r := s.get(t, "v1/bitcoin/watch")
	if r.status != http.StatusMethodNotAllowed {
		t.Errorf("GET: %d %s", r.status, r.body)
	}
}
