package snapshot

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"aead.dev/minisign"

	"birthmark/internal/textfile"
	"birthmark/model"
)

// SigningKey signs manifests. Signatures can be verified with the program minisign.
type SigningKey struct{ key minisign.PrivateKey }

// ReadSigningKey reads a secret key that minisign -G wrote. password decrypts it; empty: it must not be encrypted.
// Errors are of kind Usage (bad_key).
func ReadSigningKey(path, password string) (*SigningKey, error) {
	text, err := textfile.Read(path)
	if err != nil {
		return nil, badKey("signing key: %w", err)
	}
	k := new(SigningKey)
	if minisign.IsEncrypted(text) {
		if password == "" {
			return nil, badKey("signing key %s is encrypted: set snapshots.sign_password_file, or make a key with minisign -G -W", path)
		}
		if k.key, err = minisign.DecryptKey(password, text); err != nil {
			return nil, badKey("signing key %s: wrong password, or not a secret key of minisign", path)
		}
		return k, nil
	}
	if err := k.key.UnmarshalText(text); err != nil {
		return nil, badKey("signing key %s is not a secret key of minisign", path) // the error could quote the key
	}
	return k, nil
}

func badKey(format string, args ...any) error {
	return model.Errorf(model.Usage, "bad_key", format, args...)
}

// Public returns the key that verifies the signatures.
func (k *SigningKey) Public() *TrustedKey {
	return &TrustedKey{k.key.Public().(minisign.PublicKey)}
}

const trustedComment = "birthmark snapshot %s"

// untrustedComments are the accepted first lines of signatures, which no signature covers: ours and that of minisign.
var untrustedComments = []string{"signature of a snapshot of birthmark", "signature from minisign secret key"}

// sign returns the signature of a manifest, as minisign -H makes it.
func (k *SigningKey) sign(name string, manifest []byte) ([]byte, error) {
	r := minisign.NewReader(bytes.NewReader(manifest))
	_, err := io.Copy(io.Discard, r)
	return r.SignWithComments(k.key, fmt.Sprintf(trustedComment, name), untrustedComments[0]), err
}

// TrustedKey verifies the signatures of manifests.
type TrustedKey struct{ key minisign.PublicKey }

// ParseTrustedKey reads a public key of minisign: the key itself, which begins with RW, or a file that contains it.
// Errors are of kind Usage (bad_key).
func ParseTrustedKey(text string) (*TrustedKey, error) {
	k := new(TrustedKey)
	if k.key.UnmarshalText([]byte(strings.TrimSpace(text))) == nil {
		return k, nil
	}
	file, err := textfile.Read(text)
	if err != nil {
		return nil, badKey("%.80q is neither a public key of minisign, such as RWQf6LRCGA9i…, nor a file with one: %w", text, err)
	}
	if err := k.key.UnmarshalText(file); err != nil {
		return nil, badKey("%s is not a file with a public key of minisign", text)
	}
	return k, nil
}

// ID returns the identifier of the key as minisign prints it.
func (k *TrustedKey) ID() string { return fmt.Sprintf("%016X", k.key.ID()) }

// String returns the key as minisign prints it.
func (k *TrustedKey) String() string { return k.key.String() }

// verify checks the signature of a manifest. Every byte of the signature must be as [SigningKey.sign] writes it, or as
// minisign does.
func (k *TrustedKey) verify(name string, manifest, signature []byte) error {
	var s minisign.Signature
	err := s.UnmarshalText(signature)
	if err == nil {
		again, e := s.MarshalText()
		if e != nil || !bytes.Equal(again, signature) || !slices.Contains(untrustedComments, s.UntrustedComment) {
			err = errors.New("it is not in the form that minisign writes")
		}
	}
	switch {
	case err != nil:
		return refuseSignature("the signature of snapshot %s is damaged: %w", name, err)
	case s.KeyID != k.key.ID():
		return refuseSignature("snapshot %s is signed with key %016X, expected %s", name, s.KeyID, k.ID())
	case !minisign.Verify(k.key, manifest, signature):
		return refuseSignature("the signature of snapshot %s is wrong: the manifest is not the signed one", name)
	}
	return nil
}

func refuseSignature(format string, args ...any) error {
	return model.Errorf(model.Refused, "bad_signature", format, args...)
}
