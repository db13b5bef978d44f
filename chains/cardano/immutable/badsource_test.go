package immutable

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"birthmark/internal/testnode/immutabletest"
	"birthmark/model"
)

// threeChunks returns the blocks of three chunks, five per chunk.
func threeChunks() [][]immutabletest.Block {
	chunks := make([][]immutabletest.Block, 3)
	for c := range chunks {
		for i := range 5 {
			chunks[c] = append(chunks[c], immutabletest.Later(6, uint64(c*5+i), uint64(c*4320+i*10), 100))
		}
	}
	return chunks
}

// TestFaultsAreReported: the blocks before a fault are returned. The error names the file, the position and the block.
func TestFaultsAreReported(t *testing.T) {
	chunks := threeChunks()
	chunk, index := immutabletest.Chunk(chunks[1]...)
	_, lastIndex := immutabletest.Chunk(chunks[2]...)
	firstChunk, firstIndex := immutabletest.Chunk(chunks[0]...)
	size := len(chunk) / 5
	entry := func(i int, change func(e []byte)) []byte {
		raw := bytes.Clone(index)
		change(raw[i*entrySize : (i+1)*entrySize])
		return raw
	}
	offset := func(i int, to uint64) []byte {
		return entry(i, func(e []byte) { binary.BigEndian.PutUint64(e, to) })
	}
	const chunkFile, indexFile = "00001.chunk", "00001.secondary"
	for name, c := range map[string]struct {
		files  map[string][]byte // nil removes the file
		blocks int
		code   string
		at     int      // the block of chunk 1 in the message, -1 for none
		parts  []string // of the message
	}{
		"chunk cut inside its last block": {map[string][]byte{chunkFile: chunk[:len(chunk)-1]}, 9, "bad_checksum", 4, []string{"CRC-32", "expected"}},
		"chunk cut inside its third block": {map[string][]byte{chunkFile: chunk[:2*size+9]}, 7, "bad_index", 2,
			[]string{"the chunk ends at"}},
		"chunk cut between blocks":       {map[string][]byte{chunkFile: chunk[:2*size]}, 7, "bad_index", 2, []string{"the chunk ends at"}},
		"chunk empty":                    {map[string][]byte{chunkFile: {}}, 5, "bad_index", 0, []string{"the chunk ends at 0"}},
		"chunk with more than the index": {map[string][]byte{chunkFile: append(bytes.Clone(chunk), chunk[:size]...)}, 9, "bad_checksum", 4, nil},
		"a bit of a block":               {map[string][]byte{chunkFile: flipped(chunk, 3*size+200)}, 8, "bad_checksum", 3, nil},
		"no chunk":                       {map[string][]byte{chunkFile: []byte("not a chunk at all")}, 5, "bad_index", 0, []string{"6e6f"}},
		"no chunk, no index":             {map[string][]byte{chunkFile: []byte("not a chunk at all"), indexFile: nil}, 5, "bad_chunk", -1, []string{"offset 0", "6e6f"}},
		"cut, no index":                  {map[string][]byte{chunkFile: chunk[:5*size-1], indexFile: nil}, 9, "bad_chunk", 4, []string{"truncated"}},
		"cut in a header, no index":      {map[string][]byte{chunkFile: chunk[:4*size+9], indexFile: nil}, 9, "bad_chunk", -1, []string{"truncated"}},
		"extra bytes, no index":          {map[string][]byte{chunkFile: append(bytes.Clone(chunk), 0), indexFile: nil}, 10, "bad_chunk", -1, []string{"do not start a block"}},
		"index beyond the chunk":         {map[string][]byte{indexFile: offset(3, uint64(len(chunk)+1))}, 7, "bad_index", 2, []string{"the chunk ends at"}},
		"index far beyond the chunk":     {map[string][]byte{indexFile: offset(3, 1<<63)}, 7, "bad_index", 2, []string{"the chunk ends at"}},
		"index going back":               {map[string][]byte{indexFile: offset(3, 10)}, 7, "bad_index", 2, []string{"must increase"}},
		"index standing still":           {map[string][]byte{indexFile: offset(3, uint64(2*size))}, 7, "bad_index", 2, []string{"must increase"}},
		"index beginning late":           {map[string][]byte{indexFile: index[entrySize:]}, 5, "bad_index", 1, []string{"a chunk does at 0"}},
		"index off by one":               {map[string][]byte{indexFile: offset(3, uint64(3*size+1))}, 7, "bad_checksum", 2, nil},
		"index empty":                    {map[string][]byte{indexFile: {}}, 5, "bad_index", -1, []string{"no entry"}},
		"index cut inside an entry":      {map[string][]byte{indexFile: index[:4*entrySize+7]}, 8, "bad_checksum", 3, nil},
		"index with half an entry more":  {map[string][]byte{indexFile: append(bytes.Clone(index), 1, 2, 3)}, 10, "bad_index", 4, []string{"index is cut: 3 bytes"}},
		"index with another CRC":         {map[string][]byte{indexFile: entry(2, func(e []byte) { e[12] ^= 1 })}, 7, "bad_checksum", 2, nil},
		"index with a header too large":  {map[string][]byte{indexFile: entry(2, func(e []byte) { e[10] = 0xff })}, 7, "bad_index", 2, []string{"header of"}},
		"index with slots going back":    {map[string][]byte{indexFile: entry(2, func(e []byte) { binary.BigEndian.PutUint64(e[48:], 4320) })}, 7, "bad_index", -1, []string{"slot 4320 after slot 4330", chunks[1][2].Hash.String()}},
		"index of the next chunk":        {map[string][]byte{indexFile: lastIndex}, 5, "bad_checksum", -1, []string{chunks[2][0].Hash.String()}},
		"index of the chunk before":      {map[string][]byte{indexFile: firstIndex}, 5, "bad_index", -1, []string{"slot 0 after slot 40"}},
		"the chunk before again":         {map[string][]byte{indexFile: firstIndex, chunkFile: firstChunk}, 5, "bad_index", -1, []string{"slots must increase", chunks[0][0].Hash.String()}},
	} {
		t.Run(name, func(t *testing.T) {
			dir := folderOf(t, chunks)
			for file, content := range c.files {
				if content == nil {
					if err := os.Remove(filepath.Join(dir, file)); err != nil {
						t.Fatal(err)
					}
					continue
				}
				immutabletest.Write(t, dir, map[string][]byte{file: content})
			}
			entries, blocks, err := readAll(t, mustOpen(t, dir), Position{})
			parts := append(c.parts, chunkFile, "offset")
			if c.at >= 0 {
				parts = append(parts, chunks[1][c.at].Hash.String())
			}
			isFault(t, err, c.code, parts...)
			agree(t, slices.Concat(chunks...)[:c.blocks], entries, blocks)
		})
	}
}

