package snapshot

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"aead.dev/minisign"

	"birthmark/internal/testrun"
	"birthmark/internal/testseed"
)

// Manifests are not trusted: a name of a file cannot leave the folder, and every number is checked.
func TestInvalidManifestsAreRefused(t *testing.T) {
	w := newWorld(t, testseed.Rand(t), t.TempDir())
	good := w.mustCreate().Manifest
	for what, change := range map[string]func(m map[string]any, files []any, file map[string]any){
		"version":  func(m map[string]any, _ []any, _ map[string]any) { m["birthmark_snapshot"] = 2 },
		"no chain": func(m map[string]any, _ []any, _ map[string]any) { m["chain"] = "" },
		"no tip":   func(m map[string]any, _ []any, _ map[string]any) { delete(m, "tip") },
		"lineage": func(m map[string]any, _ []any, _ map[string]any) {
			m["update"] = map[string]any{"lineage": "../" + strings.Repeat("a", 29), "seq": 1, "hash": strings.Repeat("a", 64)}
		},
		"no files": func(m map[string]any, _ []any, _ map[string]any) { m["files"] = nil },
		"bytes":    func(m map[string]any, _ []any, _ map[string]any) { m["bytes"] = 1 },
		"no CURRENT": func(m map[string]any, files []any, _ map[string]any) {
			files[len(files)-2].(map[string]any)["name"] = "MANIFEST-000001"
		},
		"a path":                      func(_ map[string]any, _ []any, f map[string]any) { f["name"] = "../000001.sst" },
		"an absolute path":            func(_ map[string]any, _ []any, f map[string]any) { f["name"] = "/etc/passwd" },
		"the lock":                    func(_ map[string]any, _ []any, f map[string]any) { f["name"] = "birthmark.lock" },
		"the snapshot of the caches":  func(_ map[string]any, _ []any, f map[string]any) { f["name"] = "notes/caches" },
		"no name":                     func(_ map[string]any, _ []any, f map[string]any) { f["name"] = "" },
		"a file twice":                func(_ map[string]any, files []any, _ map[string]any) { files[1] = files[0] },
		"a negative size":             func(_ map[string]any, _ []any, f map[string]any) { f["size"] = -1 },
		"a huge size":                 func(_ map[string]any, _ []any, f map[string]any) { f["size"] = int64(1) << 60 },
		"no SHA-256":                  func(_ map[string]any, _ []any, f map[string]any) { f["sha256"] = "" },
		"a short SHA-256":             func(_ map[string]any, _ []any, f map[string]any) { f["sha256"] = "aa" },
		"a SHA-256 in capitals":       func(_ map[string]any, _ []any, f map[string]any) { f["sha256"] = strings.Repeat("AA", 32) },
		"a SHA-256 with a path in it": func(_ map[string]any, _ []any, f map[string]any) { f["sha256"] = "../" + strings.Repeat("a", 61) },
	} {
		text, err := json.Marshal(good)
		if err != nil {
			t.Fatal(err)
		}
		var m map[string]any
		if err := json.Unmarshal(text, &m); err != nil {
			t.Fatal(err)
		}
		files := m["files"].([]any)
		change(m, files, files[0].(map[string]any))
		if text, err = json.Marshal(m); err != nil {
			t.Fatal(err)
		}
		_, err = parseManifest("000000101-20261122T070112.000Z-"+sumOf(text)[:16], text)
		if code := codeOf(err); code != "snapshot_damaged" && (what != "version" || code != "wrong_format") {
			t.Errorf("%s: %v", what, err)
		}
	}
	name, text, err := good.encode()
	if err != nil {
		t.Fatal(err)
	}
	if _, err := parseManifest(name, text); err != nil {
		t.Error(err)
	}
	for _, bad := range []string{"", "{", `{"snapshot":"../x","snapshots":[]}`, `{"snapshot":"","snapshots":[]}`, `{"snapshot":"` + name + `","snapshots":["` + name + `"]}`} {
		if _, err := parseLatest([]byte(bad)); codeOf(err) != "snapshot_damaged" {
			t.Errorf("latest.json %q: %v", bad, err)
		}
	}
}

