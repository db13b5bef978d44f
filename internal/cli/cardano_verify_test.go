package cli

import (
	"path/filepath"
	"testing"

	"birthmark/core/query"
	"birthmark/core/verify"
	"birthmark/internal/testblocks"
	"birthmark/storage"
)

// Blocks of chunks are found by slot and hash. Verify compares every block with them, and reports a damaged row, also
// if the row leads to the compared block.
func TestVerifyComparesEveryCardanoBlock(t *testing.T) {
	slow(t)
	t.Parallel()
	source := "file://" + testblocks.Path(t, "cardano", "dingo-immutable")
	db := filepath.Join(t.TempDir(), "db")
	ask(t, nil, "sync", "--chain", "cardano", "--network", "preview", "--source", source, "--db", db, "--to-height", "4000", "--index", everyCardanoIndex)
	var status query.StatusAnswer
	ask(t, &status, "status", "--db", db)
	var all verify.Result
	ask(t, &all, "verify", "--db", db, "--source", source, "--sample", "100000")
	if s := status.Totals; !all.OK || all.Blocks != 4_001 || all.Txs != s.Txs+8 || all.Inputs != s.Inputs || all.Outputs != s.Outputs+8 || all.Behind != 46_939 {
		t.Errorf("%+v of %+v", all, s)
	}

	blocks := storage.Declaration{Family: 1, Name: "block_by_height_pk", Access: storage.Ordered}
	harm(t, db, blocks, []byte{0, 0, 0x0f, 0x9f}, func(v []byte) []byte { v[0] ^= 1; return v })
	for sample, compared := range map[string]uint64{"100000": 4_001, "0": 2} {
		a := differing(t, "--db", db, "--source", source, "--sample", sample)
		for _, d := range a.Differences {
			if d.Height != 3_999 || d.Tx != "" {
				t.Errorf("%+v", d)
			}
		}
		if a.Blocks != compared || a.PartsAt != nil {
			t.Errorf("%+v", a)
		}
	}
}
