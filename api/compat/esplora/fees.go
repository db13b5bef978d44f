package esplora

import (
	"context"
	"math"
	"strconv"

	"birthmark/model"
)

// targets are the confirmation targets of /fee-estimates, in blocks.
var targets = func() (all []int) {
	for n := 1; n <= 25; n++ {
		all = append(all, n)
	}
	return append(all, 144, 504, 1008)
}()

// feeEstimates returns fee rates in satoshi per virtual byte by target. Targets without an estimate are absent.
func feeEstimates(q *request) error {
	fees, err := q.Chain.Fees(q.ctx, targets, "")
	if err != nil {
		return err
	}
	q.maxAge = shortly
	separator := `{"`
	for _, n := range targets {
		if rate, ok := fees[n]; ok {
			q.str(separator)
			q.out = strconv.AppendInt(q.out, int64(n), 10)
			q.str(`":`)
			q.float(rate / 1000)
			separator = `,"`
		}
	}
	if separator == `{"` {
		q.str("{")
	}
	q.str("}")
	return nil
}

// recommendedFees returns whole fee rates in satoshi per virtual byte, of which none is below the minimum of the node.
// Without estimates all are that minimum.
func recommendedFees(q *request) error {
	fees, err := q.Chain.Fees(q.ctx, targets, "")
	if err != nil {
		return err
	}
	limits, err := q.Chain.MinimumFees(q.ctx)
	if err != nil {
		return err
	}
	whole := func(perKilo float64) uint64 { return uint64(math.Ceil(perKilo / 1000)) }
	minimum := max(1, whole(max(limits.Mempool, limits.Relay)))
	within := func(blocks int) uint64 { return max(minimum, whole(fees[blocks])) }
	hour := within(6)
	q.maxAge = shortly
	q.num(`{"fastestFee":`, within(1))
	q.num(`,"halfHourFee":`, within(3))
	q.num(`,"hourFee":`, hour)
	q.num(`,"economyFee":`, min(2*minimum, hour))
	q.num(`,"minimumFee":`, minimum)
	q.str("}")
	return nil
}

// sendAll sends the transactions of the body with a function of the node and answers with its object.
func (q *request) sendAll(send func(context.Context, [][]byte, model.SubmitOptions) ([]byte, error)) error {
	raws, err := q.rawTxs()
	if err != nil {
		return err
	}
	o, err := q.submitOptions()
	if err != nil {
		return err
	}
	answer, err := send(q.ctx, raws, o)
	if err != nil {
		return err
	}
	q.maxAge = never
	q.out = append(q.out, answer...)
	return nil
}
