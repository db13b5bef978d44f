package tikv

import (
	"bytes"
	"reflect"
	"strings"
	"testing"

	"birthmark/internal/testseed"
	"birthmark/storage"
)

func TestEscapeIsInvertible(t *testing.T) {
	seen := map[string][]byte{}
	for _, value := range [][]byte{nil, {0}, {0, 0}, {0, 0, 0}, {1}, {0, 1}, {1, 0}, {0, 1, 0}, bytes.Repeat([]byte{0}, 1000)} {
		stored := escape(value)
		if len(stored) == 0 {
			t.Errorf("%x is stored as a value of zero bytes", value)
		}
		if other, twice := seen[string(stored)]; twice {
			t.Errorf("%x and %x are both stored as %x", value, other, stored)
		}
		seen[string(stored)] = value
		if got := unescape(stored); got == nil || !bytes.Equal(got, value) {
			t.Errorf("%x is decoded as %#v", value, got)
		}
	}
}

func TestPartsOfTheLogComeBack(t *testing.T) {
	rng := testseed.Rand(t)
	var changes []change
	for range 500 {
		c := change{key: make([]byte, 1+rng.IntN(300))}
		if rng.IntN(4) > 0 {
			c.value = make([]byte, rng.IntN(300))
			for i := range c.value {
				c.value[i] = byte(rng.Uint32())
			}
		}
		changes = append(changes, c)
	}
	encoded := encodePart(changes)
	got, err := decodePart(encoded)
	if err != nil || !reflect.DeepEqual(got, changes) {
		t.Errorf("%d of %d changes are decoded, or they differ: %v", len(got), len(changes), err)
	}
	for n := range encoded {
		got, err := decodePart(encoded[:n])
		if err == nil && (len(got) >= len(changes) || n > 0 && !reflect.DeepEqual(got, changes[:len(got)])) {
			t.Fatalf("the first %d of %d bytes decode to %d changes that differ", n, len(encoded), len(got))
		}
	}
}

func TestRowsOfTheStateComeBack(t *testing.T) {
	f := fence{epoch: 7, version: 1 << 40}
	if got, err := decodeFence(f.encode()); err != nil || got != f {
		t.Errorf("fence %+v, %v, want %+v", got, err, f)
	}
	s := seal{before: 1 << 60, parts: 3, digest: [32]byte{1, 2, 3}}
	if got, err := decodeSeal(s.encode()); err != nil || got != s {
		t.Errorf("seal %+v, %v, want %+v", got, err, s)
	}
	for _, bad := range []string{"\x02", strings.Repeat("x", 17), "\x01"} {
		if _, err := decodeFence([]byte(bad)); err == nil {
			t.Errorf("fence %q is accepted", bad)
		}
		if _, err := decodeSeal([]byte(bad)); err == nil {
			t.Errorf("seal %q is accepted", bad)
		}
	}
}

func TestURLs(t *testing.T) {
	c, err := ParseURL("tikv://a:1,b:2/main.net-1?ca=x&cert=y&key=z&gc=2h&takeover=true")
	if err != nil {
		t.Fatal(err)
	}
	if c.String() != "tikv://a:1,b:2/main.net-1" || c.CA != "x" || c.Cert != "y" || c.Key != "z" || c.GCLife.Hours() != 2 || !c.TakeOver {
		t.Errorf("%+v", c)
	}
	for url, want := range map[string]string{
		"http://a:1/x":             "scheme is not tikv",
		"tikv://a/x":               "has no port",
		"tikv://a:1/":              "invalid name",
		"tikv://a:1/x/y":           "invalid name",
		"tikv://u:p@a:1/x":         "user",
		"tikv://a:1/x?gc=1s":       "gc is a duration",
		"tikv://a:1/x?cert=y":      "cert and key",
		"tikv://a:1/x?takeover=1":  "takeover is true or false",
		"tikv://a:1/x?takeovr=1":   `unknown option "takeovr"`,
		"tikv://a:1/" + long(65):   "invalid name",
		"tikv://a:1/x#fragment":    "fragment",
		"tikv://a:1/x%20y":         "invalid name",
		"tikv://a:1/x?gc=yesterda": "gc is a duration",
	} {
		if _, err := ParseURL(url); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want an error with %q", url, err, want)
		}
	}
}

func long(n int) string { return strings.Repeat("n", n) }

// The keys of a family lie between its bounds, and those of other families and databases do not.
func TestBoundsSeparateFamilies(t *testing.T) {
	k, err := newKeys("a")
	if err != nil {
		t.Fatal(err)
	}
	other, err := newKeys("a.b")
	if err != nil {
		t.Fatal(err)
	}
	first, end := k.bounds(5, nil, nil)
	inside := func(key []byte) bool { return bytes.Compare(key, first) >= 0 && bytes.Compare(key, end) < 0 }
	for _, key := range []string{"", "\x00", "k", "\xff\xff\xff\xff\xff"} {
		if !inside(k.row(5, []byte(key))) {
			t.Errorf("row %q is outside of its family", key)
		}
		for _, out := range [][]byte{k.row(4, []byte(key)), k.row(6, []byte(key)), other.row(5, []byte(key)), k.state("fence"), k.log(3)} {
			if inside(out) {
				t.Errorf("%q is in the family", out)
			}
		}
	}
	if end := following([]byte("a\xff\xff")); string(end) != "b" {
		t.Errorf("the key after the prefix is %q, want b", end)
	}
}

var _ storage.Store = (*Store)(nil)
var _ storage.MetricsProvider = (*Store)(nil)
var _ storage.Limited = (*Store)(nil)
var _ storage.TogetherReader = (*reader)(nil)
var _ storage.Versioned = (*reader)(nil)
