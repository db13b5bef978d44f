package cli

import (
	"path/filepath"
	"strings"
	"testing"

	"birthmark/core/query"
	"birthmark/internal/testrun"
)

// The database stores the definitions of its custom indexes.
func TestDefinitionsAreStoredInTheDatabase(t *testing.T) {
	testrun.Slow(t)
	t.Parallel()
	dir := t.TempDir()
	file, other := filepath.Join(dir, "birthmark.yaml"), filepath.Join(dir, "other.yaml")
	write(t, file, customSettings)
	source := "file://" + realBlocks(t)
	db, twin := filepath.Join(dir, "db"), filepath.Join(dir, "twin")
	ask(t, nil, "sync", "--config", file, "--source", source, "--db", twin, "--to-height", "199")
	ask(t, nil, "sync", "--config", file, "--source", source, "--db", db, "--to-height", "99")
	write(t, other, "chain: bitcoin\nindexes:\n  address: {}\n")
	ask(t, nil, "sync", "--config", other, "--source", source, "--db", db, "--to-height", "150")
	ask(t, nil, "rollback", "--db", db, "--to-height", "120")
	ask(t, nil, "sync", "--source", source, "--db", db, "--to-height", "199")
	same(t, db, digestOf(t, twin))
	consistent(t, db)
	for _, line := range []string{"find bits 1d00ffff --limit 1 --order desc", "find bits 1d00ffff --limit 1 --order desc --config " + other} {
		var a query.FindAnswer
		if ask(t, &a, append(strings.Fields(line), "--db", db)...); len(a.Outputs) != 1 || a.Outputs[0].Height != 199 {
			t.Errorf("%s: %+v", line, a)
		}
	}
	write(t, other, strings.Replace(customSettings, "block.bits", "block.nonce", 1))
	wantFailure(t, exitRefused, "index_mismatch", `^index bits is defined as .*block.nonce.*created with .*block.bits.*birthmark index drop bits`, "status", "--config", other, "--db", db)
	write(t, other, strings.Replace(customSettings, "block.bits", "block.bitz", 1))
	wantFailure(t, exitUsage, "bad_definition", `^`+other+`:8: index bits: value: 7: unknown field block.bitz`, "status", "--config", other, "--db", db)
}

// The error of a database of another chain names the chain, whatever custom indexes it has.
func TestAnotherChainIsReportedDespiteCustomIndexes(t *testing.T) {
	t.Parallel()
	file, db := filepath.Join(t.TempDir(), "birthmark.yaml"), filepath.Join(t.TempDir(), "db")
	write(t, file, customSettings)
	ask(t, nil, "sync", "--config", file, "--source", "file://"+realBlocks(t), "--db", db, "--to-height", "9")
	wantFailure(t, exitRefused, "wrong_chain", `bitcoin`, "status", "--db", db, "--chain", "ergo")
}
