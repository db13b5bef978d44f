package cli

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net/http"
	"slices"
	"strings"
	"testing"

	"birthmark/core/query"
)

// mangler creates requests that are mostly malformed in some way.
type mangler struct {
	*rand.Rand
	chain                   string
	indexes, known, cursors []string // of the chain
}

// words are replacements for names and values, in addition to those of a chain.
var words = []string{
	"tip", "170", "0", "-1", "4294967296", "99999999999999999999", "address", "none", "true", "asc", "desc", "null", "{}", "f4184fc5:99999999999", "..", ".", "",
	"%", "%zz", "%00", "%2f", "%2e%2e%2f", "%ff%fe", "%C0%AF", "\u00e9", "\U0001f642", "address=", "=", "&", ";", "+", "a b", "<script>", "' OR 1=1", "${jndi:x}",
	"\\", "\"", "*", "?", "#", "//", "1e9", "0x10", "NaN", "\u0661\u0662\u0663", strings.Repeat("0", 64), strings.Repeat("f", 56), strings.Repeat("z", 3000),
}

// paths has one path of each kind. WORD is replaced by a value of the chain, INDEX by one of its indexes.
var paths = []string{
	"/", "/search", "/CHAIN", "/CHAIN/blocks", "/CHAIN/block/WORD", "/CHAIN/tx/WORD", "/CHAIN/output/WORD", "/CHAIN/address/WORD", "/CHAIN/index/INDEX/WORD",
	"/CHAIN/values/INDEX", "/CHAIN/richest/INDEX", "/CHAIN/asset/WORD", "/CHAIN/assets", "/CHAIN/charts", "/CHAIN/charts/WORD", "/CHAIN/forks", "/CHAIN/status", "/CHAIN/search", "/static/style.css", "/v1",
	"/v1/CHAIN/status", "/v1/CHAIN/block/WORD", "/v1/CHAIN/blocks", "/v1/CHAIN/tx/WORD", "/v1/CHAIN/tx/WORD/raw", "/v1/CHAIN/output/WORD", "/v1/CHAIN/find/INDEX/WORD",
	"/v1/CHAIN/history/INDEX/WORD", "/v1/CHAIN/balance/INDEX/WORD", "/v1/CHAIN/richest/INDEX", "/v1/CHAIN/values/INDEX", "/v1/CHAIN/assets", "/v1/CHAIN/asset/WORD",
	"/v1/CHAIN/asset/WORD/events", "/v1/CHAIN/asset/WORD/holders", "/v1/CHAIN/forks", "/v1/CHAIN/indexes", "/v1/CHAIN/schema", "/v1/CHAIN/fields", "/v1/CHAIN/outputs",
	"/v1/CHAIN/spends", "/v1/CHAIN/txs", "/v1/CHAIN/balances", "/v1/CHAIN/events", "/openapi.json", "/openapi.yaml", "/docs", "/healthz", "/readyz", "/metrics",
	"/debug/pprof/", "/favicon.ico",
}

// parameters are those of lists, then those of searches.
var parameters = []string{
	"limit", "after", "order", "unspent", "and", "or", "height_from", "height_to", "time_from", "time_to", "follow", "spends", "from", "prefix", "q", "last_event_id",
	"format", "page", "x",
}

const (
	ofLists = 3
	ofFind  = 13
)

var bodies = []string{
	`{"outputs":["WORD"]}`, `{"txs":["WORD"]}`, `{"index":"INDEX","values":["WORD","WORD"]}`, `{"outputs":["WORD",null,7]}`, `{"outputs":["WORD","WORD"]}`,
	`{"txs":[` + strings.Repeat(`"00",`, 2000) + `""]}`, `[]`, `{`, `{"txs":{}}`, `{"txs":[[]]}`, ``, `null`, "\xff\xfe", strings.Repeat("[", 20_000), strings.Repeat(`{"a":`, 20_000),
	`{"txs":1e999999}`, `{"txs":["` + strings.Repeat("0", 100_000) + `"]}`, `{"txs":[]}{}`, `"` + strings.Repeat("\\ud800", 1000) + `"`,
}

func (m *mangler) one(of []string) string { return of[m.IntN(len(of))] }

