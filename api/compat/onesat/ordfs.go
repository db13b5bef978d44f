package onesat

import (
	"encoding/base64"
	"encoding/json"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"birthmark/api/exchange"
	"birthmark/chains/bitcoin/block"
	sat "birthmark/chains/bitcoinsv/onesat"
	"birthmark/core/query/setops"
	"birthmark/model"
)

// Media types.
const (
	typeUnknown   = "application/octet-stream"
	typeDirectory = "ord-fs/json"
	typeHTML      = "text/html; charset=utf-8"
)

// Sequence numbers with a meaning of their own.
const (
	newest    = -1 // the last output of the ordinal
	requested = -2 // the output in the path
)

// pointer is the place of a file: TXID or TXID_N, a sequence number after a colon, and a path in a directory.
type pointer struct {
	id      model.Hash
	index   uint32
	whole   bool // a transaction: the first output with a file
	seq     int
	withSeq bool
	path    string
}

// parsePointer reads the text of a pointer.
func parsePointer(text string) (p pointer, err error) {
	text, p.path, _ = strings.Cut(strings.Trim(text, "/"), "/")
	if text == "" {
		return p, badRequest("path is required")
	}
	text, seq, found := strings.Cut(text, ":")
	if found {
		if p.seq, err = strconv.Atoi(seq); err != nil || p.seq < requested {
			return p, badRequest("invalid seq value: %s", seq)
		}
		p.withSeq = true
	}
	var ok bool
	if p.id, ok = block.ParseHash(text); ok {
		p.whole = true
		return p, nil
	}
	if p.id, p.index, ok = parseOutpoint(text, "_."); !ok {
		return p, badRequest("invalid pointer format")
	}
	return p, nil
}

// file is the content of an output of an ordinal.
type file struct {
	at         string // outpoint
	origin     string // empty: unknown
	mediaType  string
	content    []byte
	properties map[string]any
	parent     string
	sequence   int
}

// part is the contribution of one output to the file of an ordinal.
type part struct {
	mediaType  string
	content    []byte // nil: none
	properties map[string]any
	parent     string
}

// readPart reads the inscription, the files and the properties of a script.
func readPart(script []byte) (p part) {
	if in := sat.ReadInscription(script); in != nil {
		if in.Content != nil {
			p.mediaType, p.content = in.Type, in.Content
		}
		if o, ok := in.ParentOutpoint(); ok {
			p.parent = o.String()
		}
	}
	more := sat.ReadData(script)
	for _, f := range more.Files {
		if p.content == nil && len(f.Content) > 0 {
			p.mediaType, p.content = f.Type, f.Content
		}
	}
	if p.content != nil && p.mediaType == "" {
		p.mediaType = typeUnknown
	}
	for _, set := range more.Properties {
		for name, value := range set {
			if p.properties == nil {
				p.properties = map[string]any{}
			}
			p.properties[name] = nested(name, value)
		}
	}
	return p
}

// nested parses the properties whose text is JSON.
func nested(name, text string) any {
	switch name {
	case "subTypeData":
		var value map[string]any
		if json.Unmarshal([]byte(text), &value) == nil && value != nil {
			return value
		}
	case "royalties":
		var value []map[string]any
		if json.Unmarshal([]byte(text), &value) == nil && value != nil {
			return value
		}
	}
	return text
}

// load returns the file of a pointer; its errors include that of a missing one.
func (v *view) load(p pointer) (*file, error) {
	if p.whole {
		return v.loadTx(p.id)
	}
	o, err := v.find(p.id, p.index, members{all: true})
	if err != nil {
		return nil, err
	}
	if o == nil {
		return nil, missing("inscription not found")
	}
	if o.value == 1 && p.withSeq {
		return v.resolveOrdinal(o, p)
	}
	f := readPart(o.script).file(outpointText(p.id, int(p.index)))
	return f, nil
}

func (p part) file(at string) *file {
	return &file{at: at, mediaType: p.mediaType, content: p.content, properties: p.properties, parent: p.parent}
}

// loadTx returns the file of the first output of a transaction that has one.
func (v *view) loadTx(id model.Hash) (*file, error) {
	tx, err := v.Tx(id)
	if is(err, "unknown_tx") {
		return nil, missing("inscription not found")
	}
	if err != nil {
		return nil, err
	}
	for i, out := range tx.Msg.TxOut {
		if p := readPart(out.PkScript); p.content != nil {
			return p.file(outpointText(id, i)), nil
		}
	}
	return nil, missing("inscription not found")
}

// maxMoves is the number of outputs of an ordinal that are read for an answer.
const maxMoves = 10_000

