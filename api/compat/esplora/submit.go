package esplora

import (
	"encoding/hex"
	"encoding/json"
	"net/http"
	"strconv"
	"strings"

	"birthmark/api/compat/script"
	"birthmark/model"
)

// submit sends a transaction to the node: the body, or for older clients the parameter tx.
func submit(q *request) error {
	text := strings.TrimSpace(string(q.body))
	if q.r.Method != http.MethodPost {
		if text = q.param("tx"); text == "" {
			return errorf(http.StatusBadRequest, "Missing tx")
		}
	}
	raw, err := hex.DecodeString(text)
	if err != nil {
		return errHex
	}
	id, err := q.Chain.Submit(q.ctx, raw, model.SubmitOptions{})
	if err != nil {
		return err
	}
	q.maxAge, q.contentType = never, textType
	q.out = script.AppendHash(q.out, id)
	return nil
}

const (
	maxPackage = 25 // transactions
	// A transaction of a package has from minDigits to maxDigits-1 hex digits.
	minDigits, maxDigits = 120, 800_000
)

// rawTxs reads the body of a request for several transactions.
func (q *request) rawTxs() ([][]byte, error) {
	var texts []string
	if err := json.Unmarshal(q.body, &texts); err != nil {
		return nil, errorf(http.StatusBadRequest, "Expected a JSON array of hex strings: %s", err)
	}
	if len(texts) > maxPackage {
		return nil, errorf(http.StatusBadRequest, "Exceeded maximum of %d transactions", maxPackage)
	}
	raws := make([][]byte, len(texts))
	for i, text := range texts {
		if len(text) < minDigits || len(text) >= maxDigits {
			return nil, errorf(http.StatusBadRequest, "Invalid transaction size for item %d", i)
		}
		raw, err := hex.DecodeString(text)
		if err != nil {
			return nil, errorf(http.StatusBadRequest, "Invalid transaction hex for item %d", i)
		}
		raws[i] = raw
	}
	return raws, nil
}

func (q *request) submitOptions() (o model.SubmitOptions, err error) {
	for name, to := range map[string]*string{"maxfeerate": &o.MaxFeeRate, "maxburnamount": &o.MaxBurnAmount} {
		if *to = q.param(name); *to == "" {
			continue
		}
		if f, err := strconv.ParseFloat(*to, 64); err != nil || f < 0 || f > 21e6 {
			return o, errorf(http.StatusBadRequest, "Invalid %s", name)
		}
	}
	return o, nil
}

func submitPackage(q *request) error {
	return q.sendAll(q.Chain.SubmitPackage)
}

func testAccept(q *request) error {
	return q.sendAll(q.Chain.TestAccept)
}
