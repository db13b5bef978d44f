package explorer

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
	maxMetadataValue  = 500 // characters of a field
	maxMetadataFields = 40
	maxPicture        = 32 << 10 // bytes of a picture in the metadata
)

// metadataOf returns the metadata of an asset: from the newest output with its reference asset, or else from mint, the
// last transaction that minted it. It is empty if the serialized transaction is unknown.
func metadataOf(ctx context.Context, view *query.View, c model.Chain, asset, mint string) (m model.AssetMetadata, err error) {
	describer, ok := c.(model.MintDescriber)
	if !ok || mint == "" {
		return m, nil
	}
	id, err := c.ParseAsset(asset)
	if err != nil {
		return m, err
	}
	if m, err = referencedMetadata(ctx, view, c, describer, id); err == nil && m.Standard == "" {
		m, err = metadataInTx(ctx, view, c, describer, id, mint)
	}
	for i := range m.Fields {
		if runes := []rune(m.Fields[i].Value); len(runes) > maxMetadataValue {
			m.Fields[i].Value = string(runes[:maxMetadataValue]) + "…"
		}
	}
	m.Fields = m.Fields[:min(len(m.Fields), maxMetadataFields)]
	return m, err
}

// referencedMetadata returns the metadata in the newest output of the asset that describes an asset.
func referencedMetadata(ctx context.Context, view *query.View, c model.Chain, d model.MintDescriber, id []byte) (m model.AssetMetadata, err error) {
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
	return metadataInTx(ctx, view, c, d, reference, found.Outputs[0].Tx)
}

// metadataInTx returns the metadata of an asset in a transaction and its first output with the asset.
func metadataInTx(ctx context.Context, view *query.View, c model.Chain, d model.MintDescriber, id []byte, hash string) (m model.AssetMetadata, err error) {
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

// ipfsContent matches a content identifier of IPFS and a path in it.
var ipfsContent = regexp.MustCompile(`^[A-Za-z0-9]{20,}(/[^/]+)*$`)

// pictureURL returns the URL of a picture for a page. A picture on IPFS is loaded from the gateway; metadata can also
// contain the picture itself. It is empty for other addresses, whose hosts would learn about visitors, and without a
// gateway. The server fetches no picture itself: it would be a proxy for any content.
func pictureURL(uri, gateway string) string {
	if gateway == "" {
		return ""
	}
	if strings.HasPrefix(uri, "data:image/") && len(uri) <= maxPicture {
		return uri
	}
	path, ok := strings.CutPrefix(uri, "ipfs://")
	path = strings.TrimPrefix(path, "ipfs/")
	if !ok || !ipfsContent.MatchString(path) || strings.Contains(path, "/.") {
		return ""
	}
	return gateway + (&url.URL{Path: path}).EscapedPath()
}
