package explorer

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"maps"
	"net/http"
	"net/url"
	"strings"

	"birthmark/api/problem"
	"birthmark/api/served"
	"birthmark/model"
)

// maxBroadcast is the maximum number of bytes of a form with a transaction.
const maxBroadcast = 2 << 20

// broadcastBody is the form that sends a transaction to the node of the chain, and the answer of the node.
type broadcastBody struct {
	JSON   bool   // the node also takes transactions as JSON
	Tx     string // as it was sent; empty: nothing was sent, or the node has it
	Hash   link   // of the submitted transaction
	Result string // of a test, as JSON
	Why    string // the transaction was refused
}

// broadcast serves the form. The API of the server tests or submits its transaction, within the limits of the client.
func (s *site) broadcast(chain *served.Chain) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		b := &broadcastBody{}
		_, b.JSON = chain.Model.(model.TxSerializer)
		status := http.StatusOK
		if isForm(r) {
			r.Body = http.MaxBytesReader(w, r.Body, maxBroadcast)
			if err := r.ParseForm(); err != nil {
				if tooLarge := (*http.MaxBytesError)(nil); errors.As(err, &tooLarge) {
					err = problem.New(http.StatusRequestEntityTooLarge, "too_large", "expected a transaction in hex of at most %d bytes", tooLarge.Limit)
				}
				s.fail(w, r, err)
				return
			}
			if b.Tx = strings.TrimSpace(r.PostForm.Get("tx")); !strings.HasPrefix(b.Tx, "{") { // hex in lines
				b.Tx = strings.Join(strings.Fields(b.Tx), "")
			}
			status = s.submit(w, r, chain, b, r.PostForm.Has("test"))
		}
		s.chainPage(chain, func(v *visit) (*page, error) {
			if chain.Submitter == nil {
				return nil, model.Errorf(model.NotFound, "no_node",
					"%s has no node on this server: its setting node is the URL of one", titleOf(chain.Model))
			}
			return &page{Kind: "broadcast", Title: "Broadcast a transaction", Section: "mempool", Body: b, Volatile: true, Status: status,
				Description: "Test a transaction of " + titleOf(chain.Model) + ", or send it to the network.",
				Crumbs:      []link{{v.URL("mempool"), "Mempool"}, {Text: "Broadcast"}}}, nil
		})(w, r)
	}
}

// submit tests or submits the transaction of b by the API, and adds the answer. It returns the status of the page.
func (s *site) submit(w http.ResponseWriter, r *http.Request, chain *served.Chain, b *broadcastBody, test bool) int {
	path, body := []string{"tx"}, []byte(b.Tx)
	if test {
		path = append(path, "test")
		body, _ = json.Marshal(map[string][]string{"txs": {b.Tx}}) // a list of texts has no error
	}
	asked := r.Clone(r.Context())
	asked.URL = &url.URL{Path: pathOf("/v1/"+chain.Name, path)}
	asked.Body, asked.ContentLength = io.NopCloser(bytes.NewReader(body)), int64(len(body))
	asked.Header.Set("Accept", "application/json")
	asked.Header.Set("Content-Type", "application/json")
	asked.Header.Del("Accept-Encoding")
	answer := &answered{ResponseWriter: w, header: http.Header{}, status: http.StatusOK}
	s.API.ServeHTTP(answer, asked)
	maps.Copy(w.Header(), map[string][]string{"Retry-After": answer.header["Retry-After"]})
	var a struct {
		Hash    string          `json:"hash"`
		Results json.RawMessage `json:"results"`
		Detail  string          `json:"detail"`
	}
	if err := json.Unmarshal(answer.text.Bytes(), &a); err != nil {
		a.Detail = "the answer of the server is not valid"
	}
	switch {
	case answer.status != http.StatusOK:
		b.Why = a.Detail
	case test:
		var text bytes.Buffer
		if json.Indent(&text, a.Results, "", "  ") != nil {
			text.Write(a.Results)
		}
		b.Result = text.String()
	default:
		b.Tx, b.Hash = "", link{pathOf(s.BasePath+"/"+chain.Name, []string{"tx", a.Hash}), a.Hash}
	}
	return answer.status
}

// answered keeps an answer instead of sending it.
type answered struct {
	http.ResponseWriter
	header http.Header
	status int
	text   bytes.Buffer
}

func (a *answered) Header() http.Header         { return a.header }
func (a *answered) WriteHeader(status int)      { a.status = status }
func (a *answered) Write(b []byte) (int, error) { return a.text.Write(b) }

// Unwrap returns the writer of the request, by which limits know the client.
func (a *answered) Unwrap() http.ResponseWriter { return a.ResponseWriter }
