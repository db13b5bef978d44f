package explorer

import (
	"cmp"
	"html/template"
	"slices"
	"strings"

	"birthmark/api/explorer/charts"
	"birthmark/api/explorer/format"
	"birthmark/core/query"
	"birthmark/model"
)

// valueRows is the number of outputs and transactions per page, and overviewRows that of a page with both.
var valueRows, overviewRows = 25, 15

const (
	valueAssets = 20 // assets per page
	movedAssets = 5  // assets per transaction in a history
	// valueOutputs is how many outputs of a value a page reads at most if the index lacks an option.
	valueOutputs = 100_000
	// chartOutputs is how many of them are read again for the chart.
	chartOutputs = 10_000
)

// valueBody is the page of a value of an index.
type valueBody struct {
	Index       string
	Heading     string
	Kind        string // of the index
	Value       string
	Types       []string               // of the outputs that occurred, such as P2WPKH
	FormNotes   []string               // about some of these
	Label       string                 // from [Options.Labels]; empty: none
	URI         string                 // in the QR code
	Code        template.HTML          // QR code of an address; empty: none
	FirstSeen   *query.FirstSeenAnswer // nil: never used
	Holds       *query.BalanceAnswer   // nil: not available
	Held        []assetAmount          // assets
	MoreAssets  int
	Grouped     bool   // Held are the assets of the value itself, such as a minting policy
	Uncounted   string // why there is no balance
	Last        *lastSeen
	Others      []ownerLink      // values of other indexes that all shown outputs share
	Party       string           // path of its page in the governance; empty: none
	Also        []ownerLink      // pages of the same value in other indexes
	Events      []eventRow       // newest certificates, votes and withdrawals that name it
	Withdrawals *withdrawalsPart // of an account; nil: none
	Account     *accountPart     // state of an account, as the node has it; nil: none, or unknown
	Wallet      *walletPart      // nil: one value
	Chart       template.HTML
	ChartNote   string // period of the chart, or the reason if it is missing

	Outputs    []outputRow
	OutPager   pager
	Unspent    bool // only unspent outputs
	Unsifted   bool // too many outputs to filter the unspent ones
	WithAssets bool // some of Outputs hold assets
	OtherView  link // link to all outputs, or to unspent ones

	History      []movementRow
	Period       period // of History and Chart
	Filter       filter // of History
	Searched     string // transactions that were read for the filter, if there are more; empty: all of the page
	Assetless    bool   // the chain has no assets
	CSV          string // path of the same list
	CSVRows      string // how many transactions it has; empty: unknown
	Pager        pager
	Unlisted     string       // why there is no history
	Running      bool         // rows have the balance after the transaction
	Pending      []pendingRow // newest unconfirmed transactions
	PendingCount int
	Part         string // the only list that is shown; empty: the first page of both
	Whole        link   // page with both
	JSON         string // the totals as JSON
}

// lastSeen is the newest transaction of a value.
type lastSeen struct {
	Name   string // Last active; Last received if only the newest output is known
	Tx     link
	Height uint32
}

// movementRow is a transaction in the history of a value.
type movementRow struct {
	query.HistoryTxAnswer
	Change amount  // with its sign
	Both   bool    // received and sent
	After  *amount // balance after it; nil: unknown
	Moved  []assetAmount
	More   int // other assets

	Parties parties
}

// address is the page of a value of the index address.
func (v *visit) address() (*page, error) {
	value, hidden, err := v.site.hider.reveal(v.req.PathValue("value"))
	if err != nil {
		return nil, err
	}
	if hidden {
		v.hidden = value
	}
	return v.valuePage("address", value)
}

// indexValue is the page of a value of any index.
func (v *visit) indexValue() (*page, error) {
	index, value := v.req.PathValue("index"), v.req.PathValue("value")
	if at := v.ValueLink(index, value).URL; at != v.req.URL.EscapedPath() && index == "address" {
		return &page{Location: at}, nil
	}
	return v.valuePage(index, value)
}

