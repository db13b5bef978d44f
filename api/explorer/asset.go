package explorer

import (
	"html/template"
	"math/big"
	"slices"

	"birthmark/api/explorer/charts"
	"birthmark/api/explorer/format"
	"birthmark/core/query"
	"birthmark/internal/humanize"
	"birthmark/model"
)

const (
	assetRows   = 25
	chartShares = 10   // holders with their own part of the chart
	maxHolders  = 2000 // up to which all are read and sorted
)

type assetBody struct {
	*query.AssetAnswer
	Name  string      // of the issuer or in the id
	Said  bool        // name or description come from the issuer
	Group *assetGroup // of chains whose ids have one
	Unit  humanize.Unit

	Chart     template.HTML // of the holders
	ChartNote string

	HolderRows  []holderRow // if there is no chart
	HolderPager pager
	AllHolders  string // list of all holders

	Events     []query.AssetEventAnswer
	EventPager pager

	Transfers     []transferRow
	TransferPager pager

	Metadata model.AssetMetadata
	Picture  template.URL // empty: none, or not shown
	Part     string       // the only list that is shown; empty: the first page of all
	Whole    link
}

// holderRow is a holder and its share of the supply.
type holderRow struct {
	query.HolderAnswer
	Percent string
}

// transferRow is an output with the asset.
type transferRow struct {
	Ref     link
	Owner   []ownerLink
	Time    *moment // nil: genesis
	Height  uint32
	Amount  amount
	Minted  bool
	Unspent bool
}

// asset is the page of an asset, by its id or fingerprint.
func (v *visit) asset() (*page, error) {
	a, err := v.Asset(v.ctx, v.req.PathValue("id"))
	if err != nil {
		return nil, err
	}
	here := v.AssetLink(a.Asset)
	if v.req.PathValue("id") != a.Asset {
		return &page{Location: here.URL}, nil
	}
	b := &assetBody{AssetAnswer: a, Name: v.AssetName(a), Said: a.Name != "" || a.Description != "", Unit: assetUnit(a), Whole: here}
	r := assetReader{v, b}
	if b.Group, err = v.assetGroup(a.Asset); err != nil {
		return nil, err
	}
	name := b.Name
	if name == "" {
		name = format.Short(a.Asset)
	}
	p := &page{Kind: "asset", Title: "Asset " + format.Short(name), JSON: v.api("asset", a.Asset), Section: "assets", Body: b,
		Description: "The " + titleOf(v.chain.Model) + " asset " + format.Short(name) + ": supply, holders, mints and burns.",
		Crumbs:      []link{{v.URL("assets"), "Assets"}, {Text: format.Short(name)}}}
	parts := []struct {
		name string
		read func(after string) error
	}{{"holders", r.holders}, {"events", r.events}, {"transfers", r.transfers}}
	for _, part := range parts {
		if after := v.query(part.name); after != "" {
			b.Part = part.name
			return p, part.read(cursorOf(after))
		}
	}
	p.Follow = v.following(query.AssetTerm, a.Asset)
	for _, part := range parts {
		if err := part.read(""); err != nil {
			return nil, err
		}
	}
	_, describes := v.chain.Model.(model.MintDescriber)
	p.LacksRaw = describes && v.lacksRaw()
	return p, r.metadata()
}

// named returns the parts of an asset's id, on chains whose ids have a name or a group.
func (v *visit) named(id string) model.AssetName {
	return query.NameInID(v.chain.Model, id)
}

// assetGroup is the group of an asset, such as its minting policy.
type assetGroup struct {
	link         // empty URL: the database has no index of groups
	Index string // that finds the outputs of the group
}

// assetGroup returns the group of an asset; nil if assets of the chain have none.
func (v *visit) assetGroup(id string) (*assetGroup, error) {
	named := v.named(id)
	if named.Group == "" {
		return nil, nil
	}
	g := assetGroup{link{Text: named.Group}, named.GroupIndex}
	states, err := v.IndexStates(v.ctx)
	if slices.ContainsFunc(states, func(x query.IndexState) bool { return x.Name == g.Index }) {
		g.URL = v.ValueLink(g.Index, g.Text).URL
	}
	return &g, err
}

// AssetName returns the name that the issuer gave an asset, or the one in its id; empty without a name.
func (v *visit) AssetName(a *query.AssetAnswer) string {
	return query.AssetName(v.chain.Model, a)
}

// assetReader reads the lists of an asset.
type assetReader struct {
	*visit
	body *assetBody
}

func (r *assetReader) amount(n string) amount { return amountOf(r.body.Unit, n) }

