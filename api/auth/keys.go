// Package auth reads API keys from a file and finds the key of a request.
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

// Header is the header with an API key, in addition to Authorization.
const Header = "X-Api-Key"

// ProjectHeader is the header with which clients of Blockfrost send an API key.
const ProjectHeader = "Project_id"

// minKeyLength is the least number of characters of a key: 16 of base64 are 96 bits.
const minKeyLength = 16

// Keys are the API keys of a file, which is read again when it changes. Its lines have the form
//
//	NAME:KEY
//	NAME:sha256:HEX                    the SHA-256 of the key in hex, so that the file has no secret
//	NAME:KEY rate=PER_SECOND burst=N   with a rate limit for this client
//
// Empty lines and lines that begin with # are ignored. Logs show names.
type Keys struct {
	file *filewatch.File[*keyring]
}

// keyring is the content of the file. Its map is keyed by an HMAC of the digest, so that the time of a lookup reveals
// nothing about the keys.
type keyring struct {
	secret []byte
	by     map[[sha256.Size]byte]*Key
	plain  bool // the file has a key in clear text
}

// Key is an API key with the limits of its client.
type Key struct {
	Name   string
	digest [sha256.Size]byte // of the key
	Rate   float64           // requests per second; 0: the default rate
	Burst  int
	plain  bool // in clear text in the file
}

// OpenKeys reads the file. Its errors are of kind [model.Usage] and name the line, but no key.
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
		return nil, model.Errorf(model.Usage, "bad_keys", "%w: expected a file of lines NAME:KEY", err)
	}
	text = bytes.TrimPrefix(text, []byte("\ufeff")) // a byte order mark
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
			fault = "duplicate name " + k.Name
		case ring.by[ring.place(k.digest)] != nil:
			fault = "another name has the same key as " + k.Name
		}
		if fault != "" {
			return nil, model.Errorf(model.Usage, "bad_keys", "%s:%d: %s", path, n, fault)
		}
		names[k.Name] = true
		ring.plain = ring.plain || k.plain
		ring.by[ring.place(k.digest)] = k
	}
	if err := lines.Err(); err != nil {
		return nil, model.Errorf(model.Usage, "bad_keys", "%s: %w", path, err)
	}
	if len(ring.by) == 0 {
		return nil, model.Errorf(model.Usage, "bad_keys", "%s has no keys, expected lines NAME:KEY", path)
	}
	return ring, nil
}

// parseKey parses a line; fault is the error, without the key.
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
	} else if len(text) < minKeyLength {
		return nil, "a key has at least " + strconv.Itoa(minKeyLength) + " characters"
	} else {
		k.digest, k.plain = sha256.Sum256([]byte(text)), true
	}
	for _, word := range words[1:] {
		name, value, _ := strings.Cut(word, "=")
		switch name {
		case "rate":
			r, err := strconv.ParseFloat(value, 64)
			if err != nil || !(r > 0 && r <= 1e9) {
				return nil, "rate: expected requests per second, as in rate=50"
			}
			k.Rate = r
		case "burst":
			n, err := strconv.Atoi(value)
			if err != nil || n < 1 {
				return nil, "burst: expected a number of requests, as in burst=100"
			}
			k.Burst = n
		default:
			return nil, "unknown word " + strconv.Quote(name) + " after the key, expected rate=N or burst=N"
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

// place returns the key of a digest in by.
func (ring *keyring) place(digest [sha256.Size]byte) (at [sha256.Size]byte) {
	h := hmac.New(sha256.New, ring.secret)
	h.Write(digest[:])
	h.Sum(at[:0])
	return at
}

// Find returns the key with this text; nil if there is none.
func (ks *Keys) Find(text string) *Key {
	ring := ks.file.Value()
	digest := sha256.Sum256([]byte(text))
	k := ring.by[ring.place(digest)]
	if k == nil || subtle.ConstantTimeCompare(k.digest[:], digest[:]) != 1 {
		return nil
	}
	return k
}

// FromRequest returns the key of a request: from Authorization: Bearer, X-API-Key, project_id, or the password of
// Authorization: Basic, for which browsers prompt.
func FromRequest(r *http.Request) (text string, ok bool) {
	for _, name := range []string{Header, ProjectHeader} {
		if values := r.Header[name]; len(values) > 0 {
			return values[0], true
		}
	}
	values := r.Header["Authorization"]
	if len(values) == 0 {
		return "", false
	}
	if scheme, text, found := strings.Cut(values[0], " "); found && strings.EqualFold(scheme, "Bearer") {
		return strings.TrimSpace(text), true
	}
	_, text, _ = r.BasicAuth()
	return text, true
}
