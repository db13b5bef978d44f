package details

import (
	"encoding/hex"
	"math/big"
	"slices"
	"strings"

	"birthmark/api/compat/script"
	"birthmark/core/query"
	"birthmark/internal/humanize"
	"birthmark/model"
)

// printed appends a script as text; without a text it appends nothing.
func (d *Writer) printed(fields []Field, name, language, digits string) []Field {
	if d.Print == nil || d.left <= 0 {
		return fields
	}
	text, complete := d.Print(language, digits, d.rest(d.script))
	if text == "" {
		return fields
	}
	if !complete {
		d.cut(d.script)
		text += "\n…"
	}
	d.left -= len(name) + escaped(text) + fieldRoom
	return append(fields, Field{Name: name, Text: text})
}

// inner appends the scripts that an input reveals: of P2SH, P2WSH, and the script path of P2TR.
func (d *Writer) inner(fields []Field, in *query.InputAnswer) []Field {
	if d.Spent == nil || d.left <= 0 || in.ScriptSig == nil || *in.ScriptSig == "" && len(in.Witness) == 0 {
		return fields
	}
	spent := d.Spent(&in.Output)
	if spent == nil {
		return fields
	}
	sig, err := hex.DecodeString(*in.ScriptSig)
	if err != nil {
		return fields
	}
	witness := make([][]byte, len(in.Witness))
	for i := max(0, len(witness)-3); i < len(witness); i++ { // annex, control block and script
		if witness[i], err = hex.DecodeString(in.Witness[i]); err != nil {
			return fields
		}
	}
	redeem, revealed := script.Inner(spent, sig, witness)
	name := "witness script"
	if isTaproot(spent) {
		name = "tapscript"
	}
	return d.asm(d.asm(fields, "redeem script", redeem), name, revealed)
}

// isTaproot reports whether a script is a witness program of version 1 (BIP 341).
func isTaproot(s []byte) bool { return len(s) == 34 && s[0] == 0x51 && s[1] == 32 }

// asm appends a script as operations.
func (d *Writer) asm(fields []Field, name string, code []byte) []Field {
	return d.Field(fields, name, string(script.AppendCoreAsm(nil, code, false)))
}

// scriptFields appends the language and the size of a script, its hash, and its text if its language has one.
func (d *Writer) scriptFields(fields []Field, name string, s *model.ScriptDetails) []Field {
	fields = d.Field(fields, name, spaced(s.Language)+", "+humanize.Plural(len(s.Raw)/2, "byte"))
	fields = d.Field(fields, "script hash", s.Hash)
	return d.textOf(fields, s)
}

// textOf appends the text of a script.
func (d *Writer) textOf(fields []Field, s *model.ScriptDetails) []Field {
	name := "program"
	if s.Language == "native" {
		name = "conditions"
	}
	return d.printed(fields, name, s.Language, s.Raw)
}

// Known sets the scripts that the transaction has, and returns the hashes of other scripts that its redeemers are for.
func (d *Writer) Known(a *query.TxAnswer) (missing []string) {
	d.Fee = a.Fee
	d.Scripts = map[string]Script{}
	for i := range a.Scripts {
		d.Add(&a.Scripts[i], "")
	}
	for i := range a.Redeemers {
		hash := a.Redeemers[i].Script
		if _, known := d.Scripts[hash]; !known && hash != "" && !slices.Contains(missing, hash) {
			missing = append(missing, hash)
		}
	}
	return missing
}

// Add adds a script; output has it as its reference script.
func (d *Writer) Add(s *model.ScriptDetails, output string) {
	if _, known := d.Scripts[s.Hash]; !known {
		d.Scripts[s.Hash] = Script{s.Language, len(s.Raw) / 2, output}
	}
}

// redeemer appends the argument of a script, and the fields of [Writer.budget].
func (d *Writer) redeemer(fields []Field, r *model.Redeemer) []Field {
	return d.budget(d.Value(fields, "redeemer", r.Data), r)
}

// budget appends the script of a redeemer, the limits of its execution, and their part of the fee.
func (d *Writer) budget(fields []Field, r *model.Redeemer) []Field {
	fields = d.Field(fields, "script hash", r.Script)
	if s, known := d.Scripts[r.Script]; known && r.Script != "" {
		text := spaced(s.Language) + ", " + humanize.Plural(s.Size, "byte")
		if s.Output == "" {
			fields = d.Field(fields, "script", text+", in this transaction")
		} else {
			fields = d.Field(fields, "script", text)
			fields = d.Link(fields, "script from", s.Output, d.Output(s.Output))
		}
	}
	fields = d.Field(fields, "limits", humanize.Count(r.Memory)+" memory units, "+humanize.Count(r.Steps)+" steps")
	if r.Fee != "" {
		fields = d.Field(fields, "fee for the limits", d.Amount(r.Fee)+shareOf(r.Fee, d.Fee))
	}
	return fields
}

// shareOf returns the percentage of a fee as a text; empty if the fee is unknown.
func shareOf(part, fee string) string {
	n, ok := new(big.Rat).SetString(part)
	of, known := new(big.Rat).SetString(fee)
	if !ok || !known || of.Sign() <= 0 {
		return ""
	}
	n.Mul(n, big.NewRat(100, 1))
	return ", " + strings.TrimSuffix(n.Quo(n, of).FloatString(1), ".0") + "% of the fee"
}
