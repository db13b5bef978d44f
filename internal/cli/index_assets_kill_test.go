package cli

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os/exec"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/btcsuite/btcd/wire/v2"

	"birthmark/chains/bitcoin/runes"
	"birthmark/internal/control"
	"birthmark/internal/testnode/bitcointest"
	"birthmark/internal/testnode/onesattest"
	"birthmark/internal/testseed"
	"birthmark/model"
)

// Assets are added to a database with statistics by processes that are killed at random moments. Between them blocks are
// synced and rolled back, and the assets are dropped and added again. The database is consistent after each kill, and at
// the end it equals one that was created with the assets.
func TestKillsWhileAssetsAreAdded(t *testing.T) {
	slow(t)
	t.Parallel()
	rng := testseed.Rand(t)
	dir := t.TempDir()
	files := map[string]string{}
	for name, made := range map[string]func(*rand.Rand, int) []*wire.MsgBlock{"bitcoin": runesChain, "bitcoin-sv": onesatChain} {
		files[name] = filepath.Join(dir, name+".dat")
		write(t, files[name], string(bitcointest.BlockFile(wire.TestNet, made(testseed.Rand(t), killedBlocks)...)))
	}
	for _, of := range []struct{ assets, chain string }{
		{"runes", "bitcoin"}, {"1sat", "bitcoin-sv"}, {"bsv21", "bitcoin-sv"}, {"ordinals", "bitcoin-sv"},
	} {
		t.Run(of.assets, func(t *testing.T) {
			k := &assetsKilled{rng: rng, assets: of.assets, source: "file://" + files[of.chain]}
			k.args = []string{"--chain", of.chain, "--network", "regtest", "--source", k.source, "--index", "address,statistics"}
			k.run(t, filepath.Join(dir, of.assets))
		})
	}
}

const killedBlocks = 500

type assetsKilled struct {
	rng            *rand.Rand
	assets, source string
	args           []string // of sync
	kills          int
}

func (k *assetsKilled) run(t *testing.T, dir string) {
	whole, timed := filepath.Join(dir, "whole"), filepath.Join(dir, "timed")
	k.sync(t, whole, 0, "--assets", k.assets)
	digest := digestOf(t, whole)
	k.sync(t, timed, 0, "--assets", "off")
	began := time.Now()
	k.change(t, timed, "add", 0)
	took := time.Since(began)
	same(t, timed, digest)
	for n := 0; n < 6 && k.kills < 3 && !t.Failed(); n++ { // a process can end before it is killed
		k.round(t, filepath.Join(dir, fmt.Sprint(n)), digest, took)
	}
	t.Logf("%s: %d processes were killed, one that was not takes %v", k.assets, k.kills, took)
}

// round adds the assets to a new database.
func (k *assetsKilled) round(t *testing.T, db, digest string, took time.Duration) {
	k.sync(t, db, killedBlocks/2+k.rng.IntN(killedBlocks/3), "--assets", "off")
	for n := 0; n < 10 && !t.Failed(); n++ {
		do, x := "add", listed(t, db, k.assets)
		if n == 4 && (x == nil || len(x.Adding) == 0) {
			break
		}
		if n == 4 || x != nil && x.Dropping { // the next one adds them from the first block
			do = "drop"
		}
		k.change(t, db, do, time.Duration(k.rng.Int64N(int64(took*3/4))))
		consistent(t, db)
		if x := listed(t, db, k.assets); x != nil && len(x.Adding) == 0 && !x.Dropping {
			break // it is complete
		}
		switch k.rng.IntN(4) {
		case 0:
			k.sync(t, db, killedBlocks-k.rng.IntN(killedBlocks/8))
		case 1:
			ask(t, nil, "rollback", "--db", db, "--to-height", fmt.Sprint(max(10, tipHeight(t, db)-k.rng.IntN(killedBlocks/4))), "--yes")
		}
		consistent(t, db)
	}
	if x := listed(t, db, k.assets); x != nil && x.Dropping {
		k.change(t, db, "drop", 0)
	}
	if x := listed(t, db, k.assets); x == nil || len(x.Adding) > 0 {
		k.change(t, db, "add", 0)
	}
	k.sync(t, db, 0, "--assets", k.assets)
	same(t, db, digest)
	consistent(t, db)
}

// sync syncs up to a height; 0: all blocks.
func (k *assetsKilled) sync(t *testing.T, db string, to int, args ...string) {
	t.Helper()
	args = slices.Concat([]string{"sync", "--db", db}, k.args, args)
	if to > 0 {
		args = append(args, "--to-height", fmt.Sprint(to))
	}
	ask(t, nil, args...)
}

// change adds or drops the assets in a process, which is killed after some time; 0: never.
func (k *assetsKilled) change(t *testing.T, db, do string, after time.Duration) {
	t.Helper()
	args := []string{"index", do, k.assets, "--db", db}
	if do == "add" {
		args = append(args, "--source", k.source)
	}
	cmd, stdout, stderr := process(t, -1, args...)
	cmd.Env = append(cmd.Env, stepVariable+"=20")
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	kill := make(<-chan time.Time)
	if after > 0 {
		kill = time.After(after)
	}
	var err error
	select {
	case err = <-ended:
	case <-kill:
		_ = cmd.Process.Kill()
		if err = <-ended; err != nil {
			k.kills++
			err = nil
		}
	}
	if exit := (*exec.ExitError)(nil); errors.As(err, &exit) {
		t.Fatalf("%s of %s: %v: %s%s", do, k.assets, err, stdout, stderr)
	}
}

