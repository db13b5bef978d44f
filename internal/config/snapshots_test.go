package config

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

func TestSnapshotSettings(t *testing.T) {
	s := parse(t, "chain: bitcoin\nsnapshots: { to: 's3://b/p?endpoint=https://h', every: 36h, keep: 3, sign: /k, sign_password_file: /p, credentials_file: /c }\n"+
		"bootstrap: https://h/path\ntrust: RWkey\n")
	c := s.Chains[0]
	want := Snapshots{To: "s3://b/p?endpoint=https://h", Every: 36 * time.Hour, Keep: 3, Sign: "/k", SignPasswordFile: "/p", CredentialsFile: "/c"}
	if c.Snapshots != want || c.Bootstrap != "https://h/path" || c.Trust != "RWkey" || c.Origin("snapshots.keep") != "birthmark.yaml:2" {
		t.Errorf("%+v", c)
	}
	v := c.View("mainnet", nil)
	if v.Snapshots == nil || v.Snapshots.Every != "36h0m0s" || v.Snapshots.To != want.To || v.Bootstrap != c.Bootstrap || v.Trust != c.Trust {
		t.Errorf("%+v", v)
	}
	if d := parse(t, "chain: bitcoin\n").Chains[0]; d.Snapshots.Every != 24*time.Hour || d.Snapshots.Keep != 7 || d.View("", nil).Snapshots != nil {
		t.Errorf("the defaults are %+v", d.Snapshots)
	}
	for text, want := range map[string]string{
		"snapshots: { to: '' }":                      "snapshots.to: is empty",
		"snapshots: { to: 's3://id:secret@bucket' }": "snapshots.to: the URL contains credentials",
		"snapshots: { every: 0 }":                    `snapshots.every: "0" is not a duration of at least 1s, such as 24h`,
		"snapshots: { every: daily }":                `snapshots.every: "daily" is not a duration`,
		"snapshots: { keep: 0 }":                     `snapshots.keep: "0" is not a number from 1 to 10000`,
		"snapshots: { kep: 1 }":                      `unknown setting of snapshots "kep"`,
		"bootstrap: https://me:secret@host/":         "bootstrap: the URL contains credentials",
		"snapshots: /backup":                         "expected a mapping from setting of snapshots to value",
	} {
		_, err := Parse("birthmark.yaml", []byte("chain: bitcoin\n"+text+"\n"))
		if err == nil || !strings.HasPrefix(err.Error(), "birthmark.yaml:2: "+want) || strings.Contains(err.Error(), "secret") {
			t.Errorf("%s: %v, expected %s", text, err, want)
		}
	}
}

func TestSigningPasswordIsRead(t *testing.T) {
	path := filepath.Join(t.TempDir(), "password")
	if err := os.WriteFile(path, []byte("two words\r\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for file, want := range map[string]string{path: "two words", "": ""} {
		s := Snapshots{SignPasswordFile: file}
		if got, err := s.SigningPassword(); got != want || err != nil {
			t.Errorf("%q: %q, %v", file, got, err)
		}
	}
	s := Snapshots{SignPasswordFile: path + "-absent"}
	if _, err := s.SigningPassword(); err == nil || !strings.Contains(err.Error(), path+"-absent") {
		t.Errorf("%v", err)
	}
}
