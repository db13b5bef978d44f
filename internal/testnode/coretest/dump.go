package coretest

import (
	"bytes"
	"encoding/binary"
	"os"
	"path/filepath"
)

// save writes the mempool to mempool.dat as Core does (kernel/mempool_persist.cpp): version, key, count, then each
// transaction with its time and fee delta, fee deltas of others, and ids that were not sent yet. mu is held.
func (n *Node) save() (any, *rpcError) {
	if n.faults.Dir == "" {
		return map[string]string{"filename": "/nonexistent/on/another/machine/mempool.dat"}, nil
	}
	path := filepath.Join(n.faults.Dir, "mempool.dat")
	key := []byte{0x5a, 1, 2, 3, 0xff, 0, 7, 0x99}
	var b bytes.Buffer
	number := func(v uint64) { b.Write(binary.LittleEndian.AppendUint64(nil, v)) }
	masked := 0 // offset of the first byte with the key
	if n.faults.PlainDump {
		number(1)
	} else {
		number(2)
		b.WriteByte(byte(len(key)))
		b.Write(key)
		masked = b.Len()
	}
	entries := n.entries()
	number(uint64(len(entries)))
	for _, e := range entries {
		b.Write(e.raw)
		number(uint64(e.time.Unix()))
		number(0)
	}
	b.Write([]byte{0, 0}) // no fee deltas, no ids
	text := b.Bytes()
	if masked > 0 {
		for i := masked; i < len(text); i++ {
			text[i] ^= key[i%len(key)]
		}
	}
	if err := os.WriteFile(path, text, 0o600); err != nil {
		return nil, &rpcError{-1, "Unable to dump mempool to disk"}
	}
	return map[string]string{"filename": path}, nil
}
