package ergogen

import (
	"bufio"
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"

	"birthmark/model"
)

// BlocksFile is the file that [Write] makes in a folder.
const BlocksFile = "blocks.jsonl"

// Write makes a chain with at least n transactions and writes it into a folder, which it creates: one block per line,
// as file sources read them. It returns the chain. An error of kind [model.Refused], code not_empty, if the file
// exists. progress, which may be nil, is called after each block.
func Write(ctx context.Context, dir string, o Options, txs int, progress func(Counts)) (c *Chain, err error) {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return nil, err
	}
	path := filepath.Join(dir, BlocksFile)
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
	if errors.Is(err, fs.ErrExist) {
		return nil, model.Errorf(model.Refused, "not_empty", "%s is there already: name an empty folder or a new one", path)
	}
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	w := bufio.NewWriterSize(f, 1<<20)
	c = New(o)
	if err := c.Write(ctx, txs, func(int) error {
		_, err := w.Write(append(c.Next().JSON, '\n'))
		return err
	}, progress); err != nil {
		return nil, err
	}
	return c, w.Flush()
}