func flipped(b []byte, at int) []byte {
	b = bytes.Clone(b)
	b[at] ^= 0x10
	return b
}

// TestOpenErrors: errors name the fault and the expectation.
func TestOpenErrors(t *testing.T) {
	chunk, index := immutabletest.Chunk(threeChunks()[0]...)
	packed := compressed(t, chunk)
	dir := t.TempDir()
	immutabletest.Write(t, dir, map[string][]byte{
		"00000.chunk": chunk, "00001.chunk": nil, "00003.chunk": chunk, "00000.secondary": index, "empty": nil, "one byte": {0x82},
		"cut.zstd": packed[:len(packed)-5], "damaged.zstd": flipped(packed, len(packed)/2), "not in it.zstd": compressed(t, []byte("not a chunk")),
		"empty.zstd": compressed(t, []byte{}), "magic.zstd": zstdMagic, "future": {0x83, 0, 0},
	})
	for _, sub := range []string{"none", "node/immutable"} {
		if err := os.MkdirAll(filepath.Join(dir, sub), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	for name, want := range map[string]struct{ code, part string }{
		"":                {"missing_chunk", "00001.chunk and 00003.chunk, but no 00002.chunk"},
		"none":            {"source_empty", "no *.chunk"},
		"node":            {"source_empty", "subfolder immutable"},
		"absent":          {"source_missing", "does not exist"},
		"00000.secondary": {"bad_chunk", "is not a chunk"},
		"empty":           {"source_empty", "is empty"},
		"one byte":        {"bad_chunk", "is not a chunk"},
		"future":          {"bad_chunk", "8300"},
		"cut.zstd":        {"bad_zstd", "damaged"},
		"damaged.zstd":    {"bad_zstd", "damaged"},
		"magic.zstd":      {"bad_zstd", "damaged"},
		"empty.zstd":      {"source_empty", "empty when decompressed"},
		"not in it.zstd":  {"bad_chunk", "is not a chunk"},
	} {
		_, err := Open(filepath.Join(dir, name))
		isFault(t, err, want.code, want.part, filepath.Join(dir, name))
	}
	_, err := Open(os.DevNull)
	isFault(t, err, "source_unreadable", "neither a folder nor a file")
}

// TestTruncatedSingleChunk: the blocks before the truncation are returned.
func TestTruncatedSingleChunk(t *testing.T) {
	blocks := threeChunks()[0]
	chunk, _ := immutabletest.Chunk(blocks...)
	path := filepath.Join(t.TempDir(), "00000.chunk")
	for _, cut := range []int{1, 100} {
		immutabletest.Write(t, filepath.Dir(path), map[string][]byte{"00000.chunk": chunk[:len(chunk)-cut]})
		entries, raws, err := readAll(t, mustOpen(t, path), Position{})
		isFault(t, err, "bad_chunk", path, "truncated", "slot 40", blocks[4].Hash.String())
		agree(t, blocks[:4], entries, raws)
	}
}

// TestTruncatedNewestChunk: the newest chunk may be incomplete. Cut reports the incomplete block.
func TestTruncatedNewestChunk(t *testing.T) {
	chunks := threeChunks()
	all := slices.Concat(chunks...)
	chunk, index := immutabletest.Chunk(chunks[2]...)
	dir := folderOf(t, chunks)
	for cut := range len(chunk) + 1 {
		if cut%37 != 0 && cut%(len(chunk)/5) != 0 {
			continue
		}
		immutabletest.Write(t, dir, map[string][]byte{"00002.chunk": chunk[:len(chunk)-cut]})
		d := mustOpen(t, dir)
		whole := (len(chunk) - cut) / (len(chunk) / 5)
		entries, blocks, err := readAll(t, d, Position{})
		if err != nil {
			t.Fatal(err)
		}
		agree(t, all[:10+whole], entries, blocks)
		if err := d.Cut(t.Context()); cut == 0 {
			if err != nil {
				t.Fatal(err)
			}
		} else {
			isFault(t, err, "bad_chunk", "00002.chunk", "truncated", chunks[2][whole].Hash.String())
		}
	}
	// An index that lacks the last blocks of its chunk is normal while a node writes.
	for size := range len(index) {
		immutabletest.Write(t, dir, map[string][]byte{"00002.chunk": chunk, "00002.secondary": index[:size]})
		d := mustOpen(t, dir)
		entries, blocks, err := readAll(t, d, Position{})
		if err != nil {
			t.Fatal(err)
		}
		agree(t, all[:10+size/entrySize], entries, blocks)
		if err := d.Cut(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
}

// TestFaultsOfTheNewestChunk: content that a node never writes is a fault; content that a node may be writing is not.
func TestFaultsOfTheNewestChunk(t *testing.T) {
	chunks := threeChunks()
	chunk, index := immutabletest.Chunk(chunks[2]...)
	other := bytes.Clone(index)
	other[4*entrySize+16] ^= 1
	shifted := bytes.Clone(index)
	shifted[4*entrySize+7]--
	_, before := immutabletest.Chunk(chunks[1]...)
	for name, c := range map[string]struct {
		chunk, index []byte
		blocks       int
		code, part   string // empty if it is valid
	}{
		"another hash":                 {chunk, other, 14, "bad_index", "found block " + chunks[2][4].Hash.String()},
		"another offset":               {chunk, shifted, 13, "bad_checksum", chunks[2][3].Hash.String()},
		"index of the chunk before":    {chunk, before, 10, "bad_index", "slot 4320 after slot 4360"},
		"rubbish, no index":            {[]byte("rubbish"), nil, 10, "bad_chunk", "7275"},
		"rubbish":                      {[]byte("rubbish"), index[:entrySize], 10, "bad_index", "7275"},
		"bytes after the last block":   {append(bytes.Clone(chunk), "rubbish"...), index, 15, "", ""},
		"the next before its entry":    {append(bytes.Clone(chunk), chunk...), index, 15, "", ""},
		"half the next":                {append(bytes.Clone(chunk), chunk[:100]...), index, 15, "", ""},
		"half the next, no index":      {append(bytes.Clone(chunk), chunk[:100]...), nil, 15, "", ""},
		"nothing yet":                  {nil, []byte{}, 10, "", ""},
		"a block and no entry of it":   {chunk[:len(chunk)/5], []byte{}, 10, "", ""},
		"a block and half an entry":    {chunk[:len(chunk)/5], index[:entrySize/2], 10, "", ""},
		"half a block of a new folder": {chunk[:1], index[:entrySize], 10, "", ""},
	} {
		t.Run(name, func(t *testing.T) {
			dir := folderOf(t, chunks)
			immutabletest.Write(t, dir, map[string][]byte{"00002.chunk": c.chunk})
			if c.index != nil {
				immutabletest.Write(t, dir, map[string][]byte{"00002.secondary": c.index})
			} else if err := os.Remove(filepath.Join(dir, "00002.secondary")); err != nil {
				t.Fatal(err)
			}
			entries, blocks, err := readAll(t, mustOpen(t, dir), Position{})
			if c.code != "" {
				isFault(t, err, c.code, "00002.chunk", c.part)
			} else if err != nil {
				t.Fatal(err)
			}
			agree(t, slices.Concat(chunks...)[:c.blocks], entries, blocks)
		})
	}
}

// TestMissingChunk: a missing chunk is an error when it would be read, also if the start position is inside it.
func TestMissingChunk(t *testing.T) {
	dir := folderOf(t, threeChunks())
	d := mustOpen(t, dir)
	entries, _, err := readAll(t, d, Position{})
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Remove(filepath.Join(dir, "00001.chunk")); err != nil {
		t.Fatal(err)
	}
	_, _, err = readAll(t, d, Position{})
	isFault(t, err, "source_missing", "00001.chunk")
	_, err = d.Read(entries[7], nil)
	isFault(t, err, "source_missing", "00001.chunk")

	if err := os.Remove(filepath.Join(dir, "00000.chunk")); err != nil {
		t.Fatal(err)
	}
	_, _, err = readAll(t, mustOpen(t, dir), entries[3].Next())
	isFault(t, err, "missing_chunk", "00000.chunk is missing", "begins with 00002.chunk")
}

// TestReaderContinuesAfterAFault: the block after a faulty one is returned.
func TestReaderContinuesAfterAFault(t *testing.T) {
	chunks := threeChunks()
	chunk, _ := immutabletest.Chunk(chunks[0]...)
	dir := folderOf(t, chunks)
	immutabletest.Write(t, dir, map[string][]byte{"00000.chunk": flipped(chunk, len(chunk)/5+50)})
	d := mustOpen(t, dir)
	r := d.Reader()
	defer r.Close()
	i := 0
	for e, err := range d.Entries(t.Context(), Position{}) {
		if err != nil {
			t.Fatal(err)
		}
		if raw, err := r.Read(e, nil); i == 1 {
			isFault(t, err, "bad_checksum", "00000.chunk")
		} else if err != nil || !bytes.Equal(raw, slices.Concat(chunks...)[i].Raw) {
			t.Fatal(i, err)
		}
		i++
	}
	if _, err := r.Read(Entry{Offset: int64(len(chunk)), Size: 5}, nil); err == nil {
		t.Error("the reader read past the end of a chunk")
	} else {
		isFault(t, err, "bad_chunk", "0 of the 5 bytes")
	}
}

// TestCancelling: the end of the context stops the reader.
func TestCancelling(t *testing.T) {
	d := mustOpen(t, folderOf(t, threeChunks()))
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	for _, err := range d.Entries(ctx, Position{}) {
		if !errors.Is(err, context.Canceled) {
			t.Fatal(err)
		}
	}
	_, err := d.Find(ctx, 0, model.Hash{})
	_, tipErr := d.Tip(ctx)
	_, refreshErr := d.Refresh(ctx)
	for _, err := range []error{err, tipErr, refreshErr, d.Cut(ctx)} {
		if !errors.Is(err, context.Canceled) {
			t.Error(err)
		}
	}
}