// junk returns a few random bytes that are allowed in a line of a request.
func (m *mangler) junk() string {
	b := make([]byte, m.IntN(12))
	for i := range b {
		b[i] = byte(m.IntN(256))
	}
	return string(bytes.Map(func(r rune) rune {
		if r == '\r' || r == '\n' || r == ' ' {
			return '_'
		}
		return r
	}, b))
}

func (m *mangler) word() string {
	switch m.IntN(12) {
	case 0:
		return m.junk()
	case 1:
		return fmt.Sprintf("%%%02x%%%02x", m.IntN(256), m.IntN(256))
	case 2:
		return strings.Repeat(m.one(words), 1+m.IntN(200))
	case 3:
		return m.bent(m.one(m.cursors))
	case 4, 5:
		return m.bent(m.one(m.known))
	case 6:
		return m.one(m.indexes) + "=" + m.one(m.known)
	}
	return m.one(words)
}

// filled returns text with the placeholders replaced by values of the chain.
func (m *mangler) filled(text string) string {
	for strings.Contains(text, "WORD") {
		text = strings.Replace(text, "WORD", m.one(m.known), 1)
	}
	return strings.NewReplacer("CHAIN", m.chain, "INDEX", m.one(m.indexes)).Replace(text)
}

// bent returns s with a random change.
func (m *mangler) bent(s string) string {
	b := []byte(s)
	for range m.IntN(3) {
		if len(b) == 0 {
			break
		}
		at := m.IntN(len(b))
		switch m.IntN(4) {
		case 0:
			b[at] = byte('!' + m.IntN(94))
		case 1:
			b = slices.Delete(b, at, at+1)
		case 2:
			b = b[:at]
		case 3:
			b = slices.Insert(b, at, b[m.IntN(len(b))])
		}
	}
	return string(b)
}

func (m *mangler) path() string {
	p := m.filled(m.one(paths))
	switch m.IntN(4) {
	case 0:
		parts := strings.Split(p, "/")
		parts[m.IntN(len(parts))] = m.word()
		p = strings.Join(parts, "/")
	case 1:
		p = m.bent(p)
	}
	for i := range max(0, m.IntN(6)-2) {
		p += "?&&&"[i:i+1] + m.parameter(p)
	}
	return strings.NewReplacer(" ", "+", "\r", "", "\n", "").Replace(p)
}

// parameter returns a parameter of the path, or any parameter.
func (m *mangler) parameter(path string) string {
	name := m.one(parameters)
	if m.IntN(4) > 0 {
		name = m.one(parameters[:ofLists])
		if strings.Contains(path, "/find/") || strings.Contains(path, "/events") {
			name = m.one(parameters[:ofFind])
		}
	}
	value := m.word()
	switch {
	case m.IntN(8) == 0:
		return name
	case m.IntN(3) == 0:
	case name == "limit":
		value = m.one([]string{"1", "3", "100", "1000", "1001"})
	case name == "order":
		value = m.one([]string{"asc", "desc"})
	case name == "last_event_id":
		value = m.bent(m.cursors[len(m.cursors)-1])
	case name == "after":
		value = m.bent(m.one(m.cursors))
	case name == "and", name == "or", name == "follow":
		value = m.one(m.indexes) + "=" + m.one(m.known)
	case strings.HasSuffix(name, "-from"), strings.HasSuffix(name, "-to"):
		value = m.one([]string{"0", "100", "1231006505", "4294967295", "2009-01-09"})
	}
	return name + "=" + value
}

