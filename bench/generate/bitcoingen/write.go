package bitcoingen

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"birthmark/model"
)

// BlocksFolder is the folder that [Write] makes.
const BlocksFolder = "blocks"

// mostFile is the maximum size of a node's block file.
const mostFile = 128 << 20

// Write makes the whole chain and writes it into the folder blocks in dir, in files named like a node's. It returns the
// chain. An error of kind [model.Refused], code not_empty, if that folder is not empty. progress, which may be nil, is
// called after each block.
func Write(ctx context.Context, dir string, o Options, progress func(Counts)) (c *Chain, err error) {
	c = New(o)
	err = WriteFiles(dir, func(record func([]byte) error) error {
		return c.Write(ctx, o.Txs, func(most int) error { return record(c.nextOf(most).Record) }, progress)
	})
	if _, code := model.KindOf(err); code == "not_empty" {
		return nil, err
	}
	return c, err
}

// WriteFiles writes block files like a node's into the folder blocks in dir: the records that write passes on. An error
// of kind [model.Refused], code not_empty, if that folder is not empty.
func WriteFiles(dir string, write func(record func([]byte) error) error) (err error) {
	w, err := createFiles(filepath.Join(dir, BlocksFolder), mostFile)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, w.close()) }()
	return write(w.append)
}

// files writes block files one after the other.
type files struct {
	dir  string
	most int // maximum bytes of a file
	n    int // files so far
	file *os.File
	size int
}

func createFiles(dir string, most int) (*files, error) {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return nil, err
	}
	found, err := os.ReadDir(dir)
	if err != nil {
		return nil, err
	}
	if len(found) > 0 {
		return nil, model.Errorf(model.Refused, "not_empty", "%s is not empty: name an empty folder or a new one", dir)
	}
	return &files{dir: dir, most: most}, nil
}

// append writes a record, into the next file if this one would grow too large.
func (w *files) append(record []byte) (err error) {
	if w.file == nil || w.size+len(record) > w.most {
		if err := w.close(); err != nil {
			return err
		}
		name := filepath.Join(w.dir, fmt.Sprintf("blk%05d.dat", w.n))
		if w.file, err = os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644); err != nil {
			return err
		}
		w.n++
		w.size = 0
	}
	n, err := w.file.Write(record)
	w.size += n
	return err
}

func (w *files) close() error {
	if w.file == nil {
		return nil
	}
	f := w.file
	w.file = nil
	return f.Close()
}
