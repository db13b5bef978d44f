package contents

import (
	"bytes"
	"encoding/hex"
	"encoding/json"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"birthmark/chains/cardano/address"
	"birthmark/chains/cardano/cbor"
	"birthmark/chains/cardano/ledger"
)

// Onchain is the metadata of an asset.
type Onchain struct {
	Metadata any     `json:"onchain_metadata"`
	Standard *string `json:"onchain_metadata_standard"`
	Extra    *string `json:"onchain_metadata_extra"`

	Reference bool `json:"-"` // the metadata is in the datum of a reference token
}

// LabelMints is the metadata label of CIP-25.
const LabelMints = 721

// ByLabel reads the metadata of an asset (CIP-25): value is the metadata of label 721 as JSON, and item its CBOR. It
// has policies, which have the names of assets. Both are text in version 1 and bytes in version 2. As at Blockfrost,
// version 2 with text keys is shown without a standard, as are metadata with fields of other types.
func ByLabel(id []byte, value any, item []byte) (o Onchain) {
	label, ok := value.(map[string]any)
	if !ok {
		return o
	}
	policy, name := hex.EncodeToString(id[:address.PolicySize]), id[address.PolicySize:]
	text, digits := strings.ToValidUTF8(string(name), "\ufffd"), hex.EncodeToString(name)
	byText, _ := label[policy].(map[string]any)
	standard := ""
	switch version(label["version"]) {
	case 1:
		if v, ok := byText[text]; ok {
			o.Metadata, standard = v, "CIP25v1"
		} else if v := byText[digits]; v != nil {
			o.Metadata, standard = v, "CIP25v1"
		}
	case 2:
		byBytes, _ := label["0x"+policy].(map[string]any)
		if v := byBytes["0x"+digits]; v != nil && hasKeys(item, id[:address.PolicySize], name) {
			o.Metadata, standard = v, "CIP25v2"
		} else {
			o.Metadata = byText[text]
		}
	}
	if m, ok := o.Metadata.(map[string]any); ok && standard != "" && cip25.accepts(m) {
		o.Standard = &standard
	}
	return o
}

// version returns the version that metadata state, 1 without one, and 0 if it is not a number.
func version(v any) float64 {
	text := ""
	switch v := v.(type) {
	case nil:
		return 1
	case string:
		text = v
	case json.Number:
		text = v.String()
	default:
		return 0
	}
	if text == "" || text == "0" {
		return 1
	}
	n, err := strconv.ParseFloat(text, 64)
	if err != nil {
		return 0
	}
	return n
}

// hasKeys reports whether the CBOR of a label has a policy and a name of an asset as bytes. In JSON, text that begins with
// 0x looks the same.
func hasKeys(item, policy, name []byte) bool {
	of := valueOf(item, policy)
	return of != nil && valueOf(of, name) != nil
}

// valueOf returns the CBOR of the value with a key of bytes in a map, or nil.
func valueOf(item, key []byte) []byte {
	w := cbor.Walker{Data: item}
	if w.Major() != cbor.Map {
		return nil
	}
	for n := w.Map("map"); w.More(&n); {
		if w.Major() == cbor.Bytes {
			found := bytes.Equal(w.Bytes("key"), key)
			if value := w.Item("value"); found && w.Err == nil {
				return value
			}
			continue
		}
		w.Skip("key")
		w.Skip("value")
	}
	return nil
}

// fields are the kinds of the fields of metadata in a standard: text, texts (text or a list of text), number, files.
type fields struct {
	required []string
	kinds    map[string]string
}

// The fields of CIP-25, and of CIP-68 by the kind of token, as the schemas of Blockfrost have them.
var (
	cip25 = fields{[]string{"name", "image"}, map[string]string{
		"name": "text", "image": "texts", "mediaType": "text", "description": "texts", "files": "files",
	}}
	file  = fields{[]string{"mediaType", "src"}, map[string]string{"name": "text", "mediaType": "text", "src": "texts"}}
	cip68 = map[string]fields{
		"000de140": {[]string{"name", "image"}, map[string]string{
			"name": "text", "image": "text", "mediaType": "text", "description": "text", "files": "files",
		}},
		"0014df10": {[]string{"name", "description"}, map[string]string{
			"name": "text", "description": "text", "ticker": "text", "url": "text", "logo": "text", "decimals": "number",
		}},
		"001bc280": {[]string{"name", "image"}, map[string]string{
			"name": "text", "image": "text", "mediaType": "text", "description": "text", "decimals": "number", "files": "files",
		}},
	}
)

// accepts reports whether metadata have all required fields, and no field of another kind.
func (f fields) accepts(m map[string]any) bool {
	for _, name := range f.required {
		if _, has := m[name]; !has {
			return false
		}
	}
	for name, kind := range f.kinds {
		if v, has := m[name]; has && !isOf(kind, v) {
			return false
		}
	}
	return true
}

func isOf(kind string, v any) bool {
	_, isText := v.(string)
	list, isList := v.([]any)
	switch kind {
	case "texts":
		return isText || isList && !slices.ContainsFunc(list, func(part any) bool { return !isOf("text", part) })
	case "number":
		_, isNumber := v.(json.Number)
		return isNumber
	case "files":
		return isList && !slices.ContainsFunc(list, func(part any) bool {
			m, ok := part.(map[string]any)
			return !ok || !file.accepts(m)
		})
	}
	return isText
}

// prefixSize is the number of hex digits that begin an asset's name and state its kind (CIP-67).
const prefixSize = 8

// HasReference reports whether a reference token can describe an asset: its name begins with the label of a kind of token.
func HasReference(name []byte) bool {
	digits := hex.EncodeToString(name)
	_, ok := cip68[digits[:min(len(digits), prefixSize)]]
	return ok
}

