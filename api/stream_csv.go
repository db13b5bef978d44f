package api

import (
	"errors"
	"fmt"
	"mime"
	"net/url"
	"reflect"
	"strings"

	"birthmark/api/csvlist"
	"birthmark/api/exchange"
	"birthmark/core/query"
)

// csvLines is CSV. A list with a limit is one page, and a Link header leads to the next (RFC 8288). If a list without limit
// is not complete, the last line is a comment with the cursor to continue from, and the connection is cut: a program that
// reads CSV would take the lines before for the whole list.
type csvLines struct {
	*request
	out *csvlist.Writer
}

func (l *csvLines) begin(v *query.View, answer any, next *string) (err error) {
	o := csvlist.OptionsOf(v.IndexNames(), l.chain.Model, func(id string) (*query.AssetAnswer, error) { return l.snapshot.Asset(l.r.Context(), id) })
	o.Raw = l.rawAmounts
	o.Describe(answer)
	entry := reflect.TypeOf(l.op.Entry)
	if _, history := answer.(*query.HistoryAnswer); history && l.unit != "" {
		entry = reflect.TypeFor[query.PeriodAnswer]()
	}
	l.r.SetType(csvType + "; charset=utf-8")
	h := l.r.Header()
	h.Set("Content-Disposition", mime.FormatMediaType("attachment", map[string]string{"filename": l.fileName()}))
	if l.page.Limit > 0 && next != nil && l.limited {
		q := l.r.URL.Query()
		q.Set("after", *next)
		h.Set("Link", "<?"+q.Encode()+`>; rel="next"`)
	}
	l.out, err = csvlist.New(appending{l.r.Encoder()}, entry, o)
	return err
}

// appending appends to an answer.
type appending struct{ *exchange.Encoder }

func (a appending) Write(b []byte) (int, error) {
	a.JSON = append(a.JSON, b...)
	return len(b), nil
}

func (l *csvLines) entry(entry any) error { return l.out.Write(entry) }

func (l *csvLines) flush() error {
	if err := l.out.Flush(); err != nil {
		return err
	}
	return l.r.Append(exchange.Appended{})
}

// errIncomplete cuts the connection.
var errIncomplete = errors.New("the list is incomplete")

func (l *csvLines) end(e *StreamEnd) error {
	if e.End.Complete || l.limited {
		return nil
	}
	remedy := "request the list again"
	if e.End.Next != nil {
		remedy = "continue with after=" + url.QueryEscape(*e.End.Next)
	}
	_, _ = fmt.Fprintf(appending{l.r.Encoder()}, "# incomplete after %d entries (%s): %s\n", e.End.Count, e.End.Reason, remedy)
	return errIncomplete
}

// nameLength is the maximum number of characters of a value in the name of a file.
const nameLength = 40

// fileName returns the name of the file, such as bitcoin-history-address-1PhUXucRd8FzQved2KGK3g1eKfTHPGjgFu.csv.
func (l *csvLines) fileName() string {
	name := l.chain.Name + "-" + l.op.OperationID
	for _, arg := range l.args {
		arg = strings.Map(func(r rune) rune {
			if r < 0x80 && (r >= '0' && r <= '9' || r >= 'A' && r <= 'Z' || r >= 'a' && r <= 'z' || r == '_') {
				return r
			}
			return -1
		}, arg)
		name += "-" + arg[:min(len(arg), nameLength)]
	}
	return name + ".csv"
}
