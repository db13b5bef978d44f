// Package details formats what serialized transactions contain as fields with a name and a text.
package details

import (
	"encoding/hex"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"birthmark/api/compat/script"
	"birthmark/core/query"
	"birthmark/internal/humanize"
	"birthmark/model"
)

// Field is a part of a serialized transaction.
type Field struct{ Name, Text string }

const (
	maxField   = 2000      // characters of a field that a page shows
	maxWitness = 20        // witness items of an input that a page shows
	room       = 24 * 1024 // characters of all details on a page, so that it stays small
)

// Writer writes the details of a page, up to a number of characters.
type Writer struct {
	Links
	left int
}

// Links are functions of the page.
type Links struct {
	Amount func(n string) string       // formats an amount of the chain's coin
	Output func(ref string) string     // path of the page of an output
	Stake  func(address string) string // path of the page of a stake address; empty: it has none
}

// New returns the writer of a page.
func New(l Links) *Writer { return &Writer{l, room} }

// Field appends a field, shortened if it is long; without text it appends nothing.
func (d *Writer) Field(fields []Field, name, text string) []Field {
	if text == "" {
		return fields
	}
	most := min(maxField, d.left)
	if most <= 0 {
		if n := len(fields); n == 0 || fields[n-1].Name != "more" {
			fields = append(fields, Field{"more", "see this page as JSON"})
		}
		return fields
	}
	if len(text) > most {
		text = strings.ToValidUTF8(text[:most], "") + "…"
	}
	d.left -= len(text)
	return append(fields, Field{name, text})
}

// Value appends the meaning of a serialized value as JSON, or else its bytes.
func (d *Writer) Value(fields []Field, name string, v model.EncodedValue) []Field {
	if v.Type != "" {
		name += ", " + v.Type
	}
	if v.Value == nil || v.Undecoded {
		return d.Field(fields, name, v.Raw)
	}
	text, isText := v.Value.(string)
	if !isText {
		b, err := json.Marshal(v.Value)
		if err != nil {
			return d.Field(fields, name, v.Raw) // impossible: it was decoded
		}
		text = string(b)
	}
	fields = d.Field(fields, name, text)
	if b, err := hex.DecodeString(text); err == nil && isReadable(b) {
		fields = d.Field(fields, "as text", string(b))
	}
	return fields
}

// PrettyJSON returns a value as indented JSON.
func PrettyJSON(v any) string {
	indented := json.Marshal
	if nesting(v, maxIndented) < maxIndented {
		indented = func(v any) ([]byte, error) { return json.MarshalIndent(v, "", " ") }
	}
	b, err := indented(v)
	if err != nil {
		return fmt.Sprint(v) // impossible: it was decoded
	}
	return string(b)
}

// maxIndented is the nesting from which JSON is not indented, as the indents would take more room than the values.
const maxIndented = 50

// nesting returns the nesting of lists and maps in a value, at most most.
func nesting(v any, most int) (depth int) {
	if most == 0 {
		return 0
	}
	switch v := v.(type) {
	case []any:
		for _, e := range v {
			depth = max(depth, 1+nesting(e, most-1))
		}
	case map[string]any:
		for _, e := range v {
			depth = max(depth, 1+nesting(e, most-1))
		}
	}
	return depth
}

// isReadable reports whether bytes are text of some length.
func isReadable(b []byte) bool {
	return len(b) > 2 && utf8.Valid(b) && !strings.ContainsFunc(string(b), func(r rune) bool { return !unicode.IsPrint(r) && r != '\n' })
}

// SignalsReplacement is the largest sequence that signals that a transaction can be replaced (BIP 125).
const SignalsReplacement = 0xfffffffd

