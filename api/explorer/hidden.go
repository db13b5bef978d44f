package explorer

import (
	"crypto/aes"
	"crypto/cipher"
	"crypto/rand"
	"encoding/base64"
	"net/http"
	"strings"

	"birthmark/core/schema"
	"birthmark/model"
)

// hiddenMark begins a value in a path that is encrypted; no address begins with it.
const hiddenMark = "~"

// longestHidden is the maximum number of bytes of a value that is encrypted: longer paths exceed the limit of the server.
const longestHidden = 5000

// hider encrypts the extended public keys and descriptors that were searched for, because histories of browsers and logs
// of proxies have the paths of pages. The key exists only in this process, so the paths end with it.
type hider struct{ cipher.AEAD }

func newHider() (hider, error) {
	key := make([]byte, 32)
	rand.Read(key) // never fails
	block, err := aes.NewCipher(key)
	if err != nil {
		return hider{}, err
	}
	aead, err := cipher.NewGCMWithRandomNonce(block)
	return hider{aead}, err
}

// hide returns a value as it is in a path.
func (h hider) hide(value string) string {
	return hiddenMark + base64.RawURLEncoding.EncodeToString(h.Seal(nil, nil, []byte(value), nil))
}

// reveal returns the value of a path: that which was hidden, or the text itself.
func (h hider) reveal(text string) (value string, hidden bool, err error) {
	text, hidden = strings.CutPrefix(text, hiddenMark)
	if !hidden {
		return text, false, nil
	}
	var found []byte
	sealed, err := base64.RawURLEncoding.DecodeString(text)
	if err == nil {
		found, err = h.Open(nil, nil, sealed, nil)
	}
	if err != nil {
		return "", true, model.Errorf(model.NotFound, "unknown_path", "the server was restarted since this search: search for the wallet again")
	}
	return string(found), true, nil
}

// isWallet reports whether a text is a wallet of the chain, such as an extended public key.
func (v *visit) isWallet(index, text string) bool {
	if index != schema.HoldersIndex {
		return false
	}
	w, err := model.WalletOf(v.chain.Model, index, text)
	return w != nil && err == nil
}

// private reports whether a text can be an extended public key or a descriptor, which shows all addresses of its owner.
func private(text string) bool {
	const longest = 110 // extended keys have 111 characters
	return len(text) > longest || strings.Contains(text, "(")
}

// loggedPath returns the path of a request for the log, or its pattern if a part of the path can be private.
func loggedPath(r *http.Request) string {
	for segment := range strings.SplitSeq(r.URL.Path, "/") {
		if private(segment) {
			return r.Pattern
		}
	}
	return r.URL.Path
}
