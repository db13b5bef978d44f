package snapshot

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"

	"birthmark/storage"
)

// hashes are the SHA-256 of tables, stored in a file beside the database, so that each table is hashed once. A table
// is recognized by name, size, inode and modification time. The file may be deleted at any time.
type hashes struct {
	path string

	mu    sync.Mutex
	known map[string]string // identity of a table → SHA-256
	file  *os.File          // appended to
}

// openHashes reads the file at path, and creates it if needed. Lines of an incomplete write are ignored.
func openHashes(path string) (*hashes, error) {
	h := &hashes{path: path, known: map[string]string{}}
	text, err := os.ReadFile(path)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	for line := range strings.Lines(string(text)) {
		id, rest, ok := strings.Cut(strings.TrimSuffix(line, "\n"), "\t")
		if sum, check, _ := strings.Cut(rest, "\t"); ok && check == checkOf(id, sum) {
			h.known[id] = sum
		}
	}
	h.file, err = os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o644)
	if err == nil && len(text) > 0 && text[len(text)-1] != '\n' {
		_, err = h.file.WriteString("\n")
	}
	return h, err
}

func checkOf(id, sum string) string {
	return fmt.Sprintf("%08x", crc32.ChecksumIEEE([]byte(id+"\t"+sum)))
}

// identity returns the properties that identify a table; empty for files that may change.
func identity(info fs.FileInfo) string {
	s, ok := info.Sys().(*syscall.Stat_t)
	if !ok || filepath.Ext(info.Name()) != ".sst" {
		return ""
	}
	return fmt.Sprintf("%s %d %d %d", info.Name(), info.Size(), s.Ino, info.ModTime().UnixNano())
}

// of returns the size and the SHA-256 of a file.
func (h *hashes) of(ctx context.Context, path string) (size int64, sum string, err error) {
	info, err := os.Stat(path)
	if err != nil {
		return 0, "", err
	}
	id := identity(info)
	h.mu.Lock()
	sum, ok := h.known[id]
	h.mu.Unlock()
	if ok {
		return info.Size(), sum, nil
	}
	f, err := os.Open(path)
	if err != nil {
		return 0, "", err
	}
	defer f.Close()
	digest := sha256.New()
	if size, err = io.Copy(digest, reader{ctx, f}); err != nil {
		return 0, "", err
	}
	sum = hex.EncodeToString(digest.Sum(nil))
	if id == "" {
		return size, sum, nil
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	h.known[id] = sum
	_, err = fmt.Fprintf(h.file, "%s\t%s\t%s\n", id, sum, checkOf(id, sum))
	return size, sum, err
}

// keep rewrites the file with the tables in a folder only.
func (h *hashes) keep(folder string) error {
	entries, err := os.ReadDir(folder)
	if err != nil {
		return err
	}
	var text bytes.Buffer
	for _, e := range entries {
		if info, err := e.Info(); err == nil {
			if id := identity(info); h.known[id] != "" {
				fmt.Fprintf(&text, "%s\t%s\t%s\n", id, h.known[id], checkOf(id, h.known[id]))
			}
		}
	}
	return storage.ReplaceFile(h.path, 0o644, func(w io.Writer) error {
		_, err := text.WriteTo(w)
		return err
	})
}

func (h *hashes) close() error { return h.file.Close() }

// reader is a reader that ends with its context.
type reader struct {
	ctx context.Context
	r   io.Reader
}

func (r reader) Read(b []byte) (int, error) {
	if err := r.ctx.Err(); err != nil {
		return 0, err
	}
	return r.r.Read(b)
}
