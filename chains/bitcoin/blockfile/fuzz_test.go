package blockfile

import (
	"bytes"
	"testing"

	"github.com/btcsuite/btcd/wire/v2"

	"birthmark/chains/bitcoin/block"
	"birthmark/internal/testnode/bitcointest"
	"birthmark/model"
)

// FuzzBlockFile checks that a file of any bytes yields an error, or consecutive records with proof of work.
func FuzzBlockFile(f *testing.F) {
	c := bitcointest.NewChain()
	c.MineEmpty(2)
	file := bitcointest.BlockFile(wire.TestNet, c.Blocks()...)
	f.Add(file, []byte(nil))
	f.Add(append(bytes.Clone(file), make([]byte, 20)...), make([]byte, xorKeySize))
	f.Add(append(bytes.Clone(file), "garbage"...), []byte(nil))
	f.Add(append(bytes.Clone(file[:500]), file[510:]...), []byte(nil))
	f.Add(file[:len(file)-3], []byte(nil))
	f.Add(append([]byte{0, 0, 0}, file...), []byte(nil))
	masked := bytes.Clone(file)
	unmask(masked, []byte("12345678"), 0)
	f.Add(masked, []byte("12345678"))
	f.Fuzz(func(t *testing.T, content, key []byte) {
		n := regtest()
		d := block.NewDecoder(&block.Bitcoin, noValues{})
		decode := func(raw []byte) error {
			_, err := d.Block(raw, 0)
			return err
		}
		r := recordReader{net: n, path: "blk00000.dat", key: key, decode: decode, file: bytes.NewReader(content), size: int64(len(content))}
		found, err := r.scan(0)
		if err == nil {
			err = found.cut
		}
		if err != nil {
			if kind, _ := model.KindOf(err); kind != model.BadSource || !contains(err.Error(), "blk00000.dat, offset") {
				t.Errorf("kind %d: %v", kind, err)
			}
		}
		end := int64(0)
		for _, rec := range found.records {
			if rec.offset < end+RecordHead || rec.offset+int64(rec.size) > int64(len(content)) {
				t.Fatalf("record at %d of %d bytes, the previous record ends at %d, the file at %d", rec.offset, rec.size, end, len(content))
			}
			end = rec.offset + int64(rec.size)
			raw := bytes.Clone(content[rec.offset:end])
			unmask(raw, key, rec.offset)
			if h := block.Header(raw); h.Hash() != rec.hash || h.CheckWork(rec.hash, n.Limit) != nil {
				t.Fatalf("record at %d is %s", rec.offset, block.FormatHash(rec.hash))
			}
			if b, err := d.Block(raw, 0); err == nil && b.Hash != rec.hash {
				t.Fatalf("record at %d decodes to %s", rec.offset, block.FormatHash(b.Hash))
			}
		}
		if end != found.end && (end < found.end || found.cut == nil) {
			t.Errorf("the records end at %d, the scan ends at %d", end, found.end)
		}
	})
}
