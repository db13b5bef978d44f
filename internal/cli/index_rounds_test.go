package cli

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"birthmark/internal/control"
	"birthmark/internal/testnode/coretest"
	"birthmark/internal/testrun"
	"birthmark/internal/testseed"
)

// An index that is dropped at most 80 ms after it was added is gone when the drop returns, while a sync follows a node
// that mines: the backfill may be running, end at this moment, or have ended. BIRTHMARK_ROUNDS is the number of rounds.
func TestIndexesAreDroppedRightAfterTheyWereAdded(t *testing.T) {
	slow(t)
	t.Parallel()
	node := coretest.Start(t)
	for range 2000 {
		node.Mine(t)
	}
	db := filepath.Join(t.TempDir(), "db")
	cmd, _, log := process(t, all, "sync", "--follow", "--chain", "bitcoin", "--network", "regtest", "--source", node.URL(), "--db", db)
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		if _ = cmd.Wait(); t.Failed() {
			t.Logf("log of the sync: %.4000s", log)
		}
	})
	until(t, "the sync to reach the tip", func() bool {
		_, err := control.Ask(context.Background(), db, control.Request{Do: control.State})
		return err == nil && tipHeight(t, db) == 2000
	})
	rng := testseed.Rand(t)
	rounds := testrun.Rounds(t, 5)
	for round := range rounds {
		node.Mine(t)
		ask(t, nil, "index", "add", "script_hash", "--db", db, "--detach")
		time.Sleep(time.Duration(rng.IntN(80_000)) * time.Microsecond)
		drop(t, round, db)
		if listed(t, db, "script_hash") != nil {
			t.Fatalf("round %d: the index is listed after the drop", round)
		}
	}
	until(t, "the sync to reach the tip", func() bool { return tipHeight(t, db) == int(node.Tip().Height) })
	consistent(t, db)
	if err := cmd.Process.Signal(os.Interrupt); err != nil {
		t.Fatal(err)
	}
	if err := cmd.Wait(); err != nil {
		t.Fatal(err)
	}
	t.Logf("%d rounds; %d backfills ended before their index was dropped", rounds, strings.Count(log.String(), `msg="index added"`))
}

// drop drops an index. The test ends if the command does not.
func drop(t *testing.T, round int, db string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	var stdout, stderr strings.Builder
	status := run(ctx, []string{"birthmark", "index", "drop", "script_hash", "--db", db, "--json"}, strings.NewReader(""), &stdout, &stderr)
	var a changeAnswer
	if err := json.Unmarshal([]byte(stdout.String()), &a); err != nil || status != exitDone || !a.Done {
		t.Fatalf("round %d: the drop ended with %d, %v: %s%s", round, status, err, &stdout, &stderr)
	}
}