// request returns a request and its method.
func (m *mangler) request() (text, method string) {
	method = "GET"
	switch m.IntN(10) {
	case 0, 1:
		method = "POST"
	case 2:
		method = []string{"HEAD", "OPTIONS", "PUT", "DELETE", "PATCH", "TRACE", "CONNECT", "get", "X"}[m.IntN(9)]
	}
	var b strings.Builder
	version := "HTTP/1.1"
	if m.IntN(50) == 0 {
		version = []string{"HTTP/1.0", "HTTP/0.9", "HTTP/2.0", "HTTP/9.9", "FTP/1.1", ""}[m.IntN(6)]
	}
	fmt.Fprintf(&b, "%s %s %s\r\n", method, m.path(), version)
	if m.IntN(50) > 0 {
		fmt.Fprintf(&b, "Host: %s\r\n", []string{"localhost", "127.0.0.1:1", "[::1]", "a b", "é", ""}[max(0, m.IntN(30)-24)])
	}
	for range m.IntN(4) {
		name := []string{"Accept", "Accept-Encoding", "If-None-Match", "If-Modified-Since", "Range", "Last-Event-ID", "Authorization", "X-API-Key", "X-Forwarded-For", "Cookie",
			"Origin", "Content-Encoding", "Upgrade", "Referer", "Te", "Trailer", "X-" + m.junk()}[m.IntN(17)]
		value := m.word()
		if name == "Last-Event-ID" && m.IntN(4) > 0 {
			value = m.bent(m.cursors[len(m.cursors)-1])
		} else if m.IntN(2) == 0 {
			value = []string{"application/x-ndjson", "text/event-stream", "application/json;q=x", "*/*", "gzip, br;q=nan", `"x", W/"y"`, "*", "bytes=0-1,2-3,5-", "Basic !!", "Bearer",
				"websocket", "trailers"}[m.IntN(12)]
		}
		fmt.Fprintf(&b, "%s: %s\r\n", name, strings.NewReplacer("\r", "", "\n", "").Replace(value))
	}
	body := ""
	if method == "POST" || m.IntN(20) == 0 {
		body = m.filled(m.one(bodies))
		if m.IntN(3) == 0 {
			body = m.bent(body)
		}
		kind := []string{"application/json", "application/json", "application/json", "application/json; charset=x", "text/plain", "multipart/form-data", ""}[m.IntN(7)]
		fmt.Fprintf(&b, "Content-Type: %s\r\n", kind)
		if m.IntN(4) == 0 {
			b.WriteString("Transfer-Encoding: chunked\r\n")
			body = fmt.Sprintf("%x;%s\r\n%s\r\n0\r\n\r\n", len(body), "x=y", body)
		} else {
			fmt.Fprintf(&b, "Content-Length: %d\r\n", len(body))
		}
	}
	return b.String() + "\r\n" + body, method
}

// learn reads values of a server's chain.
func learn(t *testing.T, s *target) *mangler {
	t.Helper()
	m := &mangler{chain: s.Chains[0]}
	get := func(path string, answer any) {
		t.Helper()
		resp, err := s.client.Get(s.URL + "v1/" + m.chain + "/" + path)
		if err != nil {
			t.Fatal(err)
		}
		defer resp.Body.Close()
		if err := json.NewDecoder(resp.Body).Decode(answer); err != nil || resp.StatusCode != http.StatusOK {
			t.Fatalf("%s: %d %v", path, resp.StatusCode, err)
		}
	}
	var status query.StatusAnswer
	get("status", &status)
	for _, x := range status.Indexes {
		m.indexes = append(m.indexes, x.Name)
	}
	var page struct {
		Next   string
		Blocks []struct{ Hash string }
		Assets []struct{ Asset string }
	}
	get("blocks?limit=20&order=desc", &page)
	for _, b := range page.Blocks {
		m.known = append(m.known, b.Hash)
		var block query.BlockAnswer
		get("block/"+b.Hash, &block)
		for _, hash := range block.Txs[:min(2, len(block.Txs))] {
			m.known = append(m.known, hash, hash+":0")
			var tx query.TxAnswer
			get("tx/"+hash, &tx)
			for _, o := range tx.Outputs[:min(3, len(tx.Outputs))] {
				for _, v := range o.Keys {
					m.known = append(m.known, strings.Trim(fmt.Sprint(v), "[]"))
				}
			}
		}
	}
	m.cursors = append(m.cursors, page.Next)
	page.Next = ""
	get("assets?limit=5", &page)
	for _, a := range page.Assets {
		m.known = append(m.known, a.Asset)
	}
	m.cursors = append(m.cursors, page.Next)
	page.Next = ""
	get("values/"+m.indexes[0]+"?limit=1", &page)
	m.cursors = append(m.cursors, page.Next, eventID(t, s, m.chain))
	return m
}

// eventID returns the id of the first event with one.
func eventID(t *testing.T, s *target, chain string) string {
	t.Helper()
	resp, err := s.client.Get(s.URL + "v1/" + chain + "/events")
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	for lines := bufio.NewScanner(resp.Body); lines.Scan(); {
		if id, ok := strings.CutPrefix(lines.Text(), "id: "); ok {
			return id
		}
	}
	t.Fatal("no event has an id")
	return ""
}
