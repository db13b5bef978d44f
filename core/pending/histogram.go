package pending

import "time"

// Bin is the transactions of a range of fee rates: from that of the previous bin down to Rate.
type Bin struct {
	Rate  float64 // lowest fee per virtual byte, in the chain's smallest unit
	Count int
	VSize uint64
}

const (
	binSize   = 50_000 // virtual bytes above which a bin is complete
	binsEvery = 2 * time.Second
)

// histogram is the histogram of an overlay, and when it was made.
type histogram struct {
	of   *Overlay
	made time.Time
	bins []Bin
}

// Histogram returns the transactions by fee rate, highest first. It is at most two seconds old.
func (f *Follower) Histogram() []Bin {
	o := f.Standing().Overlay
	if h := f.histogram.Load(); h != nil && (h.of == o || time.Since(h.made) < binsEvery) {
		return h.bins
	}
	h := &histogram{of: o, made: time.Now(), bins: o.histogram()}
	f.histogram.Store(h)
	return h.bins
}

func (o *Overlay) histogram() (bins []Bin) {
	var b Bin
	for t := range o.ByRate(nil) {
		if rate := t.Rate(); b.VSize > binSize && rate < b.Rate {
			bins, b = append(bins, b), Bin{}
		}
		b = Bin{t.Rate(), b.Count + 1, b.VSize + uint64(t.VSize)}
	}
	if b.Count > 0 {
		bins = append(bins, b)
	}
	return bins
}
