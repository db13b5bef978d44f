// Package details formats what serialized transactions contain as fields with a name and a text.
package details

import (
	"encoding/hex"
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
type Field struct {
	Name, Text string
	URL        string // of the text; empty: none
	Tree       *Node  // in place of a text
}

const (
	maxWitness = 20       // witness items of an input that a page shows
	room       = 8 * 1024 // characters of the details on a page that has other lists, unless [Writer.Within] sets it
	fieldRoom  = 70       // characters of markup of a field
	itemRoom   = 90       // characters of markup of an entry of a section
	groupRoom  = 140      // characters of markup of a section, or around the fields of an input or output
)

// Characters of parts of the details: of pages with other lists, and of pages that have nothing else.
var (
	short = limits{field: 2000, script: 1500, tree: 8 * 1024, items: 20}
	whole = limits{field: 16 * 1024, script: 16 * 1024, tree: 24 * 1024, items: 100}
)

type limits struct {
	field, script, tree int
	items               int // entries of a section
}

// Writer writes the details of a page, up to a number of characters.
type Writer struct {
	Links
	Fee     string            // of the transaction; empty: unknown
	Scripts map[string]Script // that redeemers are for, by hash
	More    string            // path of the page with all details of the next section; empty: none
	limits
	left      int
	full      bool // something is missing because the page has no room
	shortened bool // something is shorter than it is
}

// Script describes a script and its place.
type Script struct {
	Language string
	Size     int    // bytes
	Output   string // that has it as its reference script; empty: the transaction has it
}

// Links are functions of the page.
type Links struct {
	Amount func(n string) string       // formats an amount of the chain's coin
	Output func(ref string) string     // path of the page of an output
	Stake  func(address string) string // path of the page of a stake address; empty: it has none

	// Named is the path of the page of a pool or a representative; empty: it has none.
	Named func(name string) string

	// Inscription is the path of the content of an inscription.
	Inscription func(number int) string

	// Spent returns the script of an output that an input spends; nil: unknown.
	Spent func(*query.OutputAnswer) []byte

	// Print returns a script in hex as text, empty if it cannot be read.
	Print func(language, digits string, most int) (text string, whole bool)
}

// New returns the writer of a page.
func New(l Links) *Writer { return &Writer{Links: l, left: room, limits: short} }

// Within sets the number of characters of the details with their markup.
func (d *Writer) Within(room int) *Writer {
	d.left, d.full, d.shortened = room, false, false
	return d
}

// Whole sets the limits of the parts to those of a page that has nothing else, such as the page of an output.
func (d *Writer) Whole() *Writer {
	d.limits = whole
	return d
}

// Fitting returns the fields that write makes, or none if the page has no room for them. The last field is a link to all
// details if some are shortened.
func (d *Writer) Fitting(write func() []Field) (fields []Field, fit bool) {
	left := d.left
	d.full, d.shortened = false, false
	if fields = write(); d.full || d.left < 0 && len(fields) > 0 {
		d.left = left
		return nil, false
	}
	if d.shortened && d.More != "" {
		fields = append(fields, d.more())
	}
	if len(fields) > 0 {
		d.left -= groupRoom
	}
	return fields, true
}

// Shortened reports whether something that was written since [Writer.Within] is missing or shorter than it is.
func (d *Writer) Shortened() bool { return d.shortened }

// more returns the field in place of missing ones.
func (d *Writer) more() Field {
	if d.More == "" {
		return Field{Name: "more", Text: "see this page as JSON"}
	}
	return Field{Name: "more", Text: "all details", URL: d.More}
}

// rest returns the room of a part that has at most a number of characters.
func (d *Writer) rest(most int) int {
	if d.left >= most {
		return most
	}
	return max(0, d.left)
}

// cut records that a part is shortened because of its limit, or because the page has no room.
func (d *Writer) cut(most int) {
	d.shortened = true
	d.full = d.full || d.left < most
}

// Field appends a field, shortened if it is long; without text it appends nothing.
func (d *Writer) Field(fields []Field, name, text string) []Field {
	if text == "" {
		return fields
	}
	most := d.rest(d.field)
	if most == 0 {
		d.cut(1)
		if n := len(fields); n == 0 || fields[n-1].Name != "more" {
			fields = append(fields, d.more())
		}
		return fields
	}
	if len(text) > most {
		d.cut(d.field)
		text = strings.ToValidUTF8(text[:most], "") + "…"
	}
	d.left -= len(name) + escaped(text) + fieldRoom
	return append(fields, Field{Name: name, Text: text})
}

// escaped returns the number of characters of a text in HTML.
func escaped(text string) (n int) {
	for i := range len(text) {
		switch text[i] {
		case '<', '>', '&', '"', '\'', '+':
			n += len("&#34;") - 1
		}
	}
	return n + len(text)
}

// Link appends a field with a link to its page.
func (d *Writer) Link(fields []Field, name, text, url string) []Field {
	n := len(fields)
	if fields = d.Field(fields, name, text); len(fields) > n && fields[n].Text == text {
		d.left -= len(url)
		fields[n].URL = url
	}
	return fields
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
			fields = d.redeemer(fields, r)
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
		fields = d.scriptOf(fields, *in.ScriptSig)
	}
	fields = d.inner(fields, in)
	for i, item := range in.Witness {
		if i == maxWitness {
			d.shortened = true
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
		fields = d.scriptOf(fields, *o.Script)
	}
	fields = d.Field(fields, "datum hash", o.DatumHash)
	if o.Datum != nil {
		fields = d.Value(fields, "datum", *o.Datum)
	}
	if o.ScriptRef != nil {
		fields = d.scriptFields(fields, "reference script", o.ScriptRef)
	}
	fields = d.Field(fields, "box id", o.BoxID)
	if o.CreationHeight != nil {
		fields = d.Field(fields, "creation height", humanize.Count(*o.CreationHeight))
	}
	for _, name := range slices.Sorted(maps.Keys(o.Registers)) {
		fields = d.Value(fields, name, o.Registers[name])
	}
	return d.Field(d.printed(fields, "ErgoTree as text", "ErgoTree", o.ErgoTree), "ErgoTree", o.ErgoTree)
}

// scriptOf appends a script as operations and in hex.
func (d *Writer) scriptOf(fields []Field, digits string) []Field {
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
		{Name: "stake address", Text: c.StakeAddress, URL: d.stake(c.StakeAddress)},
		{Name: "pool", Text: c.Pool, URL: d.named(c.Pool)}, {Name: "representative", Text: spaced(c.DRep), URL: d.named(c.DRep)},
		{Name: "cold credential", Text: c.Credential}, {Name: "hot credential", Text: c.HotCredential},
		{Name: "deposit", Text: amount(c.Deposit)}, {Name: "pledge", Text: amount(c.Pledge)},
		{Name: "cost", Text: amount(c.Cost)}, {Name: "margin", Text: c.Margin},
		{Name: "rewards to", Text: c.RewardAddress, URL: d.stake(c.RewardAddress)}, {Name: "owners", Text: strings.Join(c.Owners, " ")},
		{Name: "document", Text: c.URL}, {Name: "hash of the document", Text: c.Hash},
	} {
		fields = d.Link(fields, f.Name, f.Text, f.URL)
	}
	if c.Epoch != nil {
		fields = d.Field(fields, "epoch", humanize.Count(*c.Epoch))
	}
	if len(fields) == 0 {
		fields = d.Field(fields, "bytes", c.Raw)
	}
	return fields
}

