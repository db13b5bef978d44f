package details

import (
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"birthmark/core/query"
	"birthmark/internal/humanize"
	"birthmark/model"
)

// pictures are the media types of inscriptions that pages show as pictures.
var pictures = map[string]bool{
	"image/png": true, "image/jpeg": true, "image/gif": true, "image/webp": true, "image/avif": true, "image/svg+xml": true,
}

// PictureType returns the media type of an inscription that a page shows as a picture; empty for others.
func PictureType(in *model.Inscription) string {
	kind := mediaType(in)
	if in.Encoding != "" || len(in.Content) == 0 || !pictures[kind] {
		return ""
	}
	return kind
}

// mediaType returns the type of an inscription without parameters.
func mediaType(in *model.Inscription) string {
	kind, _, _ := strings.Cut(in.Type, ";")
	return strings.ToLower(strings.TrimSpace(kind))
}

// text returns the content of an inscription if that is text to read.
func text(in *model.Inscription) string {
	kind := mediaType(in)
	isText := strings.HasPrefix(kind, "text/") || strings.HasSuffix(kind, "json") || kind == "image/svg+xml" || kind == ""
	most := in.Content[:min(len(in.Content), 2*whole.field)]
	for len(most) < len(in.Content) && len(most) > 0 && !utf8.RuneStart(in.Content[len(most)]) {
		most = most[:len(most)-1]
	}
	if in.Encoding != "" || !isText || !utf8.Valid(most) || strings.ContainsFunc(string(most), isControl) {
		return ""
	}
	return string(most)
}

func isControl(r rune) bool { return unicode.IsControl(r) && r != '\n' && r != '\r' && r != '\t' }

// InscriptionsOf returns the inscriptions of a transaction, on chains that have them.
func InscriptionsOf(c model.Chain, a *query.TxAnswer) []model.Inscription {
	reader, ok := c.(model.InscriptionReader)
	if !ok {
		return nil
	}
	inputs, outputs := make([]*model.InputDetails, len(a.Inputs)), make([]*model.OutputDetails, len(a.Outputs))
	for i := range a.Inputs {
		inputs[i] = a.Inputs[i].InputDetails
	}
	for i := range a.Outputs {
		outputs[i] = a.Outputs[i].OutputDetails
	}
	return reader.Inscriptions(inputs, outputs)
}

// inscription returns the entry of an inscription.
func (d *Writer) inscription(tx string, in *model.Inscription) Item {
	where := "input "
	if in.Output {
		where = "output "
	}
	kind := in.Type
	if kind == "" {
		kind = "no type"
	}
	item := Item{Heading: kind, Content: d.Inscription(in.Number), Picture: PictureType(in) != ""}
	item.Fields = d.Field(item.Fields, "id", tx+"i"+strconv.Itoa(in.Number))
	item.Fields = d.Field(item.Fields, "in", where+humanize.Count(in.Position))
	size := humanize.Plural(len(in.Content), "byte")
	if in.Encoding != "" {
		size += ", encoded with " + in.Encoding
	}
	item.Fields = d.Field(item.Fields, "size", size)
	item.Fields = d.Field(item.Fields, "protocol", in.Protocol)
	item.Fields = d.Field(item.Fields, "parents", strings.Join(in.Parents, " "))
	item.Fields = d.Field(item.Fields, "shows", in.Delegate)
	item.Fields = d.Field(item.Fields, "content", text(in))
	return item
}
