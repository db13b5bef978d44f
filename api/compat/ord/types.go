package ord

import (
	"strconv"

	"birthmark/api/compat/script"
	"birthmark/api/jsonappend"
	"birthmark/chains/bitcoin/runes"
	"birthmark/model"
)

// amount is a number of up to 128 bits, which JSON has without quotes.
type amount model.Uint128

// AppendJSON appends the digits.
func (a amount) AppendJSON(b []byte) []byte { return append(b, model.Uint128(a).String()...) }

// outpoint is TXID:N.
type outpoint struct {
	tx    model.Hash
	index uint32
}

func (o outpoint) String() string {
	return string(script.AppendHash(nil, o.tx)) + ":" + strconv.FormatUint(uint64(o.index), 10)
}

// AppendJSON appends the text.
func (o outpoint) AppendJSON(b []byte) []byte {
	return append(append(append(b, '"'), o.String()...), '"')
}

// entryValue is a rune (ord: src/index/entry.rs).
type entryValue struct {
	Block        uint64      `json:"block"`
	Burned       amount      `json:"burned"`
	Divisibility uint8       `json:"divisibility"`
	Etching      script.Hash `json:"etching"`
	Mints        uint64      `json:"mints"`
	Number       uint64      `json:"number"`
	Premine      amount      `json:"premine"`
	SpacedRune   string      `json:"spaced_rune"`
	Symbol       *string     `json:"symbol"`
	Terms        *termsValue `json:"terms"`
	Timestamp    uint64      `json:"timestamp"`
	Turbo        bool        `json:"turbo"`
}

type termsValue struct {
	Amount *amount    `json:"amount"`
	Cap    *amount    `json:"cap"`
	Height [2]*uint64 `json:"height"`
	Offset [2]*uint64 `json:"offset"`
}

func optional[T any](o runes.Option[T]) *T {
	if !o.OK {
		return nil
	}
	return &o.Value
}

func symbolOf(symbol runes.Option[rune]) *string {
	if !symbol.OK {
		return nil
	}
	text := string(symbol.Value)
	return &text
}

func termsOf(terms runes.Option[runes.Terms]) *termsValue {
	if !terms.OK {
		return nil
	}
	t := &terms.Value
	return &termsValue{
		(*amount)(optional(t.Amount)), (*amount)(optional(t.Cap)),
		[2]*uint64{optional(t.Height.Start), optional(t.Height.End)},
		[2]*uint64{optional(t.Offset.Start), optional(t.Offset.End)},
	}
}

type runeValue struct {
	Entry    *entryValue `json:"entry"`
	ID       string      `json:"id"`
	Mintable bool        `json:"mintable"`
	Parent   *string     `json:"parent"` // an inscription: null
}

type runesValue struct {
	Entries []pair `json:"entries"`
	More    bool   `json:"more"`
	Prev    *int   `json:"prev"`
	Next    *int   `json:"next"`
}

// pair is [id, entry].
type pair struct {
	id    string
	entry *entryValue
}

// AppendJSON appends the list.
func (p pair) AppendJSON(b []byte) []byte {
	b = jsonappend.Append(append(b, '['), p.id)
	return append(jsonappend.Append(append(b, ','), p.entry), ']')
}

// outputValue is an output.
type outputValue struct {
	Address       *string        `json:"address"`
	Confirmations uint32         `json:"confirmations"`
	Indexed       bool           `json:"indexed"`
	Inscriptions  *[]string      `json:"inscriptions"` // null
	Outpoint      outpoint       `json:"outpoint"`
	Runes         piles          `json:"runes"`
	SatRanges     *[]string      `json:"sat_ranges"` // null
	ScriptPubkey  jsonappend.Hex `json:"script_pubkey"`
	Spent         bool           `json:"spent"`
	Transaction   script.Hash    `json:"transaction"`
	Value         uint64         `json:"value"`
}

