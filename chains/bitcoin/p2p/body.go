package p2p

import (
	"errors"
	"fmt"

	"github.com/btcsuite/btcd/blockchain"
	"github.com/btcsuite/btcd/btcutil/v2"
	"github.com/btcsuite/btcd/chainhash/v2"
	"github.com/btcsuite/btcd/wire/v2"

	"birthmark/chains/bitcoin/block"
)

// checkBody returns an error if the transactions do not fit the header, which is the requested one. raw is the
// serialized msg. The sender is at fault, since the header commits to everything.
func checkBody(msg *wire.MsgBlock, raw []byte, segwit bool) error {
	if size := msg.SerializeSize(); size != len(raw) {
		return fmt.Errorf("it has %d bytes, but its transactions have %d", len(raw), size)
	}
	if len(msg.Transactions) == 0 || !blockchain.IsCoinBaseTx(msg.Transactions[0]) {
		return errors.New("it does not begin with a coinbase")
	}
	b := btcutil.NewBlockFromBlockAndBytes(msg, raw)
	txs := b.Transactions()
	ids := make([]chainhash.Hash, len(txs))
	for i, tx := range txs {
		ids[i] = *tx.Hash()
	}
	root, repeats := block.MerkleRoot(ids)
	if root != msg.Header.MerkleRoot {
		return fmt.Errorf("its transactions have the merkle root %s, its header has %s", root, msg.Header.MerkleRoot)
	}
	if repeats {
		return errors.New("its transactions repeat: another list of them has the same merkle root")
	}
	if _, commits := blockchain.ExtractWitnessCommitment(txs[0]); commits && !segwit && !hasWitness(msg) {
		return nil
	}
	err := blockchain.ValidateWitnessCommitment(b)
	if rule, ok := errors.AsType[blockchain.RuleError](err); ok && rule.ErrorCode == blockchain.ErrWitnessCommitmentMismatch {
		return errors.New("its witnesses do not match the commitment in its coinbase") // btcd's text contains the bytes
	}
	return err
}

func hasWitness(msg *wire.MsgBlock) bool {
	for _, tx := range msg.Transactions {
		if tx.HasWitness() {
			return true
		}
	}
	return false
}
