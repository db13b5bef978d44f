package pending

import (
	"math"
	"slices"
	"time"
)

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
	of     *Overlay
	made   time.Time
	bins   []Bin
	scaled []Bin
}

// Histogram returns the transactions by fee rate, highest first. It is at most two seconds old.
func (f *Follower) Histogram() []Bin { return f.rates().bins }

// Rates returns the transactions by fee rate on a fixed logarithmic scale, lowest first, with empty bins between others.
// It is at most two seconds old.
func (f *Follower) Rates() []Bin { return f.rates().scaled }

func (f *Follower) rates() *histogram {
	o := f.Standing().Overlay
	if h := f.histogram.Load(); h != nil && (h.of == o || time.Since(h.made) < binsEvery) {
		return h
	}
	h := &histogram{of: o, made: time.Now(), bins: o.histogram(), scaled: o.scaled()}
	f.histogram.Store(h)
	return h
}

// scale has the bounds of bins within each power of ten.
var scale = [...]float64{1, 1.5, 2, 3, 5, 7}

const lowestPower = -2 // of ten; lower rates are in the bin of 0

// bound returns the lowest rate of a bin of the scale; that of bin 0 is 0.
func bound(bin int) float64 {
	if bin == 0 {
		return 0
	}
	n := bin - 1
	return scale[n%len(scale)] * math.Pow10(lowestPower+n/len(scale))
}

func (o *Overlay) scaled() (bins []Bin) {
	at := 0 // the bin of bins[0]; rates fall
	for t := range o.ByRate(nil) {
		rate := t.Rate()
		if len(bins) == 0 {
			for bound(at+1) <= rate {
				at++
			}
			bins = []Bin{{Rate: bound(at)}}
		}
		for rate < bins[len(bins)-1].Rate {
			at--
			bins = append(bins, Bin{Rate: bound(at)})
		}
		b := &bins[len(bins)-1]
		b.Count, b.VSize = b.Count+1, b.VSize+uint64(t.VSize)
	}
	slices.Reverse(bins)
	return bins
}

// AgeBin is the transactions whose age is below Below, and at least that of the previous bin.
type AgeBin struct {
	Below time.Duration // 0: the last bin, without a bound
	Count int
	VSize uint64
}

// ageBounds are the bounds of the bins of ages.
var ageBounds = [...]time.Duration{
	10 * time.Second, 30 * time.Second, time.Minute, 2 * time.Minute, 5 * time.Minute, 10 * time.Minute, 30 * time.Minute,
	time.Hour, 3 * time.Hour, 12 * time.Hour, 24 * time.Hour, 72 * time.Hour,
}

// Ages are the ages of the transactions: how long ago they were seen first. Bins after the oldest transaction are left
// out.
type Ages struct {
	Bins   []AgeBin
	Oldest time.Duration
}

// ages is the ages of the transactions, and when they were computed.
type ages struct {
	made time.Time
	Ages
}

// Ages returns the ages of the transactions. It is at most two seconds old. The caller must not change it.
func (f *Follower) Ages() *Ages {
	if a := f.ages.Load(); a != nil && time.Since(a.made) < binsEvery {
		return &a.Ages
	}
	a := &ages{time.Now(), f.Standing().ages(f.Now())}
	f.ages.Store(a)
	return &a.Ages
}

func (o *Overlay) ages(now time.Time) (a Ages) {
	bins := make([]AgeBin, len(ageBounds)+1)
	last := -1
	for t := range o.Arrivals(0) {
		age := max(0, now.Sub(t.Seen()))
		at := 0
		for at < len(ageBounds) && age >= ageBounds[at] {
			at++
		}
		bins[at].Count++
		bins[at].VSize += uint64(t.VSize)
		last, a.Oldest = max(last, at), max(a.Oldest, age)
	}
	for i := range ageBounds {
		bins[i].Below = ageBounds[i]
	}
	a.Bins = bins[:last+1]
	return a
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
