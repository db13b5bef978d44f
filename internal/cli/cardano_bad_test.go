package cli

import (
	"fmt"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"birthmark/bench/generate/cardanogen"
	"birthmark/core/query"
	"birthmark/internal/testnode/ouroborostest"
)

// The error of a node that sends invalid data names the node, the block and the fault. The database keeps its blocks,
// contains a prefix of the chain, and continues from a correct node.
func TestFaultsOfACardanoNodeAreReported(t *testing.T) {
	slow(t)
	main := newBranch()
	main.mine(t, 300)
	bad := main.blocks[200]
	swapped, err := bad.WithBody(main.blocks[201])
	if err != nil {
		t.Fatal(err)
	}
	t.Setenv("BIRTHMARK_NETWORK", main.network(t))
	dir := t.TempDir()
	n := ouroborostest.Start(t, cardanogen.DefaultMagic, main.blocks)
	args := func(db, source string, more ...string) []string {
		return append([]string{"--chain", "cardano", "--db", db, "--source", source}, more...)
	}
	sync := func(db, source string, more ...string) {
		t.Helper()
		ask(t, nil, append([]string{"sync"}, args(db, source, more...)...)...)
	}
	fresh := filepath.Join(dir, "fresh")
	sync(fresh, n.TCP())
	digest := digestOf(t, fresh)

	instead := func(b ouroborostest.Block) ouroborostest.Faults {
		return ouroborostest.Faults{Instead: map[[32]byte]ouroborostest.Block{bad.Hash: b}}
	}
	place := fmt.Sprintf(`slot %d \(%x\)`, bad.Slot, bad.Hash)
	for _, c := range []struct {
		name          string
		faults        ouroborostest.Faults
		chain         []ouroborostest.Block // nil for the chain of the node
		code          string
		toNode, local string // patterns of the messages for both sides
	}{
		{name: "body", faults: instead(swapped), code: "bad_block",
			toNode: place + `: the body has the hash [0-9a-f]{64}: expected [0-9a-f]{64}, as in the header$`, local: place + `: the body has the hash`},
		{name: "other", faults: instead(main.blocks[150]), code: "bad_block|bad_chain",
			toNode: `sent block 150 at slot \d+ \([0-9a-f]{64}\) instead of the one at ` + place, local: `^block 150 at slot \d+ \([0-9a-f]{64}\) has the parent [0-9a-f]{64}: expected block 199, [0-9a-f]{64}$`},
		{name: "gap", chain: slices.Concat(main.blocks[:200], main.blocks[201:]), code: "bad_chain",
			toNode: `^block 201 at slot \d+ \([0-9a-f]{64}\) has the parent [0-9a-f]{64}: expected block 199, [0-9a-f]{64}$`, local: `^block 201 at slot`},
		{name: "scrambled", faults: ouroborostest.Faults{Scrambled: true}, code: "not_a_node",
			toNode: `^127\.0\.0\.1:\d+ does not answer as a Cardano node that speaks node-to-node: `, local: `node\.socket does not answer`},
	} {
		t.Run(c.name, func(t *testing.T) {
			for side, source := range sides(n) {
				n.Misbehave(ouroborostest.Faults{})
				n.Switch(0, main.blocks...)
				db := filepath.Join(dir, c.name+" "+side)
				sync(db, source, "--to-height", "120")
				n.Misbehave(c.faults)
				if c.chain != nil {
					n.Switch(0, c.chain...)
				}
				pattern := c.local
				if side == "node to node" {
					pattern = c.toNode
				}
				sourceFails(t, c.code, pattern, args(db, source)...)
				var tip query.BlockAnswer
				ask(t, &tip, "block", "tip", "--db", db)
				if tip.Height < 120 || tip.Height > 199 || tip.Hash != fmt.Sprintf("%x", main.blocks[tip.Height].Hash) {
					t.Errorf("%s: the tip is block %d, %s", side, tip.Height, tip.Hash)
				}
				consistent(t, db)
				n.Misbehave(ouroborostest.Faults{})
				n.Switch(0, main.blocks...)
				sync(db, source)
				same(t, db, digest)
			}
		})
	}
}