// assetsValue is the assets of an output.
type assetsValue struct {
	Inscriptions *[]string `json:"inscriptions"` // null
	Runes        piles     `json:"runes"`
	SatRanges    *[]string `json:"sat_ranges"` // null
	Value        uint64    `json:"value"`
}

// pile is an amount of a rune.
type pile struct {
	amount model.Uint128
	entry  *runes.Entry
}

// piles are the runes of an output. JSON has them in an object by their names, in the order of the numbers of the
// names.
type piles []pile

type pileValue struct {
	Amount       amount  `json:"amount"`
	Divisibility uint8   `json:"divisibility"`
	Symbol       *string `json:"symbol"`
}

// AppendJSON appends the object.
func (ps piles) AppendJSON(b []byte) []byte {
	b = append(b, '{')
	for i, p := range ps {
		if i > 0 {
			b = append(b, ',')
		}
		b = append(jsonappend.Append(b, p.entry.Name.Spaced(p.entry.Spacers)), ':')
		b = jsonappend.Append(b, &pileValue{amount(p.amount), p.entry.Divisibility, symbolOf(p.entry.Symbol)})
	}
	return append(b, '}')
}

type addressValue struct {
	Outputs       []outpoint      `json:"outputs"`
	Inscriptions  *[]string       `json:"inscriptions"` // null
	SatBalance    uint64          `json:"sat_balance"`
	RunesBalances []runesOfHolder `json:"runes_balances"`
}

// runesOfHolder is [name, amount with decimals, symbol].
type runesOfHolder pile

// AppendJSON appends the list.
func (p runesOfHolder) AppendJSON(b []byte) []byte {
	b = jsonappend.Append(append(b, '['), p.entry.Name.Spaced(p.entry.Spacers))
	b = jsonappend.Append(append(b, ','), decimal(p.amount, p.entry.Divisibility))
	return append(jsonappend.Append(append(b, ','), symbolOf(p.entry.Symbol)), ']')
}

type txValue struct {
	Chain            string      `json:"chain"`
	Etching          *string     `json:"etching"`
	InscriptionCount uint32      `json:"inscription_count"`
	Transaction      *messageTx  `json:"transaction"`
	TxID             script.Hash `json:"txid"`
}

// messageTx is a transaction as the library rust-bitcoin writes it.
type messageTx struct {
	Version  int32     `json:"version"`
	LockTime uint32    `json:"lock_time"`
	Input    []txInput `json:"input"`
	Output   []txOut   `json:"output"`
}

type txInput struct {
	PreviousOutput outpoint         `json:"previous_output"`
	ScriptSig      jsonappend.Hex   `json:"script_sig"`
	Sequence       uint32           `json:"sequence"`
	Witness        []jsonappend.Hex `json:"witness"`
}

type txOut struct {
	Value        uint64         `json:"value"`
	ScriptPubkey jsonappend.Hex `json:"script_pubkey"`
}

type statusValue struct {
	AddressIndex            bool     `json:"address_index"`
	BlessedInscriptions     uint64   `json:"blessed_inscriptions"`
	Chain                   string   `json:"chain"`
	CursedInscriptions      uint64   `json:"cursed_inscriptions"`
	Height                  *uint32  `json:"height"`
	InitialSyncTime         duration `json:"initial_sync_time"`
	InscriptionIndex        bool     `json:"inscription_index"`
	Inscriptions            uint64   `json:"inscriptions"`
	JSONAPI                 bool     `json:"json_api"`
	LostSats                uint64   `json:"lost_sats"`
	MinimumRuneForNextBlock string   `json:"minimum_rune_for_next_block"`
	RuneIndex               bool     `json:"rune_index"`
	Runes                   uint64   `json:"runes"`
	SatIndex                bool     `json:"sat_index"`
	Started                 string   `json:"started"`
	TransactionIndex        bool     `json:"transaction_index"`
	UnrecoverablyReorged    bool     `json:"unrecoverably_reorged"`
	Uptime                  duration `json:"uptime"`
}

type duration struct {
	Secs  int64 `json:"secs"`
	Nanos int64 `json:"nanos"`
}