// holders reads the holders: a chart if all of them can be read and sorted, else a page in index order.
func (r *assetReader) holders(after string) error {
	b := r.body
	if r.body.HolderCount == nil {
		b.ChartNote = "Holders are not available: the database has no index of addresses."
		return nil
	}
	count := *r.body.HolderCount
	if b.Part == "" && count <= maxHolders {
		a, err := r.AssetHolders(r.ctx, r.body.AssetAnswer.Asset, query.Page{Limit: maxHolders})
		if err != nil {
			return err
		}
		if len(a.Holders) > chartShares+1 {
			b.AllHolders = b.Whole.URL + "?holders=" + fromTheStart + "#holders"
		}
		return r.chart(a.Holders)
	}
	if b.Part == "" {
		b.ChartNote = "No chart: " + humanize.Count(count) + " holders are too many, the limit is " + humanize.Count(maxHolders) + "."
	}
	a, err := r.AssetHolders(r.ctx, r.body.AssetAnswer.Asset, query.Page{Limit: assetRows, After: after})
	if err != nil {
		return err
	}
	b.HolderPager = partPager(b.Whole.URL, "", "holders", after, a.Next)
	supply := format.Integer(b.Supply)
	for _, h := range a.Holders {
		row := holderRow{HolderAnswer: h}
		if supply.Sign() > 0 {
			share, _ := new(big.Rat).SetFrac(format.Integer(h.Amount), supply).Float64()
			row.Percent = charts.Share(100 * share)
		}
		b.HolderRows = append(b.HolderRows, row)
	}
	return nil
}

// chart draws the shares of the holders, largest first.
func (r *assetReader) chart(holders []query.HolderAnswer) (err error) {
	if len(holders) == 0 {
		return nil
	}
	slices.SortStableFunc(holders, func(a, b query.HolderAnswer) int { return format.Integer(b.Amount).Cmp(format.Integer(a.Amount)) })
	s := charts.Shares{ID: "holders-chart", Title: "Shares", Name: "Address", Value: "Amount"}
	shown := len(holders)
	if shown > chartShares+1 {
		shown = chartShares
	}
	for _, h := range holders[:shown] {
		l := r.Listed(r.ValueLink("address", h.Address), "")
		s.Parts = append(s.Parts, charts.Part{Name: l.Text, Link: l.URL, Value: r.amount(h.Amount).String(), Size: format.Scaled(format.Integer(h.Amount), r.body.Unit)})
	}
	if rest := holders[shown:]; len(rest) > 0 {
		total := new(big.Int)
		for _, h := range rest {
			total.Add(total, format.Integer(h.Amount))
		}
		s.Parts = append(s.Parts, charts.Part{Name: humanize.Plural(len(rest), "other"), Value: r.amount(total.String()).String(), Size: format.Scaled(total, r.body.Unit), Rest: true})
	}
	r.body.Chart, err = s.HTML()
	return err
}

// events reads mints and burns, newest first.
func (r *assetReader) events(after string) error {
	a, err := r.AssetEvents(r.ctx, r.body.Asset, query.Range{}, query.Page{Limit: assetRows, After: after, Descending: true})
	if err != nil {
		return err
	}
	r.body.EventPager = partPager(r.body.Whole.URL, "", "events", after, a.Next)
	r.body.Events = a.Events
	return nil
}

// transfers reads the outputs with the asset, newest first.
func (r *assetReader) transfers(after string) error {
	b := r.body
	a, err := r.Find(r.ctx, query.AssetTerm, b.Asset, query.Terms{}, query.Page{Limit: assetRows, After: after, Descending: true})
	if err != nil {
		return err
	}
	b.TransferPager = partPager(b.Whole.URL, "", "transfers", after, a.Next)
	for i := range a.Outputs {
		o := &a.Outputs[i]
		i := slices.IndexFunc(o.Assets, func(e query.AssetEntryAnswer) bool { return e.Asset == b.Asset })
		row := transferRow{Ref: r.OutputLink(o.Tx, o.Index), Owner: r.listed(r.owner(o), r.OutputLink(o.Tx, o.Index).URL), Height: o.Height, Amount: r.amount(o.Assets[i].Amount),
			Minted: o.Assets[i].Action == "mint", Unspent: o.SpentBy != nil && o.SpentBy.Value == nil}
		if o.BlockTime > 0 {
			at := r.Moment(o.BlockTime)
			row.Time = &at
		}
		b.Transfers = append(b.Transfers, row)
	}
	return nil
}

// metadata reads the issuer's statements about the asset.
func (r *assetReader) metadata() (err error) {
	b := r.body
	if i := slices.IndexFunc(b.Events, func(e query.AssetEventAnswer) bool { return e.Action == "mint" }); i >= 0 {
		b.Metadata, err = metadataOf(r.ctx, r.View, r.chain.Model, b.Asset, b.Events[i].Tx)
		b.Picture = template.URL(pictureURL(b.Metadata.Image, r.site.Pictures)) // data: or below the gateway
	}
	return err
}
