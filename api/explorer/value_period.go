package explorer

import (
	"bytes"
	"net/url"
	"time"

	"birthmark/api/explorer/format"
	"birthmark/core/query"
	"birthmark/internal/csvlist"
	"birthmark/model"
)

// period is the part of a history that a visitor selected.
type period struct {
	From, To string // dates in UTC, as the form has them; empty: no limit
	query.Range
}

// period returns the dates in the query of the page.
func (v *visit) period() (p period, err error) {
	for _, end := range []struct {
		name string
		text *string
		time **int64
		last bool
	}{{"from", &p.From, &p.FromTime, false}, {"to", &p.To, &p.ToTime, true}} {
		if *end.text = v.query(end.name); *end.text == "" {
			continue
		}
		if _, err := time.Parse(time.DateOnly, *end.text); err != nil {
			return p, model.Errorf(model.Usage, "bad_value", "%s %q: expected a date such as 2009-01-12", end.name, *end.text)
		}
		unix, _ := query.ParseTime(*end.text, end.last) // checked above
		*end.time = &unix
	}
	return p, nil
}

// Set reports whether the period is limited.
func (p period) Set() bool { return p.Range != query.Range{} }

// Query returns the period as a query of a URL.
func (p period) Query() string {
	q := url.Values{}
	if p.From != "" {
		q.Set("from", p.From)
	}
	if p.To != "" {
		q.Set("to", p.To)
	}
	return q.Encode()
}

// csvRows is the number of transactions in a CSV file.
const csvRows = query.MaxLimit

// download is a file, in place of a page.
type download struct {
	Name, Type string
	Body       []byte
}

// addressCSV is the history of a value of the index address as a CSV file.
func (v *visit) addressCSV() (*page, error) { return v.historyCSV("address") }

func (v *visit) indexCSV() (*page, error) { return v.historyCSV(v.req.PathValue("index")) }

// historyCSV is the newest part of the history of a value, newest first. A Link header leads to the next part (RFC 8288).
func (v *visit) historyCSV(index string) (*page, error) {
	when, err := v.period()
	if err != nil {
		return nil, err
	}
	part := query.Page{Limit: csvRows, After: v.query("after"), Descending: true}
	a, err := v.History(v.ctx, index, v.req.PathValue("value"), when.Range, part)
	if err != nil {
		return nil, err
	}
	if a.Next != nil {
		next := url.Values{"after": {*a.Next}}.Encode()
		if q := when.Query(); q != "" {
			next += "&" + q
		}
		v.w.Header().Set("Link", "<?"+next+`>; rel="next"`)
	}
	var b bytes.Buffer
	if err := csvlist.Write(&b, a.Txs, nil); err != nil {
		return nil, err
	}
	return &page{File: &download{v.chain.Name + "-" + format.Short(a.Value) + ".csv", "text/csv; charset=utf-8", b.Bytes()}}, nil
}
