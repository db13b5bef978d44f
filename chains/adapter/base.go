package adapter

import (
	"encoding/hex"
	"slices"

	"birthmark/chains/indexexpr"
	"birthmark/model"
)

// Base is a chain on one network with its indexes. A chain embeds it; a method that differs on that chain replaces
// Base's.
type Base struct {
	name, network string
	language      *indexexpr.Language
	builtin       []model.Index
	custom        *indexexpr.Indexes // nil if none are defined
}

// NewBase returns a Base without custom indexes. language compiles their expressions.
func NewBase(name, network string, language *indexexpr.Language, builtin []model.Index) Base {
	return Base{name: name, network: network, language: language, builtin: builtin}
}

// Name implements [model.Chain].
func (b *Base) Name() string { return b.name }

// Network implements [model.Chain].
func (b *Base) Network() string { return b.network }

// Indexes implements [model.Chain].
func (b *Base) Indexes() []model.Index { return slices.Concat(b.builtin, b.custom.Indexes()) }

// Fields returns the fields that expressions of custom indexes can use.
func (b *Base) Fields() []indexexpr.Field { return b.language.Fields() }

// With returns b with the custom indexes ds instead of its own, for Define of [model.Chain]. For the errors see
// [indexexpr.Language.Define].
func (b *Base) With(ds []model.Definition) (Base, error) {
	with := *b
	with.custom = nil
	if len(ds) == 0 {
		return with, nil
	}
	var err error
	with.custom, err = b.language.Define(b.builtin, ds)
	return with, err
}

// Custom returns the custom indexes, nil if there are none.
func (b *Base) Custom() *indexexpr.Indexes { return b.custom }

// FormatHash implements [model.Chain]: 64 hex digits.
func (b *Base) FormatHash(h model.Hash) string { return h.String() }

// ParseHash implements [model.Chain]: it reads 64 hex digits.
func (b *Base) ParseHash(s string) (h model.Hash, err error) {
	if len(s) == 2*len(h) {
		if _, err := hex.Decode(h[:], []byte(s)); err == nil {
			return h, nil
		}
	}
	return model.Hash{}, BadHash(s)
}

// BadHash returns the error of a text that is not a hash: kind [model.Usage], code bad_hash.
func BadHash(s string) error {
	return model.Errorf(model.Usage, "bad_hash", "invalid hash %s: expected 64 hex digits", Quote(s))
}

// ParseHex returns the Parse function of an index whose values are size bytes in hex; what names them in errors, which
// are of kind [model.Usage], code bad_value.
func ParseHex(what string, size int) func(string) ([]byte, error) {
	return func(text string) ([]byte, error) {
		value, err := hex.DecodeString(text)
		if err != nil || len(value) != size {
			return nil, BadValue(what, text, "%d hex digits", 2*size)
		}
		return value, nil
	}
}
