package main

import (
	"path/filepath"
	"testing"

	"birthmark/core"
	"birthmark/model/realdata"
)

const everyCardanoIndex = "address,payment_credential,stake_credential,script_hash,datum_hash,policy"

// The first 50,940 blocks of preview from a node's immutable database. Whatever way a database took, it is the same.
func TestPreviewFromAnImmutableDatabase(t *testing.T) {
	source := "file://" + realdata.Path(t, "cardano", "dingo-immutable")
	dir := t.TempDir()
	args := func(db string, more ...string) []string {
		return append([]string{"sync", "--chain", "cardano", "--network", "preview", "--source", source, "--db", db, "--index", everyCardanoIndex}, more...)
	}
	whole, parts := filepath.Join(dir, "whole"), filepath.Join(dir, "parts")
	ask(t, nil, args(whole)...)
	var status core.StatusAnswer
	ask(t, &status, "status", "--db", whole)
	expected := core.TotalsAnswer{
		Blocks: 50_940, Txs: 10_813, Inputs: 13_294, Outputs: 43_830, Assets: 16_117, GenesisOutputs: 8, Unspent: 30_544, UnspentValue: "29999972544145248",
	}
	if status.Totals != expected {
		t.Errorf("totals %+v, expected %+v", status.Totals, expected)
	}
	check(t, whole)

	for _, height := range []string{"0", "3", "20000", "50939"} {
		ask(t, nil, args(parts, "--to-height", height)...)
	}
	same(t, parts, digestOf(t, whole))
	ask(t, nil, "rollback", "--db", parts, "--to-height", "100")
	ask(t, nil, args(parts)...)
	same(t, parts, digestOf(t, whole))
}

// Mainnet from genesis over its first chunk: a boundary block first, and inputs that spend what redeem keys were given.
func TestMainnetsFirstChunk(t *testing.T) {
	chunk := realdata.Path(t, "cardano", "daedalus-turbo", "chunk-registry", "compressed", "chunk", "526D*.zstd")
	dir := t.TempDir()
	db, again := filepath.Join(dir, "db"), filepath.Join(dir, "again")
	ask(t, nil, "sync", "--chain", "cardano", "--source", "file://"+chunk, "--db", db)
	var status core.StatusAnswer
	ask(t, &status, "status", "--db", db)
	if s := status.Totals; s.Blocks != 21_587 || s.Txs != 33 || s.Inputs != 38 || s.Outputs != 52 || s.GenesisOutputs != 14_505 {
		t.Errorf("%+v", s)
	}
	check(t, db)
	ask(t, nil, "sync", "--chain", "cardano", "--network", realdata.Path(t, "cardano", "genesis", "mainnet"), "--source", "file://"+chunk, "--db", again)
	same(t, again, digestOf(t, db))
	var verified core.VerifyAnswer
	if ask(t, &verified, "verify", "--db", db, "--source", "file://"+chunk, "--sample", "500"); verified.Blocks != 502 || verified.Txs < 14_505 {
		t.Errorf("%+v", verified)
	}
}