// Another chain, network, format or a newer RocksDB is refused by name before anything is read.
func TestSnapshotsOfOtherDatabasesAreRefused(t *testing.T) {
	s := &Snapshot{Name: "n", Manifest: &Manifest{Chain: "bitcoin", Network: "mainnet", Format: 5, Engine: Engine{"rocksdb", "7.8.3"}}}
	for _, c := range []struct {
		chain, network string
		oldest, format int
		engine         Engine
		code           string
	}{
		{"bitcoin", "mainnet", 5, 5, Engine{"rocksdb", "7.8.3"}, "internal"},
		{"", "", 5, 5, Engine{"rocksdb", "7.8.0"}, "internal"},
		{"", "", 5, 5, Engine{"rocksdb", "7.10.1"}, "internal"},
		{"", "", 5, 5, Engine{"rocksdb", "10.0.0"}, "internal"},
		{"ergo", "mainnet", 5, 5, Engine{"rocksdb", "7.8.3"}, "wrong_chain"},
		{"bitcoin", "signet", 5, 5, Engine{"rocksdb", "7.8.3"}, "wrong_network"},
		{"", "", 6, 6, Engine{"rocksdb", "7.8.3"}, "wrong_format"},
		{"", "", 4, 4, Engine{"rocksdb", "7.8.3"}, "wrong_format"},
		{"", "", 5, 6, Engine{"rocksdb", "7.8.3"}, "internal"}, // upgraded
		{"", "", 3, 5, Engine{"rocksdb", "7.8.3"}, "internal"},
		{"", "", 6, 7, Engine{"rocksdb", "7.8.3"}, "wrong_format"},
		{"", "", 5, 5, Engine{"rocksdb", "7.7.9"}, "wrong_format"},
		{"", "", 5, 5, Engine{"rocksdb", "6.29.5"}, "wrong_format"},
		{"", "", 5, 5, Engine{"pebble", "9.0.0"}, "wrong_format"},
	} {
		if err := s.CheckChain(c.chain, c.network, c.oldest, c.format, c.engine); codeOf(err) != c.code {
			t.Errorf("%+v: %v", c, err)
		}
	}
}

// A repository is found by its chain, as the only one of a storage, or by its own URL.
func TestRepositoriesAreFound(t *testing.T) {
	dir := t.TempDir()
	w := newWorld(t, testseed.Rand(t), dir)
	find := func(url, chain, network string) (string, error) {
		w := newWorld(t, testseed.Rand(t), url)
		r, err := FindRepository(t.Context(), w.storage, chain, network)
		if err != nil {
			return "", err
		}
		return r.String(), nil
	}
	if _, err := find(dir, "", ""); codeOf(err) != "no_snapshot" {
		t.Errorf("an empty storage: %v", err)
	}
	w.mustCreate()
	if err := os.Mkdir(filepath.Join(dir, "lost+found"), 0o755); err != nil {
		t.Fatal(err)
	}
	own := filepath.Join(dir, "bitcoin-mainnet")
	for _, c := range [][3]string{{dir, "", ""}, {dir, "bitcoin", "mainnet"}, {own, "", ""}, {own, "bitcoin", "mainnet"}, {dir + "/", "", ""}} {
		if got, err := find(c[0], c[1], c[2]); got != own && got != own+"/" || err != nil {
			t.Errorf("%v: %s, %v", c, got, err)
		}
	}
	if _, err := find(dir, "ergo", "mainnet"); codeOf(err) != "no_snapshot" || !strings.Contains(err.Error(), "ergo mainnet") {
		t.Errorf("another chain: %v", err)
	}
	m := w.manifest()
	m.Chain = "ergo"
	if _, err := NewRepository(w.storage, "ergo", "mainnet").Create(t.Context(), w.work.Checkpoint(), m, CreateOptions{Work: w.work}); err != nil {
		t.Fatal(err)
	}
	if _, err := find(dir, "", ""); codeOf(err) != "which_chain" || !strings.Contains(err.Error(), "bitcoin-mainnet, ergo-mainnet") {
		t.Errorf("two chains: %v", err)
	}
	if got := NewRepository(w.storage, "cardano", "../x y").prefix; got != "cardano-___x_y/" {
		t.Errorf("the folder of a network is %q", got)
	}
}

