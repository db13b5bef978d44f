package search

import (
	"net/url"
	"slices"
	"strings"
	"unicode"

	"birthmark/model"
)

// Clean returns a text that a person typed or pasted without the white space and the invisible characters around it, such
// as a byte order mark (U+FEFF) or a zero-width space (U+200B).
func Clean(text string) string {
	return strings.TrimFunc(text, func(r rune) bool { return blank(r) && !unicode.Is(unicode.Variation_Selector, r) })
}

// blank reports whether a character is white space, a control character, or ignorable by default (UAX #44).
func blank(r rune) bool {
	return unicode.IsSpace(r) || unicode.In(r, unicode.Cc, unicode.Cf, unicode.Other_Default_Ignorable_Code_Point, unicode.Variation_Selector)
}

// minPiece is the number of bytes of a name in a URI. All addresses and hashes are longer; other parts, such as an
// amount, are shorter or name nothing.
const minPiece = 20

// maxReadings limits the readings of a text: each is looked up in all indexes.
const maxReadings = 10

// readings returns what a text can mean, most likely first: the text itself, the text without characters in it that
// cannot be seen, and the names in a URI. In a text that names one value exactly, such as an argument INDEX VALUE or the
// path of a request, nothing is ignored: the values of a custom index can contain any character.
func readings(chain model.Chain, text string) []string {
	text = Clean(text)
	dense := strings.Map(func(r rune) rune {
		if blank(r) {
			return -1
		}
		return r
	}, text)
	all := []string{text}
	if len(dense) >= minPiece {
		all = append(all, dense)
		all = append(all, pieces(chain.Name(), dense)...)
	}
	seen := all[:0:0]
	for _, t := range all {
		if t != "" && !slices.Contains(seen, t) {
			seen = append(seen, t)
		}
	}
	return seen[:min(len(seen), maxReadings)]
}

// pieces returns the names in a URI of a payment (BIP 21 and BIP 321, ZIP 321, CIP-13) or of an object (CIP-107). Its
// scheme is the name of the chain, in any case; Cardano's has the prefix "web+". Addresses can be in the path or in
// parameters, such as bitcoin:?bc=ADDRESS. A scheme can also be the prefix of an address (bchtest:ADDRESS?amount=1).
func pieces(chain, text string) (names []string) {
	whole, parameters, _ := strings.Cut(text, "?")
	names = []string{whole}
	scheme, path, ok := strings.Cut(whole, ":")
	if !ok || strings.TrimPrefix(strings.ToLower(scheme), "web+") != strings.ReplaceAll(chain, "-", "") {
		return names
	}
	parts := strings.Split(path, "/")
	for p := range strings.SplitSeq(parameters, "&") {
		parts = append(parts, p[strings.IndexByte(p, '=')+1:])
	}
	for _, p := range parts {
		p, _, _ = strings.Cut(p, "#")
		if decoded, err := url.PathUnescape(p); err == nil {
			p = decoded
		}
		if len(p) >= minPiece {
			names = append(names, p)
		}
	}
	return names
}
