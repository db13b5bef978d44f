package cache

import (
	"birthmark/core/schema"
	"birthmark/model"
)

// AssetTxs has 4 bits per transaction of the newest blocks: which of its outputs have assets. Most inputs of a chain with
// derived assets spend outputs without assets, and need no lookup then. The bits of the oldest blocks are dropped if they
// exceed the limit.
type AssetTxs struct {
	first model.HeightPk // height of pages[0]
	pages [][]uint64     // by height
	words int            // of all pages
	limit int            // of words
}

const (
	assetTxBits = 4 // of a transaction: 0 if no output has assets, n+1 if only output n may have some, else severalOutputs
	txsPerWord  = 64 / assetTxBits
	// severalOutputs: any output may have assets.
	severalOutputs = 1<<assetTxBits - 1

	// assetTxShare: the bits take at most this part of the memory of the caches, in addition to it.
	assetTxShare = 32
	// minAssetTxWords is the least limit: 1 MiB.
	minAssetTxWords = 1 << 17
)

// Begin adds the block at height h with n transactions, of which none has assets yet. It drops the blocks at h and later.
func (a *AssetTxs) Begin(h model.HeightPk, n int) {
	a.DropFrom(h)
	if next := a.first + model.HeightPk(len(a.pages)); len(a.pages) == 0 || next > h {
		a.first = h
	} else {
		for ; next < h; next++ {
			a.pages = append(a.pages, nil) // heights without transactions
		}
	}
	page := make([]uint64, (n+txsPerWord-1)/txsPerWord)
	a.pages, a.words = append(a.pages, page), a.words+len(page)
	for a.words > a.limit && len(a.pages) > 1 {
		a.words -= len(a.pages[0])
		a.pages, a.first = a.pages[1:], a.first+1
	}
}

// Add marks an output of a block that was begun.
func (a *AssetTxs) Add(utxo model.UtxoPk) {
	tx, output := utxo.Tx(), utxo.Index()
	at := a.pages[tx.Height()-a.first]
	word, shift := &at[tx.TxIndex()/txsPerWord], tx.TxIndex()%txsPerWord*assetTxBits
	is := uint64(severalOutputs)
	if *word>>shift&severalOutputs == 0 && output < severalOutputs-1 {
		is = uint64(output) + 1
	}
	*word |= severalOutputs << shift
	*word ^= (severalOutputs ^ is) << shift
}

// May reports whether an output may have assets: known is false if its block was dropped.
func (a *AssetTxs) May(utxo model.UtxoPk) (may, known bool) {
	tx := utxo.Tx()
	h := tx.Height()
	if h < a.first || int(h-a.first) >= len(a.pages) {
		return true, false
	}
	page, word := a.pages[h-a.first], tx.TxIndex()/txsPerWord
	if word >= len(page) {
		return false, true
	}
	is := int(page[word] >> (tx.TxIndex() % txsPerWord * assetTxBits) & severalOutputs)
	return is == severalOutputs || is == utxo.Index()+1, true
}

// DropFrom drops the blocks at height h and later.
func (a *AssetTxs) DropFrom(h model.HeightPk) {
	for len(a.pages) > 0 && a.first+model.HeightPk(len(a.pages)) > h {
		last := len(a.pages) - 1
		a.words -= len(a.pages[last])
		a.pages = a.pages[:last]
	}
}

// Tokens has the state of derived assets after the last batch that was resolved. An error or a rollback clears it.
type Tokens struct {
	states map[model.AssetBirthPk]*model.Token
	count  uint64 // of all assets
	known  bool   // count is known

	held, older map[model.UtxoPk]Held // unspent outputs with one asset: the newest, and those before them
	limit       int                   // of outputs in each; at least minHeld
	holders     *schema.Index         // of the holders in both
}

const (
	// maxTokens bounds the states; a state takes some 300 bytes.
	maxTokens = 1 << 16
	// heldBytes is the memory that an output with an asset takes. All of them take at most heldShare of the memory of the
	// caches, in addition to it, or minHeld outputs.
	heldBytes = 80
	heldShare = 32
	minHeld   = 16
)

func heldLimit(bytes int64) int { return int(bytes / heldShare / heldBytes / 2) }

// Held is an unspent output with one asset entry.
type Held struct {
	Asset     model.AssetBirthPk
	Amount    model.Uint128
	Holder    model.UtxoPk // birth of the holder
	HasHolder bool
}

// State returns the state of an asset; nil if it is not in memory. The caller may change it.
func (t *Tokens) State(birth model.AssetBirthPk) *model.Token { return t.states[birth] }

// Put stores the state of an asset.
func (t *Tokens) Put(birth model.AssetBirthPk, token *model.Token) {
	if t.states == nil || len(t.states) >= maxTokens {
		t.states = map[model.AssetBirthPk]*model.Token{}
	}
	t.states[birth] = token
}

// Count returns the number of all assets; known is false if it must be read.
func (t *Tokens) Count() (n uint64, known bool) { return t.count, t.known }

// SetCount sets the number of all assets.
func (t *Tokens) SetCount(n uint64) { t.count, t.known = n, true }

// Hold stores an output. holders is the index of its holder, which may be nil.
func (t *Tokens) Hold(utxo model.UtxoPk, h Held, holders *schema.Index) {
	if t.holders != holders {
		t.held, t.older, t.holders = nil, nil, holders
	}
	if t.held == nil || len(t.held) >= max(t.limit, minHeld) {
		t.held, t.older = map[model.UtxoPk]Held{}, t.held
	}
	t.held[utxo] = h
}

// Spend removes an output and returns it; ok is false if it is not in memory.
func (t *Tokens) Spend(utxo model.UtxoPk, holders *schema.Index) (h Held, ok bool) {
	if t.holders != holders {
		return h, false
	}
	for _, m := range []map[model.UtxoPk]Held{t.held, t.older} {
		if h, ok = m[utxo]; ok {
			delete(m, utxo)
			return h, true
		}
	}
	return h, false
}

// Clear forgets everything.
func (t *Tokens) Clear() { *t = Tokens{limit: t.limit} }