// While another process syncs the database, assets are not added: the error names what to do. Afterwards they are.
func TestAssetsAreNotAddedDuringASync(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	file, db := filepath.Join(dir, "blk00000.dat"), filepath.Join(dir, "db")
	write(t, file, string(bitcointest.BlockFile(wire.TestNet, runesChain(testseed.Rand(t), 30)...)))
	args := []string{"--source", "file://" + file, "--db", db}
	ask(t, nil, append([]string{"sync", "--chain", "bitcoin", "--network", "regtest", "--assets", "off", "--index", "address"}, args...)...)
	running, _, stderr := process(t, -1, append([]string{"sync", "--follow"}, args...)...)
	if err := running.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() {
		_ = running.Process.Kill()
		_ = running.Wait()
	}()
	until(t, "the sync to listen", func() bool {
		_, err := control.Ask(context.Background(), db, control.Request{Do: control.State})
		return err == nil
	})
	add := append([]string{"index", "add", "runes"}, args...)
	wantFailure(t, exitUsage, "busy", `^assets cannot be added while another process syncs or serves the database: stop it, run birthmark index add runes again`,
		add...)
	_ = running.Process.Kill()
	if _ = running.Wait(); t.Failed() {
		t.Logf("%s", stderr)
	}
	ask(t, nil, add...)
	if x := listed(t, db, "runes"); x == nil || len(x.Adding) > 0 {
		t.Errorf("%+v", x)
	}
	consistent(t, db)
}

// onesatChain is random blocks with tokens and ordinals.
func onesatChain(rng *rand.Rand, blocks int) []*wire.MsgBlock {
	w := onesattest.NewWorld(rng)
	for range blocks {
		w.Next(8)
	}
	return w.Blocks()
}

// runesChain is random blocks in which runes are created, minted, moved and burned.
func runesChain(rng *rand.Rand, blocks int) []*wire.MsgBlock {
	taproot := func(n byte) []byte { return append([]byte{0x51, 32}, bytes.Repeat([]byte{n}, 32)...) }
	chain := bitcointest.NewChain()
	chain.PayTo = taproot(1)
	var ids []runes.ID
	type coin struct {
		tx    *wire.MsgTx
		n     uint32
		block int
	}
	var coins []coin
	for chain.Height() < blocks {
		var txs []*wire.MsgTx
		for range rng.IntN(8) {
			if len(coins) == 0 {
				break
			}
			i := rng.IntN(len(coins))
			from := coins[i]
			coins = slices.Delete(coins, i, i+1)
			value := from.tx.TxOut[from.n].Value / 2
			if value < 10 {
				continue
			}
			s := &runes.Runestone{}
			var witness wire.TxWitness
			switch mature := from.block+6 <= chain.Height(); {
			case rng.IntN(8) == 0 && mature:
				name, _, _ := runes.ParseSpaced(fmt.Sprintf("BIRTHMARK%c%c%c%c%c", 'A'+rng.IntN(26), 'A'+rng.IntN(26), 'A'+rng.IntN(26),
					'A'+rng.IntN(26), 'A'+rng.IntN(26)))
				s.Etching = &runes.Etching{Name: runes.Some(name), Premine: model.Uint128Of(rng.Uint64N(3) * 1000), Terms: runes.Some(runes.Terms{
					Amount: runes.Some(model.Uint128Of(50)), Cap: runes.Some(model.Uint128Of(rng.Uint64N(100))),
				})}
				commitment := name.Commitment()
				leaf := append([]byte{byte(len(commitment))}, commitment...)
				witness = wire.TxWitness{leaf, append([]byte{0xc0}, make([]byte, 32)...)}
				ids = append(ids, runes.ID{Block: uint64(chain.Height() + 1), Tx: uint32(len(txs) + 1)})
			case len(ids) > 0 && rng.IntN(2) == 0:
				s.Mint = runes.Some(ids[rng.IntN(len(ids))])
			case len(ids) > 0:
				for range rng.IntN(3) {
					edict := runes.Edict{ID: ids[rng.IntN(len(ids))], Amount: model.Uint128Of(rng.Uint64N(60)), Output: uint32(rng.IntN(3))}
					s.Edicts = append(s.Edicts, edict)
				}
			}
			outputs := []*wire.TxOut{
				wire.NewTxOut(value, taproot(byte(2+rng.IntN(4)))), wire.NewTxOut(value, taproot(byte(2+rng.IntN(4)))),
				wire.NewTxOut(0, s.Script()),
			}
			if rng.IntN(3) == 0 { // no message: runes move to the first output
				outputs = outputs[:2]
			}
			tx := bitcointest.Spend(from.tx, from.n, outputs...)
			tx.TxIn[0].Witness = witness
			txs = append(txs, tx)
		}
		b := chain.Mine(txs...)
		coins = append(coins, coin{b.Transactions[0], 0, chain.Height()})
		for _, tx := range txs {
			coins = append(coins, coin{tx, 0, chain.Height()}, coin{tx, 1, chain.Height()})
		}
	}
	return chain.Blocks()
}