// A source that is not a node of the network creates no database and does not change one.
func TestSourcesThatAreNotCardanoNodesAreRefused(t *testing.T) {
	slow(t)
	main := newBranch()
	main.mine(t, 20)
	t.Setenv("BIRTHMARK_NETWORK", main.network(t))
	dir := t.TempDir()
	foreign := &branch{chain: cardanogen.New(cardanogen.Options{Seed: cardanoSeed + 1, TxsPerBlock: 1})}
	foreign.mine(t, 20)
	n := ouroborostest.Start(t, cardanogen.DefaultMagic, main.blocks)
	there := filepath.Join(dir, "there")
	ask(t, nil, "sync", "--chain", "cardano", "--db", there, "--source", n.Unix())
	digest := digestOf(t, there)

	file := strings.TrimPrefix(n.Unix(), "unix://") + ".file"
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	web := map[string]net.Listener{}
	for kind, address := range map[string]string{"tcp": "127.0.0.1:0", "unix": file + ".web"} {
		l, err := net.Listen(kind, address)
		if err != nil {
			t.Fatal(err)
		}
		web[kind] = l
		s := &http.Server{Handler: http.NotFoundHandler()}
		go func() { _ = s.Serve(l) }()
		t.Cleanup(func() { _ = s.Close() })
	}
	other := ouroborostest.Start(t, 1, main.blocks)
	gone := ouroborostest.Start(t, cardanogen.DefaultMagic, main.blocks)
	gone.Stop()
	for source, said := range map[string][2]string{
		other.TCP():                           {"wrong_network", `^127\.0\.0\.1:\d+ rejects network magic 1112101460: it answered "version data mismatch: .*1 /= .*1112101460"$`},
		other.Unix():                          {"wrong_network", `rejects network magic 1112101460: it answered`},
		gone.TCP():                            {"unreachable", `^127\.0\.0\.1:\d+ is unreachable: connection refused \(is the node running\? the default port of cardano is 3001\)$`},
		gone.Unix():                           {"unreachable", `^there is no socket .*/node\.socket: expected the socket of a running node$`},
		"unix://" + file:                      {"not_a_node", `^.*/node\.socket\.file is not a socket: expected the socket of a running node$`},
		"unix://" + file + ".web":             {"not_a_node", `/node\.socket\.file\.web does not answer as a Cardano node that speaks node-to-client: `},
		"tcp://" + web["tcp"].Addr().String(): {"not_a_node", `^127\.0\.0\.1:\d+ does not answer as a Cardano node that speaks node-to-node: `},
	} {
		db := filepath.Join(dir, "none")
		sourceFails(t, said[0], said[1], "--chain", "cardano", "--db", db, "--source", source)
		if _, err := os.Stat(db); !os.IsNotExist(err) {
			t.Errorf("%s created a database: %v", source, err)
		}
		sourceFails(t, said[0], said[1], "--db", there, "--source", source)
		same(t, there, digest)
	}

	// Networks with the same magic and another genesis differ in their first transactions or in their first block.
	n.Switch(0, foreign.blocks...)
	for _, source := range sides(n) {
		sourceFails(t, "unknown_output", `^block \d+ [0-9a-f]{64}: transaction [0-9a-f]{64}: input 0 spends unknown [0-9a-f]{64}:0$`,
			"--chain", "cardano", "--db", filepath.Join(t.TempDir(), "db"), "--source", source)
		wantFailure(t, exitRefused, "wrong_chain", `its first block is [0-9a-f]{64}, the database's is [0-9a-f]{64}$`, "sync", "--db", there, "--source", source)
		same(t, there, digest)
	}
	wantFailure(t, exitRefused, "wrong_network", "preview", "sync", "--network", "preview", "--db", there, "--source", n.TCP())
}
