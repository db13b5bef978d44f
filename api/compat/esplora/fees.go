package esplora

import "math"

// targets are the confirmation targets of /fee-estimates, in blocks.
var targets = func() (all []int) {
	for n := 1; n <= 25; n++ {
		all = append(all, n)
	}
	return append(all, 144, 504, 1008)
}()

// feeEstimates returns fee rates in satoshi per virtual byte by target. Targets without an estimate are absent.
func (p *protocol) feeEstimates(r *request) (any, error) {
	fees, err := p.Fees(r.Context(), targets, "")
	if err != nil {
		return nil, err
	}
	r.CacheFor(shortly)
	return (*feesValue)(&fees), nil
}

// recommendedFees returns whole fee rates in satoshi per virtual byte, at least the minimum of the node. Without
// estimates all equal that minimum.
func (p *protocol) recommendedFees(r *request) (any, error) {
	fees, err := p.Fees(r.Context(), targets, "")
	if err != nil {
		return nil, err
	}
	limits, err := p.MinimumFees(r.Context())
	if err != nil {
		return nil, err
	}
	whole := func(perKilo float64) uint64 { return uint64(math.Ceil(perKilo / 1000)) }
	minimum := max(1, whole(max(limits.Mempool, limits.Relay)))
	within := func(blocks int) uint64 { return max(minimum, whole(fees[blocks])) }
	hour := within(6)
	r.CacheFor(shortly)
	return &recommendedValue{within(1), within(3), hour, min(2*minimum, hour), minimum}, nil
}
