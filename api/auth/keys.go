package auth

import (
	"bufio"
	"bytes"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/hex"
	"log/slog"
	"net/http"
	"os"
	"strconv"
	"strings"

	"birthmark/api/filewatch"
	"birthmark/model"
)

// Header is the header that keys are shown in, beside Authorization.
const Header = "X-Api-Key"

// leastKey is how many characters a key has at least: 16 of base64 are 96 bits.
const leastKey = 16

// Keys are the keys that clients show, from a file that is read again when it changes. A line of it is
//
//	NAME:KEY
//	NAME:sha256:HEX                    the SHA-256 of the key, in hex: the file then holds no secret
//	NAME:KEY rate=PER_SECOND burst=N   a client with a rate of its own
//
// Empty lines and those that begin with # say nothing. Names are what logs call the client.
type Keys struct {
	file *filewatch.File[*keyring]
}

// keyring is what the file says. Digests are kept under a secret of the process, so that how long it takes to find one says
// nothing about it.
type keyring struct {
	secret []byte
	by     map[[sha256.Size]byte]*Key
	plain  bool // the file has a key itself, not only digests
}

// Key is a key and the limits of the client that shows it.
type Key struct {
	Name   string
	digest [sha256.Size]byte // of the key
	Rate   float64           // requests per second; 0: that of everybody
	Burst  int
	plain  bool // the file has the key itself
}

// OpenKeys reads the file. Its errors are of kind [model.Usage] and name the line; none shows a key.
func OpenKeys(path string, log *slog.Logger) (*Keys, error) {
	file, err := filewatch.Watch(log, func() (*keyring, error) {
		ring, err := readKeys(path)
		if err == nil && ring.plain {
			filewatch.WarnReadable(log, "API keys", path)
		}
		return ring, err
	}, path)
	if err != nil {
		return nil, err
	}
	return &Keys{file}, nil
}

func readKeys(path string) (*keyring, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, model.Errorf(model.Usage, "bad_keys", "keys: %w", err)
	}
	ring := &keyring{secret: make([]byte, sha256.Size), by: map[[sha256.Size]byte]*Key{}}
	rand.Read(ring.secret)
	names := map[string]bool{}
	lines := bufio.NewScanner(bytes.NewReader(text))
	for n := 1; lines.Scan(); n++ {
		line := strings.TrimSpace(lines.Text())
		if line == "" || line[0] == '#' {
			continue
		}
		k, fault := parseKey(line)
		switch {
		case fault != "":
		case names[k.Name]:
			fault = "the name " + k.Name + " stands before"
		case ring.by[ring.place(k.digest)] != nil:
			fault = "the key of " + k.Name + " is that of another name"
		}
		if fault != "" {
			return nil, model.Errorf(model.Usage, "bad_keys", "keys: %s:%d: %s", path, n, fault)
		}
		names[k.Name] = true
		ring.plain = ring.plain || k.plain
		ring.by[ring.place(k.digest)] = k
	}
	if err := lines.Err(); err != nil {
		return nil, model.Errorf(model.Usage, "bad_keys", "keys: %s: %w", path, err)
	}
	if len(ring.by) == 0 {
		return nil, model.Errorf(model.Usage, "bad_keys", "keys: %s holds none, expected lines NAME:KEY", path)
	}
	return ring, nil
}

// parseKey reads a line; fault says what was expected.
func parseKey(line string) (k *Key, fault string) {
	words := strings.Fields(line)
	name, text, ok := strings.Cut(words[0], ":")
	if !ok || name == "" {
		return nil, "expected NAME:KEY"
	}
	k = &Key{Name: name}
	if digest, hashed := strings.CutPrefix(text, "sha256:"); hashed {
		b, err := hex.DecodeString(digest)
		if err != nil || len(b) != sha256.Size {
			return nil, "expected 64 digits of hex after sha256:"
		}
		copy(k.digest[:], b)
	} else if len(text) < leastKey {
		return nil, "a key has at least " + strconv.Itoa(leastKey) + " characters"
	} else {
		k.digest, k.plain = sha256.Sum256([]byte(text)), true
	}
	for _, word := range words[1:] {
		name, value, _ := strings.Cut(word, "=")
		switch name {
		case "rate":
			r, err := strconv.ParseFloat(value, 64)
			if err != nil || !(r > 0 && r <= 1e9) {
				return nil, "rate: expected requests in a second, as in rate=50"
			}
			k.Rate = r
		case "burst":
			n, err := strconv.Atoi(value)
			if err != nil || n < 1 {
				return nil, "burst: expected requests at once, as in burst=100"
			}
			k.Burst = n
		default:
			return nil, "unknown word " + strconv.Quote(name) + " behind the key, expected rate=N or burst=N"
		}
	}
	if k.Burst > 0 && k.Rate == 0 {
		return nil, "burst without rate"
	}
	if k.Burst == 0 {
		k.Burst = int(k.Rate + 1)
	}
	return k, ""
}

// place is where a digest stands in by.
func (ring *keyring) place(digest [sha256.Size]byte) (at [sha256.Size]byte) {
	h := hmac.New(sha256.New, ring.secret)
	h.Write(digest[:])
	h.Sum(at[:0])
	return at
}

// Find is the key that a client shows; nil where it is none.
func (ks *Keys) Find(shown string) *Key {
	ring := ks.file.Value()
	digest := sha256.Sum256([]byte(shown))
	k := ring.by[ring.place(digest)]
	if k == nil || subtle.ConstantTimeCompare(k.digest[:], digest[:]) != 1 {
		return nil
	}
	return k
}

// FromRequest is the key in a request: Authorization: Bearer, X-API-Key, or the password of Authorization: Basic, which is what a
// browser can be asked for.
func FromRequest(r *http.Request) (text string, ok bool) {
	if shown := r.Header[Header]; len(shown) > 0 {
		return shown[0], true
	}
	said := r.Header["Authorization"]
	if len(said) == 0 {
		return "", false
	}
	if scheme, text, found := strings.Cut(said[0], " "); found && strings.EqualFold(scheme, "Bearer") {
		return strings.TrimSpace(text), true
	}
	_, text, _ = r.BasicAuth()
	return text, true
}
