// Package tables serves the files of an export, with ranges, so that programs such as DuckDB read the tables by URL.
package tables

import (
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"os"
	"path"

	"birthmark/api/problem"
	"birthmark/api/ratelimit"
	"birthmark/core/export"
)

// Handler serves the manifest and the finished files of the export in a folder. The path of a request is the name of a
// file.
func Handler(dir string) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method != http.MethodGet && r.Method != http.MethodHead {
			w.Header().Set("Allow", "GET, HEAD")
			problem.Write(w, problem.New(http.StatusMethodNotAllowed, "method_not_allowed", "method %.20s is not allowed for tables: use GET", r.Method))
			return
		}
		if err := serve(w, r, dir); err != nil {
			problem.Write(w, problem.Of(err))
		}
	})
}

// serve writes a file. The error is one before the answer began.
func serve(w http.ResponseWriter, r *http.Request, dir string) error {
	name := r.URL.Path
	if name != export.ManifestName && !export.IsFile(name) {
		return unknown(name)
	}
	root, err := os.OpenRoot(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return unknown(name)
	}
	if err != nil {
		return err
	}
	defer root.Close()
	f, err := root.Open(name)
	if errors.Is(err, fs.ErrNotExist) {
		return unknown(name)
	}
	if err != nil {
		return err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return err
	}
	if !info.Mode().IsRegular() {
		return unknown(name)
	}
	if r.Method == http.MethodGet {
		if err := ratelimit.Bulk(w); err != nil {
			return err
		}
	}
	h := w.Header()
	h.Set("Content-Type", "application/octet-stream") // of no text, which would be compressed and have no ranges
	h.Set("ETag", fmt.Sprintf("\"%x-%x\"", info.ModTime().UnixNano(), info.Size()))
	h.Set("Cache-Control", "no-cache") // files near the tip are replaced
	http.ServeContent(w, r, path.Base(name), info.ModTime(), f)
	return nil
}

func unknown(name string) error {
	return problem.New(http.StatusNotFound, "unknown_file", "no file %.200q: %s lists the files", name, export.ManifestName)
}
