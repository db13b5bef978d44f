package adapter_test

import (
	"context"
	"errors"
	"os"
	"strings"
	"testing"
	"unicode/utf8"

	"birthmark/chains/adapter"
	"birthmark/model"
)

func TestFilePaths(t *testing.T) {
	for rest, want := range map[string]string{
		"": "", "/a/b": "/a/b", "localhost/a": "/a", "localhosted/a": "localhosted/a", "/a%20b": "/a b", "/a b": "/a b", "/100%": "/100%",
	} {
		if got := adapter.FilePath(rest); got != want {
			t.Errorf("file://%s is %q, expected %q", rest, got, want)
		}
	}
}

func TestSourcesForOtherFoldersAreAbsolute(t *testing.T) {
	dir := t.TempDir()
	t.Chdir(dir)
	if err := os.WriteFile("a b", nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for uri, want := range map[string]string{
		"a b": dir + "/a b", "./a b": dir + "/a b", "file://a%20b": "file://" + dir + "/a%20b", "FILE://x/y": "file://" + dir + "/x/y",
		"unix://node.socket": "unix://" + dir + "/node.socket", // the others stay
		"none":               "none", "node:8332": "node:8332", "/a/b": "/a/b", "file:///a/b": "file:///a/b", "file://localhost/a": "file://localhost/a",
		"file://": "file://", "unix:///run/node": "unix:///run/node", "http://a/b": "http://a/b", "p2p://": "p2p://",
	} {
		if got, err := adapter.Absolute(uri); err != nil || got != want {
			t.Errorf("%s is %q (%v), expected %q", uri, got, err, want)
		}
	}
}

func TestLongTextsAreCutAtACharacter(t *testing.T) {
	for _, text := range []string{"", "short", strings.Repeat("a", 101), strings.Repeat("é", 200), strings.Repeat("\xff", 200)} {
		got := adapter.Truncate(text)
		if len(text) <= 100 && got != text || len(got) > 110 || utf8.ValidString(text) && !utf8.ValidString(got) {
			t.Errorf("%q is cut to %q", text, got)
		}
	}
}

func TestFirstBlockIsFoundBetweenItsBounds(t *testing.T) {
	for first := model.HeightPk(1); first < 50; first++ {
		asked := 0
		got, err := adapter.FirstBlock(0, 100, func(h model.HeightPk) (bool, error) { asked++; return h >= first, nil })
		if err != nil || got != first || asked > 7 {
			t.Errorf("block %d after %d requests, %v: expected %d", got, asked, err, first)
		}
	}
	broken := errors.New("broken")
	if _, err := adapter.FirstBlock(0, 100, func(model.HeightPk) (bool, error) { return false, broken }); err != broken {
		t.Errorf("%v, expected %v", err, broken)
	}
}

func TestSecretsAreReadAtTheFirstUseAndAfterARefusal(t *testing.T) {
	unreadable := func(err error) error { return err }
	reads, sent := 0, []string{}
	passwords := []string{"old", "new", "new"}
	s := adapter.NewSecret("", func() (string, error) { reads++; return passwords[reads-1], nil })
	send := func(password string) error {
		sent = append(sent, password)
		if password != "new" {
			return adapter.ErrRefused
		}
		return nil
	}
	for range 2 {
		if used, err := s.Use(send, unreadable); err != nil || used != "new" {
			t.Fatalf("%q, %v", used, err)
		}
	}
	if got := strings.Join(sent, " "); got != "old new new" || reads != 2 {
		t.Errorf("sent %s after %d reads", got, reads)
	}
	refuse := func(string) error { return adapter.ErrRefused }
	if _, err := s.Use(refuse, unreadable); err != adapter.ErrRefused || reads != 3 {
		t.Errorf("%v after %d reads", err, reads)
	}
	if used, err := adapter.NewSecret("fixed", nil).Use(refuse, unreadable); err != adapter.ErrRefused || used != "fixed" {
		t.Errorf("%q, %v", used, err)
	}
}

// A URI without its scheme is not taken for a path. Errors have no credentials.
func TestSourcesWithoutASchemeSuggestOne(t *testing.T) {
	t.Chdir(t.TempDir())
	base := adapter.NewBase("coin", "testnet", nil, nil)
	opened := ""
	open := func(_ context.Context, o model.SourceOptions, rest string) (model.Source, error) {
		opened = o.URI + " " + rest
		return nil, nil
	}
	schemes := []adapter.Scheme{
		{Names: []string{"http", "https"}, Usage: "http://host:8332 (a node)", Port: "8332", Open: open},
		{Names: []string{"p2p"}, Usage: "p2p://host:8333 (peers)", Port: "8333", Open: open},
		{Names: []string{"file"}, Usage: "file:///path", Open: open},
	}
	const expected = "expected http://host:8332 (a node), p2p://host:8333 (peers) or file:///path"
	for uri, want := range map[string]string{
		"127.0.0.1:8332":           `"127.0.0.1:8332" has no scheme: did you mean http://127.0.0.1:8332 or p2p://127.0.0.1:8332?`,
		"node:8333":                `"node:8333" has no scheme: did you mean p2p://node:8333 or http://node:8333?`,
		"localhost":                `"localhost" has no scheme: did you mean http://localhost:8332 or p2p://localhost:8333?`,
		"[::1]:1":                  `"[::1]:1" has no scheme: did you mean http://[::1]:1 or p2p://[::1]:1?`,
		"me:secret@node:1/x":       `"…@node:1/x" has no scheme: did you mean http://…@node:1/x?`,
		"http:/me:secret@node:1":   `"…@node:1" has no scheme: did you mean http://…@node:1?`,
		"http//node:1":             `"http//node:1" has no scheme: did you mean http://node:1?`,
		"foo:/node:1":              "opened foo:/node:1 foo:/node:1",
		"htp://node":               "unsupported source htp:// for coin (did you mean http://?): " + expected,
		"blocks":                   "blocks does not exist: " + expected,
		"HTTP://node":              "opened http://node node",
		"./node:8332":              "opened ./node:8332 ./node:8332", // the error is that of the source
		"/var/lib/bitcoind/blocks": "opened /var/lib/bitcoind/blocks /var/lib/bitcoind/blocks",
	} {
		opened = ""
		_, err := base.Open(t.Context(), model.SourceOptions{URI: uri}, schemes...)
		got := "opened " + opened
		if err != nil {
			got = err.Error()
		}
		if got != want || strings.Contains(got, "secret") {
			t.Errorf("%s:\n%s\nexpected\n%s", uri, got, want)
		}
	}
	if err := os.WriteFile("node:8332", nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := base.Open(t.Context(), model.SourceOptions{URI: "node:8332"}, schemes...); err != nil || opened != "node:8332 node:8332" {
		t.Errorf("a file whose name is that of a host: %q, %v", opened, err)
	}
}

func TestNodesThatAreDownHaveAHint(t *testing.T) {
	if got := adapter.NodeDown("127.0.0.1:8332", "coin testnet", "8332"); got != " (is the node running?)" {
		t.Error(got)
	}
	if got := adapter.NodeDown("127.0.0.1:1", "coin testnet", "8332"); got != " (is the node running? the default port of coin testnet is 8332)" {
		t.Error(got)
	}
}
