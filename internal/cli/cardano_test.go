package cli

import (
	"path/filepath"
	"strings"
	"testing"

	"birthmark/chains/cardano"
	"birthmark/core/query"
	"birthmark/core/verify"
	"birthmark/internal/cli/terminal"
	"birthmark/internal/testblocks"
	"birthmark/internal/testnode/ouroborostest"
)

const everyCardanoIndex = "address,payment_credential,stake_credential,script_hash,datum_hash,policy"

// The first 50,940 blocks of preview from the files of a node and over both protocols of a node: the database is the
// same for every source and every sequence of syncs.
func TestEverySourceOfPreviewGivesOneDatabase(t *testing.T) {
	slow(t)
	t.Parallel()
	source := "file://" + testblocks.Path(t, "cardano", "dingo-immutable")
	dir := t.TempDir()
	args := func(db string, more ...string) []string {
		return append([]string{"sync", "--chain", "cardano", "--network", "preview", "--source", source, "--db", db, "--index", everyCardanoIndex}, more...)
	}
	whole, parts := filepath.Join(dir, "whole"), filepath.Join(dir, "parts")
	ask(t, nil, args(whole)...)
	var status query.StatusAnswer
	ask(t, &status, "status", "--db", whole)
	expected := query.TotalsAnswer{
		Blocks: 50_940, Txs: 10_813, Inputs: 13_294, Outputs: 43_830, Assets: 16_117, GenesisOutputs: 8, Unspent: 30_544, UnspentValue: "29999972544145248",
	}
	if status.Totals != expected {
		t.Errorf("totals %+v, expected %+v", status.Totals, expected)
	}
	consistent(t, whole)

	for _, height := range []string{"0", "3", "20000", "50939"} {
		ask(t, nil, args(parts, "--to-height", height)...)
	}
	digest := digestOf(t, whole)
	same(t, parts, digest)

	// All blocks are read from a peer. The rolled back ones, which are of a later era, are read from a local node.
	ask(t, nil, "rollback", "--db", parts, "--to-height", "45000")
	n := sides(ouroborostest.Start(t, 2, previewBlocks(t)))
	for db, uri := range map[string]string{filepath.Join(dir, "peer"): n["node to node"], parts: n["node to client"]} {
		source = uri
		ask(t, nil, args(db)...)
		same(t, db, digest)
	}
}

// The first chunk of mainnet, from a file and over both protocols. It begins with a boundary block, and inputs spend
// outputs of the genesis.
func TestEverySourceOfMainnetsFirstChunkGivesOneDatabase(t *testing.T) {
	slow(t)
	t.Parallel()
	chunk := testblocks.Path(t, "cardano", "daedalus-turbo", "chunk-registry", "compressed", "chunk", "526D*.zstd")
	dir := t.TempDir()
	db := filepath.Join(dir, "db")
	ask(t, nil, "sync", "--chain", "cardano", "--source", "file://"+chunk, "--db", db)
	var status query.StatusAnswer
	ask(t, &status, "status", "--db", db)
	if s := status.Totals; s.Blocks != 21_587 || s.Txs != 33 || s.Inputs != 38 || s.Outputs != 52 || s.GenesisOutputs != 14_505 {
		t.Errorf("%+v", s)
	}
	consistent(t, db)
	digest := digestOf(t, db)
	blocks, err := ouroborostest.Chunks(chunk)
	if err != nil {
		t.Fatal(err)
	}
	for side, source := range sides(ouroborostest.Start(t, 764824073, blocks)) {
		again := filepath.Join(dir, side)
		ask(t, nil, "sync", "--chain", "cardano", "--network", testblocks.Path(t, "cardano", "genesis", "mainnet"), "--source", source, "--db", again)
		same(t, again, digest)
	}
	var verified verify.Result
	if ask(t, &verified, "verify", "--db", db, "--source", "file://"+chunk, "--sample", "500"); verified.Blocks != 502 || verified.Txs < 14_505 {
		t.Errorf("%+v", verified)
	}
}

// The header of a block in text and in JSON.
func TestHeadersOfCardanoArePrinted(t *testing.T) {
	t.Parallel()
	db := filepath.Join(t.TempDir(), "db")
	ask(t, nil, "sync", "--chain", "cardano", "--network", "preview", "--source", "file://"+testblocks.Path(t, "cardano", "dingo-immutable"), "--db", db, "--to-height", "5")
	golden(t, "cardano_block.txt", birthmark("block", "--db", db, "3").stdout)
	golden(t, "cardano_block.json", birthmark("block", "--db", db, "3", "--json").stdout)
}

func TestHeadersOfByronArePrinted(t *testing.T) {
	t.Parallel()
	epoch := uint64(3)
	for _, h := range []struct {
		header cardano.Header
		want   string
	}{
		{cardano.Header{Era: "byron", Boundary: true, Epoch: &epoch, Slot: 64_800, BlockNumber: 64_000}, "era    byron, boundary between two epochs\nepoch  3\nslot   64800\n\n"},
		{cardano.Header{Era: "byron", Epoch: &epoch, Slot: 64_801, IssuerVkey: "ab", ProtocolVersion: "1.0"}, "era               byron\nepoch             3\nslot              64801\nprotocol version  1.0\nissuer key        ab\n\n"},
	} {
		if got := rendered(t, func(p *terminal.Page) { showBlock(p, &query.BlockAnswer{Height: 7, Header: &h.header}) }); !strings.Contains(got, h.want) {
			t.Errorf("%s, expected %s", got, h.want)
		}
	}
}
