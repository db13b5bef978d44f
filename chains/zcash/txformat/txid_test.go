package txformat_test

import (
	"encoding/binary"
	"slices"
	"testing"

	"birthmark/chains/bitcoin/block"
	"birthmark/chains/zcash"
	"birthmark/internal/testseed"
)

// part is a part of a transaction: random bytes after the count of its items, which is not changed.
type part struct {
	name   string
	count  []byte
	size   int
	covers bool // the id covers it
}

// The id covers neither scripts of inputs, proofs nor signatures (ZIP 244), and from version 6 on no anchors (ZIP 229).
// It covers everything else.
func TestIDsCoverWhatTheZIPsName(t *testing.T) {
	rng := testseed.Rand(t)
	for version, group := range map[uint32]uint32{5: 0x26a7270a, 6: 0xd884b698} {
		anchors := version == 5
		parts := []part{
			{"the branch, lock time and expiry", nil, 12, true},
			{"the outpoint", []byte{1}, 36, true},
			{"the script of the input", []byte{5}, 5, false},
			{"the sequence", nil, 4, true},
			{"the value", []byte{1}, 6, true},
			{"the script of the output", []byte{0, 0, 7}, 7, true},
			{"the Sapling spends", []byte{2}, 2 * 96, true},
			{"the Sapling outputs", []byte{2}, 2 * 756, true},
			{"the Sapling balance", nil, 8, true},
			{"the Sapling anchor", nil, 32, anchors},
			{"the Sapling proofs and signatures", nil, 2*(192+64) + 2*192 + 64, false},
		}
		for _, pool := range []string{"Orchard", "Ironwood"}[:version-4] {
			parts = append(parts, part{"the actions of " + pool, []byte{2}, 2 * 820, true},
				part{"the flags and balance of " + pool, nil, 1 + 8, true}, part{"the anchor of " + pool, nil, 32, anchors},
				part{"the proofs of " + pool, []byte{90}, 90, false}, part{"the signatures of " + pool, nil, 3 * 64, false})
		}
		tx := binary.LittleEndian.AppendUint32(binary.LittleEndian.AppendUint32(nil, version|1<<31), group)
		at := make([]int, len(parts))
		for i, p := range parts {
			tx = append(tx, p.count...)
			at[i] = len(tx)
			for range p.size {
				tx = append(tx, byte(rng.Uint32()))
			}
		}
		id, err := zcash.Spec.Format.TxID(tx)
		if err != nil {
			t.Fatal(err)
		}
		for i, p := range parts {
			for range 8 {
				other := slices.Clone(tx)
				other[at[i]+rng.IntN(p.size)] ^= byte(1 + rng.IntN(255))
				got, err := zcash.Spec.Format.TxID(other)
				if err != nil || (got != id) != p.covers {
					t.Errorf("version %d with another byte in %s has the id %s, %v; before %s", version, p.name,
						block.FormatHash(got), err, block.FormatHash(id))
				}
			}
		}
	}
}