// Vote returns the fields of a vote.
func (d *Writer) Vote(v *model.Vote) []Field {
	fields := d.Link(nil, "voter", v.Voter, d.named(v.Voter))
	fields = d.Link(fields, "action", v.Action, d.named(v.Action))
	return d.Field(fields, "vote", v.Choice)
}

// Proposal returns the fields of a proposed governance action.
func (d *Writer) Proposal(p *model.Proposal) []Field {
	fields := d.Link(nil, "action", p.Action, d.named(p.Action))
	if p.Deposit != "" {
		fields = d.Field(fields, "deposit", d.Amount(p.Deposit))
	}
	fields = d.Link(fields, "returns to", p.ReturnAddress, d.stake(p.ReturnAddress))
	if n := len(p.Withdrawals); n > 0 {
		fields = d.Field(fields, "payments", humanize.Plural(n, "account"))
	}
	fields = d.contents(fields, p)
	return d.Field(d.Field(d.Field(fields, "document", p.URL), "hash of the document", p.Hash), "bytes", p.Raw)
}

// maxMembers is the largest number of members of a committee that a proposal is shown with.
const maxMembers = 20

// contents appends the changes of a governance action.
func (d *Writer) contents(fields []Field, p *model.Proposal) []Field {
	fields = d.Link(fields, "follows", p.Previous, d.named(p.Previous))
	for _, c := range p.Parameters {
		fields = d.Field(fields, "new "+spaced(c.Name), c.Value)
	}
	fields = d.Field(fields, "new version of the protocol", p.Version)
	shown := 0
	member := func(name, id, more string) {
		if shown++; shown <= maxMembers {
			if fields = d.Link(fields, name, id, d.named(id)); more != "" && fields[len(fields)-1].Text == id {
				fields[len(fields)-1].Text += more
			}
		}
	}
	for _, id := range p.Removed {
		member("removes", id, "")
	}
	for _, m := range p.Added {
		member("adds", m.Member, ", until epoch "+humanize.Count(m.Expires))
	}
	if shown > maxMembers {
		d.shortened = true
		fields = d.Field(fields, "members", humanize.Count(shown-maxMembers)+" more")
	}
	fields = d.Field(fields, "quorum of the committee", p.Quorum)
	if c := p.Constitution; c != nil {
		fields = d.Field(d.Field(fields, "constitution", c.URL), "hash of the constitution", c.Hash)
		fields = d.Field(fields, "script that checks proposals", c.Script)
	}
	return fields
}

// stake returns the path of the page of a stake address; empty: it has none.
func (d *Writer) stake(address string) string {
	if address == "" || d.Stake == nil {
		return ""
	}
	return d.Stake(address)
}

// named returns the path of the page of a pool or a representative; empty: it has none.
func (d *Writer) named(name string) string {
	if name == "" || d.Named == nil {
		return ""
	}
	return d.Named(name)
}

// spaced returns a name in words.
func spaced(name string) string { return strings.ReplaceAll(name, "_", " ") }
