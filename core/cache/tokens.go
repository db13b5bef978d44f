package cache

import "birthmark/model"

// AssetTxs has one bit per transaction of the newest blocks: whether it has outputs with assets. Most inputs of a chain
// with derived assets spend outputs without assets, and need no lookup then. The bits of the oldest blocks are dropped
// if they exceed the limit.
type AssetTxs struct {
	first model.HeightPk // height of pages[0]
	pages [][]uint64     // by height
	words int            // of all pages
	limit int            // of words
}

const (
	wordBits = 64
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
	page := make([]uint64, (n+wordBits-1)/wordBits)
	a.pages, a.words = append(a.pages, page), a.words+len(page)
	for a.words > a.limit && len(a.pages) > 1 {
		a.words -= len(a.pages[0])
		a.pages, a.first = a.pages[1:], a.first+1
	}
}

// Add marks a transaction of a block that was begun.
func (a *AssetTxs) Add(tx model.TxPk) {
	a.pages[tx.Height()-a.first][tx.TxIndex()/wordBits] |= 1 << (tx.TxIndex() % wordBits)
}

// May reports whether a transaction may have outputs with assets: known is false if its block was dropped.
func (a *AssetTxs) May(tx model.TxPk) (may, known bool) {
	h := tx.Height()
	if h < a.first || int(h-a.first) >= len(a.pages) {
		return true, false
	}
	page, word := a.pages[h-a.first], tx.TxIndex()/wordBits
	return word < len(page) && page[word]>>(tx.TxIndex()%wordBits)&1 == 1, true
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
}

// maxTokens bounds the states; a state takes some 300 bytes.
const maxTokens = 1 << 16

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

// Clear forgets everything.
func (t *Tokens) Clear() { *t = Tokens{} }
