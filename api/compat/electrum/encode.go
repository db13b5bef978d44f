package electrum

import (
	"encoding/hex"
	"encoding/json"
	"strconv"

	"birthmark/api/compat/script"
	"birthmark/model"
)

// appendHex appends bytes in hex.
func appendHex(b, raw []byte) []byte { return hex.AppendEncode(b, raw) }

// appendID appends a hash as it is displayed: its bytes reversed.
func appendID(b []byte, h model.Hash) []byte { return script.AppendHash(b, h) }

func appendUint(b []byte, n uint64) []byte { return strconv.AppendUint(b, n, 10) }

func appendInt(b []byte, n int64) []byte { return strconv.AppendInt(b, n, 10) }

// appendString appends a string as JSON.
func appendString(b []byte, s string) []byte {
	text, _ := json.Marshal(s) // cannot fail
	return append(b, text...)
}

// appendError appends the answer that a request failed.
func appendError(b, id []byte, e *rpcError) []byte {
	b = append(b, `{"jsonrpc":"2.0","id":`...)
	b = append(b, id...)
	b = append(b, `,"error":{"code":`...)
	b = appendInt(b, int64(e.code))
	b = append(b, `,"message":`...)
	b = appendString(b, e.message)
	return append(b, "}}"...)
}

// appendHashes appends a list of hashes.
func appendHashes(b []byte, hashes []model.Hash) []byte {
	b = append(b, '[')
	for i, h := range hashes {
		if i > 0 {
			b = append(b, ',')
		}
		b = append(b, '"')
		b = appendID(b, h)
		b = append(b, '"')
	}
	return append(b, ']')
}
