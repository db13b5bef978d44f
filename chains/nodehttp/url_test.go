package nodehttp

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"birthmark/model"
)

const secret = "hunter2-and-more"

// Two kinds that differ in every property.
var (
	withUsers = &Kind{Node: "a Test node", URL: "expected http://USER:PASSWORD@HOST", Secret: "a password", CertOf: "testd", CertFile: "test.cert"}
	withKeys  = &Kind{Node: "another node", URL: "expected http://:KEY@HOST", Secret: "a key", NoUser: true, Packed: true}
)

func TestURLs(t *testing.T) {
	for url, want := range map[string]string{
		"http://127.0.0.1:8332":                 "http://127.0.0.1:8332 at 127.0.0.1:8332 as ",
		"http://node":                           "http://node:9000 at node:9000 as ",
		"https://node/":                         "https://node:9000/ at node:9000 as ",
		"https://node/behind/a/path":            "https://node:9000/behind/a/path at node:9000 as ",
		"http://user:pass@node":                 "http://node:9000 at node:9000 as user:pass",
		"http://user@node:1/wallet/a%2Fb":       "http://node:1/wallet/a%2Fb at node:1 as user",
		"http://user:p%40%3A%2F%23@[::1]:18443": "http://[::1]:18443 at [::1]:18443 as user:p%40%3A%2F%23",
		"http://:pass@node":                     "http://node:9000 at node:9000 as :pass",
	} {
		for _, kind := range []*Kind{withUsers, withKeys} {
			c, err := New(kind, url, "9000", "")
			if kind.NoUser && strings.Contains(url, "user") {
				if err == nil || err.Error() != "the node's URL has a user name, which another node does not support: expected http://:KEY@HOST" {
					t.Errorf("%s: %v", url, err)
				}
				continue
			}
			if err != nil {
				t.Errorf("%s: %v", url, err)
				continue
			}
			if got := c.endpoint.url.String() + " at " + c.Host() + " as " + c.User().String(); got != want {
				t.Errorf("%s is %s, expected %s", url, got, want)
			}
		}
	}
}

// Errors do not contain a secret, even if a wrong character in it changes the structure of the URL.
func TestInvalidURLs(t *testing.T) {
	cert := filepath.Join(t.TempDir(), "test.cert")
	if err := os.WriteFile(cert, []byte("no certificate"), 0o600); err != nil {
		t.Fatal(err)
	}
	for url, says := range map[string]string{
		"":                                               "has no host",
		"node:8332":                                      "has no host",
		"127.0.0.1:8332":                                 "invalid URL of the node",
		"user:" + secret + "@node":                       "has no host",
		"ftp://node":                                     "has no host",
		"ftp://:" + secret + "@node":                     "has no host",
		"http://":                                        "has no host",
		"http://:" + secret + "@":                        "has no host",
		"http:node":                                      "has no host",
		"http://node:0":                                  "invalid port in the node's URL: expected 1 to 65535",
		"http://:" + secret + "@node:0":                  "invalid port in the node's URL: expected 1 to 65535",
		"http://node:65536":                              "invalid port in the node's URL: expected 1 to 65535",
		"http://node:http":                               "invalid URL of the node",
		"http://key:1/" + secret + "@node":               "must be percent-encoded",
		"http://:" + secret + "/x@node":                  "invalid URL of the node",
		"http://key:1#" + secret + "@node":               "must be percent-encoded",
		"http://:a@b@node/#" + secret:                    "must be percent-encoded",
		"http://node/" + secret + "@node":                "must be percent-encoded",
		"http://key:1?" + secret + "@node":               "unsupported query",
		"http://:%zz" + secret + "@node":                 "invalid URL of the node",
		"http://node?user=" + secret:                     "unsupported query",
		"https://node?cert=a&cert=b":                     "unsupported query",
		"https://node?cert=a;b":                          "unsupported query",
		"https://node?cert=" + cert + "&other=" + secret: "unsupported query",
		"http://node?cert=" + cert:                       "without TLS",
		"https://node?cert=" + cert + ".none":            "no such file",
		"https://node?cert=":                             "no such file",
		"https://node?cert=" + cert:                      "no certificate in " + cert + ": expected PEM",
	} {
		for _, kind := range []*Kind{withUsers, withKeys} {
			_, err := New(kind, url, "9000", "")
			k, code := model.KindOf(err)
			switch {
			case err == nil || k != model.Usage || code != "bad_source" || !strings.Contains(err.Error(), says):
				t.Errorf("%s: %v, expected %s", url, err, says)
			case strings.Contains(err.Error(), secret) || strings.Contains(err.Error(), "\n"):
				t.Errorf("%s: an error with a secret or of several lines: %q", url, err)
			case strings.Contains(says, "%XX") && !strings.Contains(err.Error(), "has "+kind.Secret+" with a character"),
				strings.Contains(says, "read") && !strings.HasSuffix(err.Error(), kind.URL):
				t.Errorf("%s: %v does not name %s", url, err, kind.Node)
			}
		}
	}
	_, err := New(withUsers, "https://node?cert="+cert, "9000", "")
	if err == nil || !strings.HasSuffix(err.Error(), "expected PEM, as in testd's test.cert") {
		t.Errorf("a kind that creates certificates: %v", err)
	}
}