// Signatures are those of minisign, by a key that the user trusts.
func TestSnapshotsAreSigned(t *testing.T) {
	ctx := t.Context()
	w := newWorld(t, testseed.Rand(t), t.TempDir())
	unsigned := w.mustCreate()
	w.key = newKey(t)
	w.tables(1)
	signed := w.mustCreate()
	r := w.repository()
	s, err := r.Find(ctx, "", w.key.Public())
	if err != nil || s.SignedBy != w.key.Public().ID() || !s.Signed {
		t.Errorf("%+v: %v", s, err)
	}
	if s, err = r.Find(ctx, "", nil); err != nil || s.SignedBy != "" || !s.Signed {
		t.Errorf("without a key: %+v: %v", s, err)
	}
	if _, err := r.Find(ctx, unsigned.Name, w.key.Public()); codeOf(err) != "bad_signature" || !strings.Contains(err.Error(), "is not signed") {
		t.Errorf("unsigned: %v", err)
	}
	other := newKey(t)
	if _, err := r.Find(ctx, "", other.Public()); codeOf(err) != "bad_signature" || !strings.Contains(err.Error(), "expected "+other.Public().ID()) {
		t.Errorf("another key: %v", err)
	}
	text, err := r.read(ctx, "snapshots/"+signed.Name+".json")
	if err != nil {
		t.Fatal(err)
	}
	// The signature of another manifest by the right key.
	forged, err := w.key.sign(signed.Name, append(text, ' '))
	if err != nil {
		t.Fatal(err)
	}
	if err := w.key.Public().verify(signed.Name, text, forged); codeOf(err) != "bad_signature" || !strings.Contains(err.Error(), "is wrong") {
		t.Errorf("a forged manifest: %v", err)
	}
	// As minisign itself signs.
	by := minisign.SignWithComments(w.key.key, text, "timestamp:1", "signature from minisign secret key")
	if err := w.key.Public().verify(signed.Name, text, by); err != nil {
		t.Error(err)
	}
	for _, bad := range []string{"", "x", string(by[:len(by)-1]), string(by) + "\n", strings.Replace(string(by), "minisign", "minisigm", 1)} {
		if err := w.key.Public().verify(signed.Name, text, []byte(bad)); codeOf(err) != "bad_signature" || !strings.Contains(err.Error(), "damaged") {
			t.Errorf("signature %q: %v", bad, err)
		}
	}
}

func TestKeysAreRead(t *testing.T) {
	dir := t.TempDir()
	file := func(name string, text []byte) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, text, 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	key := newKey(t)
	plain, err := key.key.MarshalText()
	if err != nil {
		t.Fatal(err)
	}
	public, err := key.Public().key.MarshalText()
	if err != nil {
		t.Fatal(err)
	}
	if k, err := ReadSigningKey(file("plain", append(plain, '\n')), ""); err != nil || !k.key.Equal(key.key) {
		t.Errorf("%v", err)
	}
	for _, path := range []string{file("empty", nil), file("public key", public), filepath.Join(dir, "absent")} {
		if _, err := ReadSigningKey(path, ""); codeOf(err) != "bad_key" || !strings.Contains(err.Error(), path) {
			t.Errorf("%s: %v", path, err)
		}
	}
	for _, text := range []string{key.Public().String(), " " + key.Public().String() + "\n", file("public", append(public, '\n'))} {
		if k, err := ParseTrustedKey(text); err != nil || k.String() != key.Public().String() {
			t.Errorf("%q: %v", text, err)
		}
	}
	for _, text := range []string{"", "RWnothing", file("empty", nil), file("secret", plain)} {
		if _, err := ParseTrustedKey(text); codeOf(err) != "bad_key" {
			t.Errorf("%q: %v", text, err)
		}
	}
}

// encryptedKey is a key with the password "secret", and its public key. minisign derives the key of the encryption with
// 1 GiB of memory, which takes seconds.
const (
	encryptedKey = "untrusted comment: minisign encrypted secret key\n" +
		"RWRTY0IySJWxjldjZqobPnaKQBvFsrFZzklnKt1UdALHhxuhM1EAAAACAAAAAAAAAEAAAAAA85nJCF8PxX72c/yPhbIM2uG7iueHDk9UOSLplFND" +
		"jRJhWvESaHLR/qI80JlmAMxVOlk4T0tixKSTR2WVPsa09Q+1C5saHsEVohU5/Bpt5z2EYmo8RjSt5gz0N4Vv+QztNebHSNp5ku4="
	publicKey = "RWQVkmwwiLOuoLTRTzqRc/yoCGtTgALsw99epCOd2W7wR0qwC44YHkaX"
)

// An encrypted key needs its password.
func TestEncryptedKeysAreRead(t *testing.T) {
	testrun.Slow(t)
	path := filepath.Join(t.TempDir(), "key")
	if err := os.WriteFile(path, []byte(encryptedKey), 0o600); err != nil {
		t.Fatal(err)
	}
	if k, err := ReadSigningKey(path, "secret"); err != nil || k.key.Public().(minisign.PublicKey).String() != publicKey {
		t.Errorf("%v", err)
	}
	if _, err := ReadSigningKey(path, ""); codeOf(err) != "bad_key" || !strings.Contains(err.Error(), "is encrypted") {
		t.Errorf("without a password: %v", err)
	}
}
