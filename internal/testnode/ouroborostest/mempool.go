package ouroborostest

import (
	"bytes"
	"fmt"
	"slices"

	"github.com/blinklabs-io/gouroboros/ledger"
	"github.com/blinklabs-io/gouroboros/protocol/localtxmonitor"
	"github.com/blinklabs-io/gouroboros/protocol/localtxsubmission"
)

// Tx is an unconfirmed transaction of a node.
type Tx struct {
	Era uint   // 1 Shelley … 6 Conway
	Raw []byte // as a wallet submits it
}

// mempoolCapacity is the size in bytes that the node reports. The mempool may exceed it.
const mempoolCapacity = 178_176

// Txs returns the transactions of a block since Shelley as a mempool has them.
func (b Block) Txs() ([]Tx, error) {
	block, err := ledger.NewBlockFromCbor(b.Type, b.CBOR)
	if err != nil {
		return nil, err
	}
	var txs []Tx
	for _, tx := range block.Transactions() {
		txs = append(txs, Tx{b.Type - 1, tx.Cbor()})
	}
	return txs, nil
}

// Mempool returns the unconfirmed transactions in their order.
func (n *Node) Mempool() []Tx {
	n.mu.Lock()
	defer n.mu.Unlock()
	return slices.Clone(n.pool)
}

// SetMempool replaces the unconfirmed transactions.
func (n *Node) SetMempool(txs ...Tx) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.pool = slices.Clone(txs)
	n.poolChanged()
}

// poolChanged answers the clients that wait for a change of the mempool. The caller holds the lock.
func (n *Node) poolChanged() {
	n.poolVersion++
	n.poolMoved.Broadcast()
}

// confirm removes the transactions of new blocks from the mempool. The caller holds the lock.
func (n *Node) confirm(blocks []Block) {
	if len(n.pool) == 0 {
		return
	}
	left := slices.DeleteFunc(slices.Clone(n.pool), func(tx Tx) bool {
		return slices.ContainsFunc(blocks, func(b Block) bool { return bytes.Contains(b.CBOR, tx.body()) })
	})
	if len(left) < len(n.pool) {
		n.pool = left
		n.poolChanged()
	}
}

// body returns the body of a transaction, which a block contains unchanged.
func (tx *Tx) body() []byte {
	all, err := items(tx.Raw, 3)
	if err != nil {
		panic(fmt.Sprintf("a transaction of the mempool: %v", err))
	}
	return all[0]
}

// Refuse makes the node refuse submitted transactions: reason is CBOR, of which a node sends many kinds. With nil it
// accepts them again.
func (n *Node) Refuse(reason []byte) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.refusal = reason
}

// refusal is a reason in CBOR.
type refusal []byte

func (r refusal) Error() string                { return fmt.Sprintf("refused: %x", []byte(r)) }
func (r refusal) MarshalCBOR() ([]byte, error) { return r, nil }

// monitor is a client's view of the mempool. The node's lock guards it.
type monitor struct {
	node    *Node
	wire    *wire
	holds   bool   // a snapshot is acquired
	version uint64 // of that snapshot
}

// acquire waits for a change of the mempool if the client has a snapshot of the current one.
func (m *monitor) acquire(localtxmonitor.CallbackContext) (slot uint64, capacity uint32, txs []localtxmonitor.TxAndEraId, err error) {
	n := m.node
	n.count("acquire")
	n.mu.Lock()
	defer n.mu.Unlock()
	if m.wire.released.Swap(false) {
		m.holds = false
	}
	for m.holds && m.version == n.poolVersion && !m.wire.ended.Load() {
		n.poolMoved.Wait()
	}
	m.holds, m.version = true, n.poolVersion
	for _, tx := range n.pool {
		txs = append(txs, localtxmonitor.TxAndEraId{EraId: tx.Era, Tx: tx.Raw})
	}
	return n.tip().Point.Slot, mempoolCapacity, txs, nil
}

// submit adds a transaction to the mempool, unless it is refused. A transaction of another era than the tip's is.
func (n *Node) submit(_ localtxsubmission.CallbackContext, tx localtxsubmission.MsgSubmitTxTransaction) error {
	n.count("submit")
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.refusal != nil {
		return refusal(n.refusal)
	}
	if era := n.era(); uint(tx.EraId) != era {
		return &ledger.EraMismatch{OtherEra: eraInfo(uint(tx.EraId)), LedgerEra: eraInfo(era)}
	}
	raw, ok := tx.Raw.Content.([]byte)
	if !ok {
		return fmt.Errorf("a transaction of type %T", tx.Raw.Content)
	}
	if _, err := ledger.NewTransactionFromCbor(uint(tx.EraId), raw); err != nil {
		return fmt.Errorf("DecoderErrorDeserialiseFailure \"%w\"", err)
	}
	n.pool = append(slices.Clip(n.pool), Tx{uint(tx.EraId), raw})
	n.poolChanged()
	return nil
}

func eraInfo(era uint) ledger.EraInfo {
	return ledger.EraInfo{Index: uint8(era), Name: ledger.GetEraById(uint8(era)).Name}
}

// era returns the number of the era of the tip. The caller holds the lock.
func (n *Node) era() uint {
	if len(n.blocks) == 0 {
		return 0
	}
	return max(n.blocks[len(n.blocks)-1].Type, 1) - 1
}
