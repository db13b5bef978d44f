package esplora

import (
	"context"
	"encoding/hex"
	"encoding/json"
	"net/http"
	"strconv"
	"strings"

	"birthmark/api/exchange"
	"birthmark/model"
)

// submitBody sends the transaction of the body to the node.
func (p *protocol) submitBody(r *request) (any, error) {
	return p.submit(r, strings.TrimSpace(string(r.Content())))
}

// submitParam sends the transaction of the parameter tx, for older clients.
func (p *protocol) submitParam(r *request) (any, error) {
	text := r.Param("tx")
	if text == "" {
		return nil, errorf(http.StatusBadRequest, "Missing tx")
	}
	return p.submit(r, text)
}

func (p *protocol) submit(r *request, text string) (any, error) {
	raw, err := hex.DecodeString(text)
	if err != nil {
		return nil, errHex
	}
	id, err := p.Submit(r.Context(), raw, model.SubmitOptions{})
	if err != nil {
		return nil, err
	}
	r.CacheFor(never)
	return hashText(id), nil
}

const (
	maxPackage = 25 // transactions
	// A transaction of a package has from minDigits to maxDigits-1 hex digits.
	minDigits, maxDigits = 120, 800_000
)

// rawTxs reads the body of a request for several transactions.
func rawTxs(r *request) ([][]byte, error) {
	var texts []string
	if err := json.Unmarshal(r.Content(), &texts); err != nil {
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

func submitOptions(r *request) (o model.SubmitOptions, err error) {
	for name, to := range map[string]*string{"maxfeerate": &o.MaxFeeRate, "maxburnamount": &o.MaxBurnAmount} {
		if *to = r.Param(name); *to == "" {
			continue
		}
		if f, err := strconv.ParseFloat(*to, 64); err != nil || f < 0 || f > 21e6 {
			return o, errorf(http.StatusBadRequest, "Invalid %s", name)
		}
	}
	return o, nil
}

func (p *protocol) submitPackage(r *request) (any, error) { return sendAll(r, p.SubmitPackage) }

func (p *protocol) testAccept(r *request) (any, error) { return sendAll(r, p.TestAccept) }

// sendAll sends the transactions of the body with a function of the node and answers with its object.
func sendAll(r *request, send func(context.Context, [][]byte, model.SubmitOptions) ([]byte, error)) (any, error) {
	raws, err := rawTxs(r)
	if err != nil {
		return nil, err
	}
	o, err := submitOptions(r)
	if err != nil {
		return nil, err
	}
	answer, err := send(r.Context(), raws, o)
	if err != nil {
		return nil, err
	}
	r.CacheFor(never)
	return exchange.JSON(answer), nil
}
