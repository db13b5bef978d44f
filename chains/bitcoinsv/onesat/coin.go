package onesat

import (
	"bytes"
	"strings"
	"unicode"
	"unicode/utf8"

	"birthmark/chains/adapter"
	"birthmark/chains/bitcoin/block"
	"birthmark/chains/bitcoin/params"
	"birthmark/model"
)

// Names of the assets in settings.
const (
	All      = "1sat" // BSV-21 and ordinals
	Tokens   = "bsv21"
	Ordinals = "ordinals"
)

// TokensFrom returns the assets of a network that has ordinals from a height on.
func TokensFrom(from model.HeightPk) (all []params.Tokens) {
	for _, t := range []struct {
		name  string
		rules Rules
	}{{All, Rules{}}, {Tokens, Rules{NoOrdinals: true}}, {Ordinals, Rules{NoTokens: true}}} {
		t.rules.From = from
		all = append(all, params.Tokens{
			Name: t.name, Rules: t.rules, Reader: func() block.TokenReader { return reader{t.rules} },
			Fingerprint: names, Format: FormatID, Parse: ParseID, Describe: describe,
			Form: "TXID_N, with :origin for an ordinal or :auth for the authority to mint",
		})
	}
	return all
}

// names are the names by which the rules find tokens: the outpoints of deployments. They are no names for people.
var names = &model.Fingerprint{
	Of: func(id, _ []byte) []byte {
		if len(id) != len(Outpoint{})+1 || Kind(id[len(id)-1]) != TokenKind {
			return nil
		}
		return id[:len(Outpoint{})]
	},
	Format: func([]byte) string { return "" },
	Parse:  func(string) ([]byte, error) { return nil, nil },
}

func describe(info []byte) model.AssetDescription {
	parsed, err := Rules{}.Parse(info)
	t, ok := parsed.(Token)
	if err != nil || !ok || len(info) == 0 {
		return model.AssetDescription{}
	}
	decimals := int(t.Decimals)
	return model.AssetDescription{Name: t.Symbol, Decimals: &decimals}
}

// reader is a [block.TokenReader].
type reader struct{ Rules }

// ReadTx implements [block.TokenReader].
func (r reader) ReadTx(raw []byte, s block.Span) (message any, output uint32) {
	n, at := block.Count(raw, s.Outputs)
	message = r.MessageOf(n, func(int) (value uint64, script []byte) {
		value, script, at = block.Output(raw, at)
		return value, script
	})
	return message, uint32(n)
}

// LockAddress returns the type and the payload of the address of a lock: see [params.Spec.Lock].
func LockAddress(script []byte) (block.Kind, []byte) {
	if l := ReadLock(script); l != nil && l.KeyHash != nil {
		return block.PubKeyHash, l.KeyHash
	}
	return block.Nonstandard, nil
}

// LockDoc is the part of the description of the index address about locks.
const LockDoc = "of an inscription the address of the lock beside it, and the owner of an OrdLock, a cosigner's or a time lock"

// maxText is the longest value of an index of texts in bytes.
const maxText = 255

// Indexes returns the indexes of outputs.
func Indexes() []params.OutputIndex {
	text := func(value []byte) string { return string(value) }
	parse := func(text string) ([]byte, error) {
		if !isText(text) {
			return nil, adapter.BadValue("text", text, "1 to %d bytes, without control characters", maxText)
		}
		return []byte(text), nil
	}
	short := func(script []byte) int { return min(len(script), maxText) }
	return []params.OutputIndex{
		{
			Index: model.Index{
				Name: "contract", Kind: model.OneToMany, Format: text, Parse: parseContract,
				Doc: "the lock of an output, also beside an inscription: cos (cosigner), list (OrdLock), lock (time lock), ltm, pow20",
			},
			Append: appendContract, MaxBytes: short,
		},
		{
			Index: model.Index{
				Name: "content_type", Kind: model.OneToMany, Format: text, Parse: parse,
				Doc: "the media type of the inscription of an output of one satoshi, without parameters",
			},
			Append: appendType, MaxBytes: short,
		},
		{
			Index: model.Index{
				Name: "parent", Kind: model.OneToMany, Format: formatParent, Parse: parseParent,
				Doc: "the parent of the inscription of an output of one satoshi: TXID_N",
			},
			Append:   appendParent,
			MaxBytes: func(script []byte) int { return min(len(script), len(Outpoint{})) },
		},
		{
			Index: model.Index{
				Name: "symbol", Kind: model.OneToMany, Format: text, Parse: parse,
				Doc: "the symbol of the BSV-21 token that an output deploys, of at most 255 bytes",
			},
			Append: appendSymbol, MaxBytes: short,
		},
	}
}

// isText reports whether a text is a value of an index.
func isText(text string) bool {
	return text != "" && len(text) <= maxText && utf8.ValidString(text) && !strings.ContainsFunc(text, unicode.IsControl)
}

func parseContract(text string) ([]byte, error) {
	var known []string
	for _, k := range LockKinds {
		if k == PayKey {
			continue
		}
		if known = append(known, string(k)); text == string(k) {
			return []byte(text), nil
		}
	}
	return nil, adapter.BadValue("contract", text, "%s", strings.Join(known, ", "))
}

func appendContract(to []byte, _ uint64, script []byte) []byte {
	if l := ReadLock(script); l != nil && l.Kind != PayKey {
		to = append(to, l.Kind...)
	}
	return to
}

// ordinal returns the inscription of an output of one satoshi; nil if it has none.
func ordinal(value uint64, script []byte) *Inscription {
	if value != 1 {
		return nil
	}
	return ReadInscription(script)
}

// BaseType returns a media type without parameters.
func BaseType(mediaType string) string {
	base, _, _ := strings.Cut(mediaType, ";")
	return base
}

func appendType(to []byte, value uint64, script []byte) []byte {
	if in := ordinal(value, script); in != nil && isText(BaseType(in.Type)) {
		to = append(to, BaseType(in.Type)...)
	}
	return to
}

func appendParent(to []byte, value uint64, script []byte) []byte {
	if in := ordinal(value, script); in != nil {
		if p, ok := in.ParentOutpoint(); ok {
			to = append(to, p[:]...)
		}
	}
	return to
}

func formatParent(value []byte) string {
	if len(value) != len(Outpoint{}) {
		return ""
	}
	return Outpoint(value).String()
}

func parseParent(text string) ([]byte, error) {
	o, ok := ParseOutpoint(text)
	if !ok {
		return nil, adapter.BadValue("outpoint", text, "TXID_N")
	}
	return o[:], nil
}

func appendSymbol(to []byte, _ uint64, script []byte) []byte {
	if !bytes.Contains(script, []byte(tokenProtocol)) {
		return to
	}
	if t := ReadToken(ReadInscription(script)); t != nil && t.isDeployment() && isText(t.Symbol) {
		to = append(to, t.Symbol...)
	}
	return to
}