func (v *visit) valuePage(index, value string) (*page, error) {
	newest, err := v.Find(v.ctx, index, value, query.Terms{}, query.Page{Limit: valueRows, Descending: true})
	if err != nil {
		return nil, err
	}
	if newest.Index != index { // such as that of a stake address
		return &page{Location: v.ValueLink(newest.Index, newest.Value).URL}, nil
	}
	x, err := v.indexState(index)
	if err != nil {
		return nil, err
	}
	if x.Kind == model.OneToOne.String() && len(newest.Outputs) == 1 {
		o := newest.Outputs[0]
		return &page{Location: v.OutputLink(o.Tx, o.Index).URL}, nil
	}
	value = newest.Value
	when, err := v.period()
	if err != nil {
		return nil, err
	}
	selected, err := v.filter(index, value)
	if err != nil {
		return nil, err
	}
	here := v.ValueLink(index, value)
	b := &valueBody{Filter: selected, Assetless: v.assetless(), Index: index, Heading: format.Capital(format.Words(index)), Kind: x.Kind, Value: value, Others: v.others(index, newest.Outputs), Whole: here, JSON: v.api("balance", index, value), FirstSeen: newest.FirstSeen, Period: when}
	p := &page{Kind: "value", Title: format.Capital(format.Words(index)) + " " + format.Short(value), JSON: v.api("find", index, value), Section: "index", Body: b,
		Description: titleOf(v.chain.Model) + " " + format.Words(index) + " " + format.Short(value) + ": balance, outputs and history.",
		Crumbs:      []link{{v.URL("status"), "Indexes"}, {v.URL("values", index), format.Words(index)}, {Text: format.Short(value)}}}
	if v.hidden != "" {
		b.JSON, p.JSON = "", ""
		if v.site.API != nil {
			b.JSON, p.JSON = here.URL+"/balance.json", here.URL+"/find.json"
		}
	}
	if index == subjectIndex {
		b.Party = v.governanceURL(value)
		if b.Party == "" && v.governs() != nil {
			b.Party = v.partyURL(value)
		}
	}
	if newest.Derived != nil {
		b.Heading, p.Title = "Wallet", "Wallet "+format.Short(value)
		p.Crumbs = []link{{Text: "Wallet"}}
	} else if err := v.describe(b); err != nil {
		return nil, err
	}
	if b.Pending, b.PendingCount, err = v.unconfirmedOf(index, value); err != nil {
		return nil, err
	}
	p.Volatile = v.chain.Mempool != nil
	r := valueReader{visit: v, page: p, body: b, index: x, value: value, newest: newest}
	follow := ""
	// A wallet needs a watch list, and is in the path of the events.
	if newest.Derived == nil || v.chain.Watch != nil && v.hidden == "" {
		follow = v.following(index, value)
	}
	if newest.FirstSeen == nil {
		p.Follow = follow
		return p, cmp.Or(r.balance(), r.events(), r.withdrawals(), r.account())
	}
	if after := v.query("outputs"); after != "" {
		b.Part = "outputs"
		return p, cmp.Or(r.forms(), r.outputs(cursorOf(after)))
	}
	if after := v.query("history"); after != "" || when.Set() || selected.Set() {
		b.Part = "history"
		if p.JSON != "" && v.hidden == "" {
			p.JSON = b.apiQuery(v.api("history", index, value))
		}
		if err := cmp.Or(r.forms(), r.history(cursorOf(after))); err != nil || after != "" {
			return p, err
		}
		return p, r.chart()
	}
	p.Follow = follow
	return p, r.all()
}

// describe adds the types of the value, and the QR code of an address.
func (v *visit) describe(b *valueBody) (err error) {
	indexes := v.chain.Model.Indexes()
	i := slices.IndexFunc(indexes, func(x model.Index) bool { return x.Name == b.Index })
	if i < 0 {
		return nil
	}
	if b.Types, b.Label = indexes[i].TypesOf(b.Value), v.label(b.Value); b.Index != "address" {
		return nil
	}
	if b.URI = b.Value; indexes[i].Scheme != "" && !strings.HasPrefix(b.Value, indexes[i].Scheme+":") {
		b.URI = indexes[i].Scheme + ":" + b.Value
	}
	b.Code, err = charts.QR(b.URI, "QR code of the address")
	return err
}

// indexState returns an index of the database, or the error of a query for it.
func (v *visit) indexState(name string) (*query.IndexState, error) {
	states, err := v.IndexStates(v.ctx)
	if err != nil {
		return nil, err
	}
	for i := range states {
		if states[i].Name == name {
			return &states[i], nil
		}
	}
	_, err = v.Values(v.ctx, name, query.Page{Limit: 1})
	return nil, err
}

// others returns the values of other indexes that all outputs share.
func (v *visit) others(index string, outputs []query.OutputAnswer) (links []ownerLink) {
	if len(outputs) == 0 {
		return nil
	}
	for _, x := range v.chain.Model.Indexes() {
		values := valuesOf(outputs[0].Keys[x.Name])
		same := x.Name != index && x.Kind == model.OneToMany && len(values) > 0
		for i := 1; same && i < len(outputs); i++ {
			same = slices.Equal(values, valuesOf(outputs[i].Keys[x.Name]))
		}
		if same {
			links = append(links, v.owners(x.Name, values)...)
		}
	}
	return links
}

// TimeAt returns the time of the block at a height; nil for genesis.
func (v *visit) TimeAt(height uint32) (*moment, error) {
	unix, err := v.blockTime(height)
	if err != nil || unix == 0 {
		return nil, err
	}
	at := v.Moment(unix)
	return &at, nil
}

// blockTime returns the time of the block at a height in Unix seconds; 0 for genesis.
func (v *visit) blockTime(height uint32) (int64, error) {
	h := model.HeightPk(height)
	a, err := v.Blocks(v.ctx, query.Range{FromHeight: &h, ToHeight: &h}, query.Page{Limit: 1})
	if _, code := model.KindOf(err); code == "empty_range" {
		return 0, nil
	}
	if err != nil || len(a.Blocks) == 0 {
		return 0, err
	}
	return a.Blocks[0].Time, nil
}

// fromTheStart is the cursor of the first page of a single list.
const fromTheStart = "all"

func cursorOf(part string) string {
	if part == fromTheStart {
		return ""
	}
	return part
}

// partPager returns the pager of one of several lists of a page, whose cursor is in a query parameter named after it.
func partPager(base, query, list, after string, next *string) (pg pager) {
	pg.Label = "Pages of " + list
	whole := base
	if query != "" {
		whole += "?" + query
		query += "&"
	}
	if after != "" {
		pg.First = whole + "#" + list
	}
	if next != nil {
		pg.Older = base + "?" + query + list + "=" + *next + "#" + list
	}
	return pg
}