// resolveOrdinal returns the file of an ordinal at a sequence number, which counts its outputs from its origin on: the
// newest content and parent up to it, and the properties of all outputs up to it.
func (v *view) resolveOrdinal(o *stored, p pointer) (*file, error) {
	outputs := []*stored{o}
	origin := outpointText(o.id, o.index)
	for _, h := range o.held {
		of, is := strings.CutSuffix(h.id, ":origin")
		if !is {
			continue
		}
		origin = of
		pks, err := v.moves(h.id)
		if err != nil {
			return nil, err
		}
		if outputs, err = v.confirmed(pks, members{all: true}); err != nil {
			return nil, err
		}
	}
	seq := p.seq
	switch {
	case seq == newest:
		seq = len(outputs) - 1
	case seq == requested:
		seq = slices.IndexFunc(outputs, func(other *stored) bool { return other.id == o.id && other.index == o.index })
	case seq >= len(outputs):
		return nil, missing("target sequence %d not found (chain ends at %d): not found", seq, len(outputs)-1)
	}
	f := &file{sequence: seq, origin: origin}
	found := false
	for _, other := range outputs[:seq+1] {
		part := readPart(other.script)
		f.at = outpointText(other.id, other.index)
		if part.content != nil {
			f.mediaType, f.content, found = part.mediaType, part.content, true
		}
		if part.parent != "" {
			f.parent = part.parent
		}
		for name, value := range part.properties {
			if f.properties == nil {
				f.properties = map[string]any{}
			}
			f.properties[name] = value
		}
	}
	if !found {
		return nil, missing("no inscription found: not found")
	}
	return f, nil
}

// moves returns the outputs of an ordinal, its origin first.
func (v *view) moves(ordinal string) (pks []model.UtxoPk, err error) {
	q := v.Query()
	_, birth, err := q.Asset(ordinal)
	if err != nil {
		return nil, err
	}
	for pk, err := range q.AssetOccurrences(birth, setops.Everywhere, false) {
		if err != nil {
			return nil, err
		}
		if pks = append(pks, pk); len(pks) > maxMoves {
			return nil, errorf(http.StatusUnprocessableEntity, "the ordinal has more than %d outputs", maxMoves)
		}
	}
	return pks, q.Pass(len(pks))
}

func metadata(r *request) answer {
	p, err := parsePointer(arg(r, "path"))
	if err != nil {
		r.Refuse(err)
	}
	return func(v *view) (any, error) {
		f, err := v.load(p)
		if err != nil {
			return nil, err
		}
		return f.metadata(), nil
	}
}

// metadata describes a file.
func (f *file) metadata() object {
	a := object{"contentType": f.mediaType, "contentLength": len(f.content), "sequence": f.sequence, "outpoint": f.at}
	if f.origin != "" {
		a["origin"] = f.origin
	}
	if f.properties != nil {
		a["map"] = f.properties
	}
	if f.parent != "" {
		a["parent"] = f.parent
	}
	return a
}

// manyMetadata describes the files of a list of pointers, in an object. Missing files are null.
func manyMetadata(r *request) answer {
	var body struct {
		Outpoints []string `json:"outpoints"`
	}
	switch {
	case json.Unmarshal(r.Content(), &body) != nil:
		r.Refuse(badRequest("invalid body"))
	case len(body.Outpoints) > maxTokens:
		r.Refuse(badRequest("too many outpoints (max %d)", maxTokens))
	}
	return func(v *view) (any, error) {
		all := object{}
		for _, text := range body.Outpoints {
			all[text] = nil
			p, err := parsePointer(text)
			if err != nil {
				continue
			}
			f, err := v.load(p)
			if err == nil {
				all[text] = f.metadata()
			} else if status, _ := failureOf(err); status != http.StatusNotFound {
				return nil, err
			}
		}
		return all, nil
	}
}

func content(r *request) answer {
	p, err := parsePointer(arg(r, "path"))
	if err != nil {
		r.Refuse(err)
	}
	return func(v *view) (any, error) {
		f, err := v.load(p)
		if err != nil {
			return nil, err
		}
		if f.mediaType != typeDirectory {
			return f.send(r, p.withSeq && p.seq != newest), nil
		}
		var files map[string]string
		if json.Unmarshal(f.content, &files) != nil {
			return nil, badRequest("invalid directory format")
		}
		if p.path == "" {
			if r.Param("raw") != "" {
				return f.send(r, p.withSeq && p.seq != newest), nil
			}
			r.Header().Set("Location", r.URL.EscapedPath()+"/index.html")
			r.SetStatus(http.StatusFound)
			return exchange.Nothing{}, nil
		}
		return v.inDirectory(r, files, p.path)
	}
}

