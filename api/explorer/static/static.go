// Package static serves the files that all pages of the explorer share: the style sheet, scripts, icons and the logo.
//
// Their paths contain a digest of everything that pages are made of, so that browsers may keep them for ever.
package static

import (
	"bytes"
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"fmt"
	"io/fs"
	"net/http"
	"slices"
	"time"

	"birthmark/api/explorer/charts"
	"birthmark/api/served"
	"birthmark/model"
)

//go:embed *.css *.js *.svg
var files embed.FS

// Files are the files of a site.
type Files struct {
	Digest string // of the files, the templates and the texts
	byPath map[string][]byte
}

// New returns the files of a site: the embedded ones, with the colors of its chains in the style sheet, and its logo, which
// may be nil. The digest also covers the templates and texts of its pages.
func New(chains []*served.Chain, logo *Logo, templates fs.FS, texts ...string) (*Files, error) {
	sum := sha256.New()
	found := map[string][]byte{}
	for _, from := range []fs.FS{files, templates} {
		err := fs.WalkDir(from, ".", func(name string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() {
				return err
			}
			b, err := fs.ReadFile(from, name)
			if name == "style.css" {
				b = slices.Concat(b, []byte(charts.Style), accents(chains))
			}
			fmt.Fprintf(sum, "%s %d\n%s", name, len(b), b)
			if from == files {
				found[name] = b
			}
			return err
		})
		if err != nil {
			return nil, err
		}
	}
	if logo != nil {
		found["logo"+logo.Type] = logo.Data
		sum.Write(logo.Data)
	}
	fmt.Fprintf(sum, "%q", texts)
	f := &Files{hex.EncodeToString(sum.Sum(nil))[:10], map[string][]byte{}}
	for name, b := range found {
		f.byPath[f.Path(name)] = b
	}
	return f, nil
}

// Path returns the path of a file.
func (f *Files) Path(name string) string { return "/static/" + f.Digest + "/" + name }

// Read returns the content of a file; nil if none has the path.
func (f *Files) Read(path string) []byte { return f.byPath[path] }

// Send sends a file, which browsers may keep for ever. It reports whether a file has the path of the request.
func (f *Files) Send(w http.ResponseWriter, r *http.Request) bool {
	b, ok := f.byPath[r.URL.Path]
	if ok {
		w.Header().Set("Cache-Control", "public, max-age=31536000, immutable")
		http.ServeContent(w, r, r.URL.Path, time.Time{}, bytes.NewReader(b))
	}
	return ok
}

// accents returns the style rules for the colors of chains; a page names its chain in data-accent.
func accents(chains []*served.Chain) []byte {
	var rules bytes.Buffer
	done := map[string]bool{}
	for _, c := range chains {
		name, a := c.Model.Name(), c.Model.Traits().Accent
		if a == (model.Accent{}) || done[name] {
			continue
		}
		done[name] = true
		fmt.Fprintf(&rules, "[data-accent=%s] { --accent: light-dark(%s, %s); --wash: light-dark(%s, %s); }\n",
			name, a.Light, a.Dark, a.LightWash, a.DarkWash)
	}
	return rules.Bytes()
}