// ByReference reads the datum of the reference token of an asset (CIP-68), a constructor with metadata, version and extra
// data. As at Blockfrost, fields that the standard does not have are shown as CBOR in hex. It is not found if a field of the
// standard is missing or is of another kind, or if the version is not known.
func ByReference(name, datum []byte) (o Onchain, found bool) {
	digits := hex.EncodeToString(name)
	standard, ok := cip68[digits[:min(len(digits), prefixSize)]]
	parts, isConstructor := constructorFields(datum)
	if !ok || !isConstructor || len(parts) < 2 {
		return o, false
	}
	m, isMap := readable(parts[0], standard)
	v := cbor.Walker{Data: parts[1]}
	version := v.Int("version")
	if !isMap || v.Err != nil || version > 3 || !standard.accepts(m) {
		return o, false
	}
	text := "CIP68v" + strconv.FormatInt(version, 10)
	o = Onchain{Metadata: m, Standard: &text, Reference: true}
	if len(parts) > 2 {
		extra := hex.EncodeToString(parts[2])
		o.Extra = &extra
	}
	return o, true
}

// constructorFields returns the CBOR of the fields of a constructor in Plutus data.
func constructorFields(datum []byte) (all [][]byte, ok bool) {
	w := cbor.Walker{Data: datum}
	major, tag, _ := w.Head("constructor")
	if major != cbor.Tag {
		return nil, false
	}
	if tag == anyConstructor {
		n := w.Array("constructor")
		w.Field(&n, "number")
		w.Skip("number")
		w.Field(&n, "fields")
	}
	for n := w.Array("fields"); w.More(&n); {
		all = append(all, w.Item("field"))
	}
	return all, w.Err == nil
}

// anyConstructor is the tag of a constructor whose number has no tag of its own.
const anyConstructor = 102

// readable returns a map of Plutus data with the fields of a standard as text, numbers and lists, and with other fields as
// CBOR in hex.
func readable(item []byte, standard fields) (map[string]any, bool) {
	w, all := cbor.Walker{Data: item}, map[string]any{}
	if w.Major() != cbor.Map {
		return nil, false
	}
	for n := w.Map("metadata"); w.More(&n); {
		key := w.Item("key")
		value := w.Item("value")
		name, ok := plain(key)
		if !ok {
			name = hex.EncodeToString(key)
		}
		if _, again := all[name]; again {
			continue
		}
		kind := standard.kinds[name]
		if all[name], ok = convert(value, kind); !ok {
			if v := (cbor.Walker{Data: value}); kind == "text" && v.Major() == cbor.Array {
				return nil, false // Blockfrost fails to join parts of other types
			}
			all[name] = hex.EncodeToString(value)
		}
	}
	return all, w.Err == nil
}

// plain returns bytes as text, or as hex if they are not UTF-8, and a number in decimal.
func plain(item []byte) (string, bool) {
	w := cbor.Walker{Data: item}
	switch w.Major() {
	case cbor.Bytes:
		return textOrHex(w.Bytes("text")), w.Err == nil
	case cbor.Uint, cbor.Negative:
		n := w.Int("number")
		return strconv.FormatInt(n, 10), w.Err == nil
	}
	return "", false
}

func textOrHex(b []byte) string {
	if utf8.Valid(b) {
		return string(b)
	}
	return hex.EncodeToString(b)
}

// convert returns a value of a field of a kind. It is not ok if the value is of another one, or the kind is unknown.
func convert(item []byte, kind string) (any, bool) {
	w := cbor.Walker{Data: item}
	major := w.Major()
	switch {
	case kind == "number" && (major == cbor.Uint || major == cbor.Negative):
		n := w.Int("number")
		return json.Number(strconv.FormatInt(n, 10)), w.Err == nil && n <= maxSafe && n >= -maxSafe
	case (kind == "text" || kind == "texts") && major == cbor.Bytes:
		return textOrHex(w.Bytes("text")), w.Err == nil
	case (kind == "text" || kind == "texts") && major == cbor.Array: // text of more than 64 bytes
		var whole []byte
		for n := w.Array("text"); w.More(&n); {
			whole = append(whole, w.Bytes("part of a text")...)
		}
		return textOrHex(whole), w.Err == nil
	case kind == "files" && major == cbor.Array:
		all := []any{}
		for n := w.Array("files"); w.More(&n); {
			m, ok := converted(w.Item("file"))
			if !ok {
				return nil, false
			}
			all = append(all, m)
		}
		return all, w.Err == nil
	}
	return nil, false
}

// maxSafe is the largest number that JavaScript has exactly, which Blockfrost shows as a number.
const maxSafe = 1<<53 - 1

// converted returns a file, all of whose fields belong to the standard.
func converted(item []byte) (map[string]any, bool) {
	w, all := cbor.Walker{Data: item}, map[string]any{}
	if w.Major() != cbor.Map {
		return nil, false
	}
	for n := w.Map("file"); w.More(&n); {
		name, _ := plain(w.Item("key"))
		v, ok := convert(w.Item("value"), file.kinds[name])
		if !ok {
			return nil, false
		}
		all[name] = v
	}
	return all, w.Err == nil
}

// Labels returns the metadata in auxiliary data by label, and the labels in order.
func Labels(auxiliary []byte) (labels []uint64, items map[uint64][]byte) {
	items = map[uint64][]byte{}
	for label, item := range ledger.Metadata(auxiliary) {
		labels = append(labels, label)
		items[label] = item
	}
	slices.Sort(labels)
	return labels, items
}

// Labelled returns the CBOR of a map with one label.
func Labelled(label uint64, item []byte) []byte {
	return append(cbor.AppendHead(cbor.AppendHead(nil, cbor.Map, 1), cbor.Uint, label), item...)
}