// inDirectory returns a file of a directory, or its index.html if it does not have the file.
func (v *view) inDirectory(r *request, files map[string]string, path string) (any, error) {
	at, ok := files[path]
	if !ok {
		if at, ok = files["index.html"]; !ok {
			return nil, missing("file not found and no index.html")
		}
	}
	p, err := parsePointer(strings.TrimPrefix(at, "ord://"))
	if err != nil {
		return nil, badRequest("invalid file pointer: %v", err)
	}
	p.withSeq = false
	f, err := v.load(p)
	if err != nil {
		return nil, err
	}
	return f.send(r, false), nil
}

// send returns the content of a file. It sets the headers; immutable: the content never changes.
func (f *file) send(r *request, immutable bool) any {
	h := r.Header()
	r.SetType(headerText(f.mediaType))
	h.Set("X-Outpoint", f.at)
	if f.origin != "" {
		h.Set("X-Origin", f.origin)
	}
	h.Set("X-Ord-Seq", strconv.Itoa(f.sequence))
	h.Set("Cache-Control", "no-cache, no-store, must-revalidate")
	if immutable {
		h.Set("Cache-Control", "public, max-age=31536000, immutable")
	}
	// The content comes from anybody: it must not act as a page of this server.
	h.Set("Content-Security-Policy", "sandbox allow-scripts")
	h.Set("X-Content-Type-Options", "nosniff")
	if wants, _ := strconv.ParseBool(r.Param("map")); wants && f.properties != nil {
		if text, err := json.Marshal(f.properties); err == nil {
			h.Set("X-Map", string(text))
		}
	}
	if f.parent != "" {
		h.Set("X-Parent", f.parent)
	}
	return exchange.Bytes(f.content)
}

// headerText returns a media type that can be the value of a header.
func headerText(mediaType string) string {
	if mediaType == "" || strings.ContainsFunc(mediaType, func(c rune) bool { return c < ' ' || c > '~' }) {
		return typeUnknown
	}
	return mediaType
}

// preview returns HTML that is in the path.
func preview(r *request) (any, error) {
	page, err := base64.StdEncoding.DecodeString(arg(r, "html"))
	if err != nil {
		return nil, badRequest("invalid base64 data")
	}
	return sandboxed(r, typeHTML, page), nil
}

// previewBody returns the body of the request.
func previewBody(r *request) (any, error) {
	if len(r.Content()) == 0 {
		return nil, badRequest("missing request body")
	}
	return sandboxed(r, headerText(r.Request.Header.Get("Content-Type")), r.Content()), nil
}

func sandboxed(r *request, mediaType string, body []byte) any {
	r.SetType(mediaType)
	r.Header().Set("Content-Security-Policy", "sandbox allow-scripts")
	r.Header().Set("X-Content-Type-Options", "nosniff")
	return exchange.Bytes(body)
}

// streamContent returns the contents of all outputs of an ordinal from one output on, one after the other, or a range of
// the bytes.
func streamContent(r *request) answer {
	id, index := outpointArg(r)
	from, to, ranged := byteRange(r.Request.Header.Get("Range"))
	return func(v *view) (any, error) {
		o, err := v.find(id, index, members{all: true})
		if err != nil {
			return nil, err
		}
		if o == nil {
			return nil, missing("inscription not found")
		}
		outputs := []*stored{o}
		for _, h := range o.held {
			if !strings.HasSuffix(h.id, ":origin") {
				continue
			}
			pks, err := v.moves(h.id)
			if err != nil {
				return nil, err
			}
			all, err := v.confirmed(pks, members{all: true})
			if err != nil {
				return nil, err
			}
			first := slices.IndexFunc(all, func(other *stored) bool { return other.id == o.id && other.index == o.index })
			outputs = all[max(0, first):]
			r.Header().Set("X-Origin", strings.TrimSuffix(h.id, ":origin"))
		}
		var body []byte
		for i, other := range outputs {
			p := readPart(other.script)
			if i == 0 {
				r.SetType(headerText(p.mediaType))
			}
			body = append(body, p.content...)
		}
		if ranged {
			from := min(from, len(body))
			body = body[from:min(max(to, from), len(body))]
		}
		return exchange.Bytes(body), nil
	}
}

// byteRange reads a header bytes=FROM-TO; to is excluded.
func byteRange(text string) (from, to int, ok bool) {
	text, ok = strings.CutPrefix(text, "bytes=")
	first, last, found := strings.Cut(text, "-")
	from, err := strconv.Atoi(first)
	if !ok || !found || err != nil || from < 0 {
		return 0, 0, false
	}
	const everything = int(^uint(0) >> 1)
	if to, err = strconv.Atoi(last); err != nil || to == everything {
		return from, everything, true
	}
	return from, to + 1, true
}
