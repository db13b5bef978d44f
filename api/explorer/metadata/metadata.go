// Package metadata reads what issuers state about assets, and decides which of their pictures a page shows.
package metadata

import (
	"context"
	"net/url"
	"regexp"
	"slices"
	"strings"

	"birthmark/core/query"
	"birthmark/model"
)

// Limits of the metadata on a page.
const (
	maxValue   = 500 // characters of a field
	maxFields  = 40
	maxPicture = 32 << 10 // bytes of a picture in the metadata
)

// Of returns the metadata of an asset: that of the newest output with its reference asset, if there is one, or else that
// of the transaction that minted it last, which is mint. It is empty if the bytes of the transaction are not known.
func Of(ctx context.Context, view *query.View, c model.Chain, asset, mint string) (m model.AssetMetadata, err error) {
	describer, ok := c.(model.MintDescriber)
	if !ok || mint == "" {
		return m, nil
	}
	id, err := c.ParseAsset(asset)
	if err != nil {
		return m, err
	}
	if m, err = referenced(ctx, view, c, describer, id); err == nil && m.Standard == "" {
		m, err = inTx(ctx, view, c, describer, id, mint)
	}
	for i := range m.Fields {
		if runes := []rune(m.Fields[i].Value); len(runes) > maxValue {
			m.Fields[i].Value = string(runes[:maxValue]) + "…"
		}
	}
	m.Fields = m.Fields[:min(len(m.Fields), maxFields)]
	return m, err
}

// referenced returns the metadata in the newest output of the asset that describes an asset.
func referenced(ctx context.Context, view *query.View, c model.Chain, d model.MintDescriber, id []byte) (m model.AssetMetadata, err error) {
	referrer, ok := c.(model.AssetReferrer)
	if !ok {
		return m, nil
	}
	reference := referrer.ReferenceAsset(id)
	if reference == nil {
		return m, nil
	}
	found, err := view.Find(ctx, query.AssetTerm, c.FormatAsset(reference), query.Terms{}, query.Page{Limit: 1, Descending: true})
	if kind, _ := model.KindOf(err); kind == model.NotFound {
		return m, nil
	}
	if err != nil || len(found.Outputs) == 0 {
		return m, err
	}
	return inTx(ctx, view, c, d, reference, found.Outputs[0].Tx)
}

// inTx returns the metadata of an asset in a transaction and its first output with the asset.
func inTx(ctx context.Context, view *query.View, c model.Chain, d model.MintDescriber, id []byte, hash string) (m model.AssetMetadata, err error) {
	tx, err := view.Tx(ctx, hash)
	if err != nil {
		return m, err
	}
	var details *model.OutputDetails
	has := func(o query.OutputAnswer) bool {
		return slices.ContainsFunc(o.Assets, func(e query.AssetEntryAnswer) bool { return e.Asset == c.FormatAsset(id) })
	}
	if i := slices.IndexFunc(tx.Outputs, has); i >= 0 {
		details = tx.Outputs[i].OutputDetails
	}
	return d.DescribeMint(id, &tx.TxDetails, details), nil
}

// content matches the identifier of a content in IPFS and a path in it.
var content = regexp.MustCompile(`^[A-Za-z0-9]{20,}(/[^/]+)*$`)

// Picture returns the URL of a picture for a page: that of a gateway for a content of IPFS, or the picture itself if the
// metadata contains it. It is empty for other addresses, whose hosts would learn about visitors, and without a gateway.
func Picture(uri, gateway string) string {
	if gateway == "" {
		return ""
	}
	if strings.HasPrefix(uri, "data:image/") && len(uri) <= maxPicture {
		return uri
	}
	path, ok := strings.CutPrefix(uri, "ipfs://")
	path = strings.TrimPrefix(path, "ipfs/")
	if !ok || !content.MatchString(path) || strings.Contains(path, "/.") {
		return ""
	}
	return gateway + (&url.URL{Path: path}).EscapedPath()
}
