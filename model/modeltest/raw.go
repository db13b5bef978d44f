package modeltest

import (
	"encoding/hex"
	"path/filepath"
	"slices"

	"birthmark/model"
)

// FileFolder is the folder of the files in which the blocks of a variant with places are. A file is not stored: its
// name has the hashes of the block's transactions, and so determines its content.
const FileFolder = "/node/blocks"

// fileHead is the number of bytes before the first transaction of a file.
const fileHead = 80

func placeOf(b *model.Block) *model.Place {
	p := &model.Place{Offset: fileHead}
	var name []byte
	for i := range b.Txs {
		name = append(name, b.Txs[i].Hash[:]...)
		p.Sizes = append(p.Sizes, len(rawOf(&b.Txs[i])))
	}
	p.File = filepath.Join(FileFolder, "blk"+hex.EncodeToString(name)+".dat")
	return p
}

// RawFiles implements [model.RawFiles].
func (c chain) RawFiles() model.RawFileReader { return files{} }

type files struct{}

// ReadRaw implements [model.RawFileReader]. Only the files in [FileFolder] exist.
func (files) ReadRaw(path string, offset uint64, size int) ([]byte, error) {
	name := filepath.Base(path)
	hashes, err := hex.DecodeString(name[min(len("blk"), len(name)):max(len("blk"), len(name)-len(".dat"))])
	if err != nil || filepath.Dir(path) != FileFolder {
		return nil, model.Errorf(model.NotFound, "no_raw", "%s does not exist", path)
	}
	content := make([]byte, fileHead)
	for hash := range slices.Chunk(hashes, len(model.Hash{})) {
		content = append(content, rawOf(&model.Tx{Hash: model.Hash(hash)})...)
	}
	if offset+uint64(size) > uint64(len(content)) {
		return nil, model.Errorf(model.NotFound, "no_raw", "%s ends before", path)
	}
	return content[offset:][:size], nil
}
