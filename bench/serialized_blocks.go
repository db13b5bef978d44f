package bench

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"context"
	"encoding/binary"
	"io"
	"os"
	"path/filepath"
	"strings"

	"birthmark/bench/generate/bitcoingen"
	"birthmark/bench/generate/cardanogen"
	"birthmark/bench/generate/ergogen"
	"birthmark/chains/bitcoin"
	"birthmark/chains/blocksource"
	"birthmark/chains/cardano"
	"birthmark/chains/cardano/immutable"
	"birthmark/chains/ergo"
	"birthmark/chains/ergo/jsonstream"
	"birthmark/model"
)

// GeneratedBlocks are blocks of a chain as [Decode] takes them, with at least so many transactions, perBlock of them in one in the
// mean; 0: as mainnet has.
func GeneratedBlocks(chain string, seed uint64, perBlock float64, txs int) (blocks [][]byte, err error) {
	switch chain {
	case cardano.Name:
		c := cardanogen.New(cardanogen.Options{Seed: seed, TxsPerBlock: perBlock})
		for c.Made().Txs < txs {
			blocks = append(blocks, c.Next().Raw)
		}
	case ergo.Name:
		c := ergogen.New(ergogen.Options{Seed: seed, TxsPerBlock: perBlock})
		for c.Made().Txs < txs {
			b := c.Next()
			blocks = append(blocks, append(b.JSON, '\n'))
		}
	case bitcoin.Name:
		c := bitcoingen.New(bitcoingen.Options{Seed: seed, Txs: txs, TxsPerBlock: perBlock})
		for c.Made().Txs < txs {
			blocks = append(blocks, c.Next().Record)
		}
	default:
		return nil, model.Errorf(model.Usage, "unknown_chain", "blocks of %s cannot be generated: expected %s, %s or %s", chain, cardano.Name, bitcoin.Name, ergo.Name)
	}
	return blocks, nil
}

// ReadBlocks are serialized blocks out of a file or folder (or its URI), at most so many bytes of them and at least one: of Cardano a
// node's immutable database or one chunk, of Bitcoin one block file, of Ergo a file of full blocks. They stand as [Decode] takes them.
func ReadBlocks(ctx context.Context, chain, path string, most int64) ([][]byte, error) {
	if rest, ok := strings.CutPrefix(path, "file://"); ok {
		path = blocksource.FilePath(rest)
	}
	switch chain {
	case cardano.Name:
		return readChunks(ctx, path, most)
	case bitcoin.Name:
		return readBlockFile(path, most)
	case ergo.Name:
		return readFullBlocks(path, most)
	}
	return nil, model.Errorf(model.Usage, "unknown_chain", "serialized blocks of %s cannot be read: expected %s, %s or %s", chain, cardano.Name, bitcoin.Name, ergo.Name)
}

// mostJSON is more bytes than a full block of Ergo has as JSON.
const mostJSON = 64 << 20

func readFullBlocks(path string, most int64) (blocks [][]byte, err error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, model.Errorf(model.BadSource, "no_file", "%w", err)
	}
	defer f.Close()
	in := io.Reader(f)
	if filepath.Ext(path) == ".gz" {
		if in, err = gzip.NewReader(bufio.NewReader(f)); err != nil {
			return nil, model.Errorf(model.BadSource, "bad_block", "%s: %w", path, err)
		}
	}
	for split := jsonstream.New(in, mostJSON); ; {
		raw, err := split.Next()
		if err == io.EOF {
			break
		}
		if err != nil {
			return nil, model.Errorf(model.BadSource, "bad_block", "%s: %w", path, err)
		}
		if most -= int64(len(raw)); most < 0 && len(blocks) > 0 {
			break
		}
		blocks = append(blocks, append(bytes.Clone(raw), '\n'))
	}
	if len(blocks) == 0 {
		return nil, model.Errorf(model.BadSource, "source_empty", "%s holds no block", path)
	}
	return blocks, nil
}

func readChunks(ctx context.Context, path string, most int64) (blocks [][]byte, err error) {
	db, err := immutable.Open(path)
	if err != nil {
		return nil, err
	}
	r := db.Reader()
	defer r.Close()
	for e, err := range db.Entries(ctx, immutable.Position{}) {
		if err != nil {
			return nil, err
		}
		if most -= int64(e.Size); most < 0 && len(blocks) > 0 {
			break
		}
		raw, err := r.Read(e, nil)
		if err != nil {
			return nil, err
		}
		blocks = append(blocks, raw)
	}
	return blocks, nil
}

// blockFileHead is the bytes before a block in a block file: the network's magic and the block's length.
const blockFileHead = 8

func readBlockFile(path string, most int64) (records [][]byte, err error) {
	raw, err := os.ReadFile(path)
	if err != nil {
		return nil, model.Errorf(model.BadSource, "no_file", "%w", err)
	}
	for at := 0; len(raw)-at >= blockFileHead; {
		record := raw[at:]
		if bytes.Equal(record[:4], make([]byte, 4)) {
			break // the space a node has reserved
		}
		size := blockFileHead + int64(binary.LittleEndian.Uint32(record[4:]))
		if size > int64(len(record)) {
			return nil, model.Errorf(model.BadSource, "bad_block", "%s: the block at %d has %d bytes, the file has %d more", path, at, size, len(record))
		}
		if most -= size; most < 0 && len(records) > 0 {
			break
		}
		records = append(records, record[:size:size])
		at += int(size)
	}
	if len(records) == 0 {
		return nil, model.Errorf(model.BadSource, "source_empty", "%s holds no block", path)
	}
	return records, nil
}