// InputFields returns the details of an input that only the serialized transaction contains.
func (d *Writer) InputFields(in *query.InputAnswer, redeemers []model.Redeemer) (fields []Field) {
	for i := range redeemers {
		r := &redeemers[i]
		if r.Output != nil && r.Output.Tx == in.Output.Tx && r.Output.Index == in.Output.Index {
			fields = d.Value(fields, "redeemer", r.Data)
		}
	}
	if in.InputDetails == nil {
		return fields
	}
	if in.Sequence != nil {
		text := fmt.Sprintf("0x%08x", *in.Sequence)
		if *in.Sequence <= SignalsReplacement {
			text += ", signals replacement (RBF)"
		}
		fields = d.Field(fields, "sequence", text)
	}
	if in.ScriptSig != nil {
		fields = d.script(fields, *in.ScriptSig)
	}
	for i, item := range in.Witness {
		if i == maxWitness {
			return d.Field(fields, "witness", humanize.Count(len(in.Witness)-i)+" more items")
		}
		fields = d.Field(fields, "witness "+humanize.Count(i), item)
	}
	if in.SpendingProof != nil && *in.SpendingProof != "" {
		fields = d.Field(fields, "spending proof", *in.SpendingProof)
	}
	for _, name := range slices.Sorted(maps.Keys(in.Extension)) {
		fields = d.Value(fields, "variable "+name, in.Extension[name])
	}
	return fields
}

// OutputFields returns the details of an output that only the serialized transaction contains.
func (d *Writer) OutputFields(o *query.OutputAnswer) (fields []Field) {
	if o.OutputDetails == nil {
		return nil
	}
	fields = d.Field(fields, "type", o.Type)
	if o.Script != nil {
		if o.Type == "op_return" {
			fields = d.Field(fields, "text", textOfPushes(*o.Script))
		}
		fields = d.script(fields, *o.Script)
	}
	fields = d.Field(fields, "datum hash", o.DatumHash)
	if o.Datum != nil {
		fields = d.Value(fields, "datum", *o.Datum)
	}
	if o.ScriptRef != nil {
		fields = d.Field(fields, "reference script, "+spaced(o.ScriptRef.Language), o.ScriptRef.Hash)
	}
	fields = d.Field(fields, "box id", o.BoxID)
	if o.CreationHeight != nil {
		fields = d.Field(fields, "creation height", humanize.Count(*o.CreationHeight))
	}
	for _, name := range slices.Sorted(maps.Keys(o.Registers)) {
		fields = d.Value(fields, name, o.Registers[name])
	}
	return d.Field(fields, "ErgoTree", o.ErgoTree)
}

// script appends a script as operations and in hex.
func (d *Writer) script(fields []Field, digits string) []Field {
	b, err := hex.DecodeString(digits)
	if err != nil {
		return fields
	}
	fields = d.Field(fields, "script", string(script.AppendCoreAsm(nil, b, false)))
	return d.Field(fields, "script in hex", digits)
}

// textOfPushes returns the readable pushes of a script that no input can spend.
func textOfPushes(digits string) string {
	b, err := hex.DecodeString(digits)
	if err != nil {
		return ""
	}
	var texts []string
	for push := range strings.FieldsSeq(string(script.AppendCoreAsm(nil, b, false))) {
		if b, err := hex.DecodeString(push); err == nil && isReadable(b) {
			texts = append(texts, string(b))
		}
	}
	return strings.Join(texts, " ")
}

// Certificate returns the fields of a certificate.
func (d *Writer) Certificate(c *model.Certificate) (fields []Field) {
	amount := func(n string) string {
		if n == "" {
			return ""
		}
		return d.Amount(n)
	}
	for _, f := range []Field{
		{"stake address", c.StakeAddress}, {"pool", c.Pool}, {"representative", spaced(c.DRep)}, {"cold credential", c.Credential},
		{"hot credential", c.HotCredential}, {"deposit", amount(c.Deposit)}, {"pledge", amount(c.Pledge)},
		{"cost", amount(c.Cost)}, {"margin", c.Margin}, {"rewards to", c.RewardAddress}, {"owners", strings.Join(c.Owners, " ")},
	} {
		fields = d.Field(fields, f.Name, f.Text)
	}
	if c.Epoch != nil {
		fields = d.Field(fields, "epoch", humanize.Count(*c.Epoch))
	}
	if len(fields) == 0 {
		fields = d.Field(fields, "bytes", c.Raw)
	}
	return fields
}

// spaced returns a name in words.
func spaced(name string) string { return strings.ReplaceAll(name, "_", " ") }
