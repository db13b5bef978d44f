package bitcoin

import (
	"crypto/sha256"
	"slices"
	"sync"

	"github.com/btcsuite/btcd/address/v2"

	"birthmark/chains/bitcoin/block"
	"birthmark/chains/bitcoin/descriptor"
	"birthmark/chains/bitcoin/params"
	"birthmark/model"
)

// Descriptors returns the properties of a network that extended keys and descriptors depend on. All but the main network
// of a coin use the keys of test networks.
func Descriptors(n *params.Network) *descriptor.Network {
	return &descriptor.Network{
		Name: n.FullName(), Coin: n.Coin.Name, Test: n != n.Coin.Networks[0],
		Script: func(address string) ([]byte, error) { return (&chain{net: n}).AddressScript(address) },
	}
}

// ReadWallet implements [model.WalletReader]. The indexes address and script_hash have wallets. The address of a public
// key is that of its hash, so in the index address a wallet of P2PKH outputs has the P2PK outputs of its keys, too.
func (c *chain) ReadWallet(index, text string) (model.Wallet, error) {
	if index != walletAddresses && index != walletScripts || !descriptor.IsMeant(text) {
		return nil, nil
	}
	if w := c.wallets.get(index, text); w != nil {
		return w, nil
	}
	d, err := descriptor.Parse(text, Descriptors(c.net))
	if err != nil {
		return nil, err
	}
	w := &wallet{Descriptor: d, value: scriptHashOf}
	if index == walletAddresses {
		w.value = addressOf(c.net)
	}
	if values, _, err := w.Values(0, 0); err == nil && len(values) == 0 {
		return nil, model.Errorf(model.Usage, "bad_wallet", "the outputs of this descriptor have no address on %s: "+
			"index %s has them", c.net.FullName(), walletScripts)
	}
	c.wallets.put(index, text, w)
	return w, nil
}

// The indexes of wallets.
const (
	walletAddresses = "address"
	walletScripts   = "script_hash"
)

// wallet is the values of an index that a descriptor's scripts have.
type wallet struct {
	*descriptor.Descriptor
	value func(script []byte) []byte // nil: the script has none
}

// Values implements [model.Wallet].
func (w *wallet) Values(branch, position int) (values [][]byte, derived int, err error) {
	scripts, derived, err := w.Scripts(branch, position)
	for _, s := range scripts {
		v := w.value(s)
		if len(v) > 0 && !slices.ContainsFunc(values, func(other []byte) bool { return string(other) == string(v) }) {
			values = append(values, v)
		}
	}
	return values, derived, err
}

func scriptHashOf(script []byte) []byte {
	sum := sha256.Sum256(script)
	return sum[:]
}

// addressOf returns a function that returns the stored address of a script.
func addressOf(n *params.Network) func(script []byte) []byte {
	return func(script []byte) []byte {
		kind, payload := n.Coin.Format.Classify(script)
		if kind == block.PubKey {
			return append([]byte{toKeyHash}, address.Hash160(payload)...)
		}
		return new(emitter).appendAddress(nil, kind, script, payload)
	}
}

// keptScripts is the maximum number of scripts that all wallets of a chain keep, of about 100 bytes each.
const keptScripts = 200_000

// wallets keeps the wallets that were used last with the scripts that they have derived. It is safe for concurrent use.
type wallets struct {
	mu   sync.Mutex
	used []keptWallet // the one used last at the end
}

type keptWallet struct {
	index, text string
	*wallet
}

// get returns a wallet; nil if it is not kept.
func (ws *wallets) get(index, text string) model.Wallet {
	ws.mu.Lock()
	defer ws.mu.Unlock()
	for i, k := range ws.used {
		if k.index == index && k.text == text {
			ws.used = append(slices.Delete(ws.used, i, i+1), k)
			ws.evict()
			return k.wallet
		}
	}
	return nil
}

// put keeps a wallet.
func (ws *wallets) put(index, text string, w *wallet) {
	ws.mu.Lock()
	defer ws.mu.Unlock()
	ws.used = append(ws.used, keptWallet{index, text, w})
	ws.evict()
}

// evict drops the wallets that were not used for longest, as long as all have too many scripts. It keeps the last one.
func (ws *wallets) evict() {
	const least = 100 // the memory of a wallet without scripts, in scripts
	sum := 0
	for i, k := range slices.Backward(ws.used) {
		if sum += least + k.Kept(); sum > keptScripts && i < len(ws.used)-1 {
			ws.used = slices.Clone(ws.used[i+1:])
			return
		}
	}
}
