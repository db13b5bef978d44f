package api

import (
	"encoding/json"
	"sync"

	"birthmark/core/query"
)

// buffer holds an encoded answer. The command line prints the same bytes.
type buffer struct {
	text    []byte
	general *json.Encoder // writes to text
}

var buffers = sync.Pool{New: func() any { return newBuffer() }}

func newBuffer() *buffer {
	b := &buffer{}
	b.general = json.NewEncoder(b)
	b.general.SetEscapeHTML(false)
	return b
}

// maxPooled is the capacity of the largest buffer that is pooled.
const maxPooled = 1 << 20

func (b *buffer) release() {
	if cap(b.text) <= maxPooled {
		b.text = b.text[:0]
		buffers.Put(b)
	}
}

// Write implements [io.Writer].
func (b *buffer) Write(text []byte) (int, error) {
	b.text = append(b.text, text...)
	return len(text), nil
}

// encode writes a document and a newline. Frequent types have functions that write the same bytes as [encoding/json] in
// a quarter of the time.
func (b *buffer) encode(v any) error {
	switch v := v.(type) {
	case encoded:
		b.text = append(b.text, v...)
		return nil
	case *query.TxAnswer:
		b.text = appendTx(b.text, v)
	case *query.OutputAnswer:
		b.text = appendOutput(b.text, v)
	case *query.FindAnswer:
		b.text = appendFind(b.text, v)
	case *query.HistoryAnswer:
		b.text = appendHistory(b.text, v)
	case *query.HistoryTxAnswer:
		b.text = appendHistoryTx(b.text, v)
	case *query.BalanceAnswer:
		b.text = appendBalance(b.text, v)
	case *OutputsAnswer:
		b.text = append(appendList(append(b.text, `{"outputs":`...), v.Outputs, orNone(appendOutput)), '}')
	case *TxsAnswer:
		b.text = append(appendList(append(b.text, `{"txs":`...), v.Txs, orNone(appendTx)), '}')
	case *query.BlockAnswer:
		return b.block(v)
	default:
		return b.general.Encode(v)
	}
	b.text = append(b.text, '\n')
	return nil
}

// block writes a block. The type of the header depends on the chain.
func (b *buffer) block(a *query.BlockAnswer) error {
	b.text = append(appendBlock(b.text, a), `,"header":`...)
	if err := b.general.Encode(a.Header); err != nil {
		return err
	}
	b.text = append(b.text[:len(b.text)-1], "}\n"...)
	return nil
}
