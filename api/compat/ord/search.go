package ord

import (
	"net/http"
	"net/url"
	"regexp"
	"strings"

	"birthmark/api/exchange"
	"birthmark/chains/bitcoin/block"
	"birthmark/chains/bitcoin/runes"
	"birthmark/core/schema"
)

// The forms of searched texts, in the order in which they are tried (ord: src/re.rs). Hashes come before them, ids of runes
// before addresses.
var (
	formHash    = regexp.MustCompile(`^[[:xdigit:]]{64}$`)
	formRuneID  = regexp.MustCompile(`^[0-9]{1,63}:[0-9]+$`)
	searchForms = []struct {
		form *regexp.Regexp
		path string
	}{
		{regexp.MustCompile(`^[[:xdigit:]]{64}:\d+$`), "output"},
		{regexp.MustCompile(`^([[:xdigit:]]{64}i\d+|-?[0-9]{1,63})$`), "inscription"},
		{regexp.MustCompile(`^[A-Z•.]+$`), "rune"},
		{regexp.MustCompile(`^((bc1|tb1|bcrt1)[qpzry9x8gf2tvdw0s3jn54khce6mua7l]{39,60}|[123][a-km-zA-HJ-NP-Z1-9]{25,34})$`), "address"},
		{regexp.MustCompile(`^[[:xdigit:]]{64}:\d+:\d+$`), "satpoint"},
	}
)

// search redirects to the path of the thing with a name. Paths of satoshis and inscriptions are not answered.
func (p *protocol) search(r *request) answer {
	text, inPath := r.Arg("query")
	if !inPath {
		text = r.Param("query")
	}
	text = strings.TrimSpace(text)
	return func(v *view) (any, error) {
		to, err := v.searched(text)
		if err != nil {
			return nil, err
		}
		r.Header().Set("Location", p.path+"/"+to)
		r.SetStatus(http.StatusSeeOther)
		return exchange.Nothing{}, nil
	}
}

func (v *view) searched(text string) (path string, err error) {
	if formHash.MatchString(text) {
		hash, _ := block.ParseHash(text)
		if _, err = v.BlockByHash(hash); is(err, "unknown_block") {
			return "tx/" + text, nil
		}
		return "block/" + text, err
	}
	if formRuneID.MatchString(text) {
		id, ok := runes.ParseID(text)
		if !ok {
			return "", badRequest("invalid rune ID %q", text)
		}
		asset, ok := id.Asset()
		if !ok {
			return "", missing("rune ID")
		}
		infos, err := v.Query().R.GetMany(schema.FamilyAssetInfo, [][]byte{asset.AppendTo(nil)})
		if err != nil {
			return "", err
		}
		if infos[0] == nil {
			return "", missing("rune ID")
		}
		entry, err := runes.ParseEntry(infos[0])
		if err != nil {
			return "", err
		}
		return "rune/" + entry.Name.String(), nil
	}
	for _, f := range searchForms {
		if f.form.MatchString(text) {
			return f.path + "/" + url.PathEscape(text), nil
		}
	}
	return "sat/" + url.PathEscape(text), nil
}
