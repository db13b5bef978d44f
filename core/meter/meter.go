// Package meter counts the cost of a request while it is spent.
//
// A [Meter] is in the context of a request. What reads rows, resolves fields or sends bytes reports it, and stops with
// the error of the report if the client cannot pay for more. Cost is counted in points of about a microsecond of CPU.
// A [Payer] takes it from the client in steps.
package meter

import (
	"context"
	"sync"
	"sync/atomic"
)

// Unit is the number of points that the price of a plain request pays for: 20 to 40 ms of CPU.
const Unit = 20_000

// Points of the steps of a request.
const (
	rowPoints   = 1 // a row of a scan, or an unconfirmed transaction of a list
	readPoints  = 4 // a key that is looked up, or the begin of a scan
	fieldPoints = 2 // a field that is resolved and written

	sentPerPoint = 64  // bytes of an answer
	readPerPoint = 256 // bytes of rows and of serialized transactions, most of which are parsed
)

// Free is the number of bytes that a request may hold without [Meter.Hold], such as its buffer.
const Free = 64 << 10

// Payer takes the cost of a request from its client.
type Payer interface {
	// Pay takes points, which are 0 after [Meter.Pause]. It may wait. An error ends the request. Calls do not overlap.
	Pay(points int64) error

	// Release releases everything that others wait for. The next Pay takes it again.
	Release()
}

// Meter counts the cost of one request. It is safe for concurrent use. The nil Meter counts nothing.
type Meter struct {
	payer  Payer
	step   int64
	budget *Budget // nil: no limit

	points atomic.Int64 // spent
	paid   atomic.Int64 // points that were paid for; 0 after Pause
	rows   atomic.Int64
	sent   atomic.Int64
	held   atomic.Int64
	peak   atomic.Int64 // of held

	mu    sync.Mutex // guards the fields below, and is held during Pay
	taken int64      // paid, also after Pause
	err   error      // of the first payment that failed
	ends  []func()
	ended bool
}

// New returns a meter whose first points are paid. The payer pays whole steps. Bytes that are held count against the
// budget, which may be nil.
func New(payer Payer, first, step int64, budget *Budget) *Meter {
	m := new(Meter)
	m.Init(payer, first, step, budget)
	return m
}

// Init is [New] for a Meter that is a part of another value.
func (m *Meter) Init(payer Payer, first, step int64, budget *Budget) {
	m.payer, m.step, m.budget, m.taken = payer, step, budget, first
	m.paid.Store(first)
}

type key struct{}

// With returns a context with the meter of a request.
func With(ctx context.Context, m *Meter) context.Context { return context.WithValue(ctx, key{}, m) }

// Of returns the meter of a request; nil if the context has none.
func Of(ctx context.Context) *Meter {
	m, _ := ctx.Value(key{}).(*Meter)
	return m
}

// Rows reports rows of a scan, or unconfirmed transactions of a list.
func (m *Meter) Rows(n int) error {
	if m == nil {
		return nil
	}
	m.rows.Add(int64(n))
	return m.Spend(int64(n) * rowPoints)
}

// Reads reports keys that are looked up, or the begin of scans.
func (m *Meter) Reads(n int) error {
	if m == nil {
		return nil
	}
	m.rows.Add(int64(n))
	return m.Spend(int64(n) * readPoints)
}

// Bytes reports bytes of rows and of serialized transactions.
func (m *Meter) Bytes(n int) error { return m.Spend(int64(n) / readPerPoint) }

// Fields reports fields that are resolved.
func (m *Meter) Fields(n int) error { return m.Spend(int64(n) * fieldPoints) }

// Sent reports bytes of the answer.
func (m *Meter) Sent(n int) error {
	if m == nil {
		return nil
	}
	m.sent.Add(int64(n))
	return m.Spend(int64(n) / sentPerPoint)
}

// yieldPoints is the number of points, about a millisecond of CPU, after which a request lets others run. Otherwise a
// short request waits 10 ms, the time slice of a goroutine, for each long one that runs.
const yieldPoints = 1000

// Spend reports points of work that has no other report. It may let other goroutines run.
func (m *Meter) Spend(points int64) error {
	if m == nil {
		return nil
	}
	spent := m.points.Add(points)
	if spent/yieldPoints != (spent-points)/yieldPoints {
		yield()
	}
	if spent <= m.paid.Load() {
		return nil
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.pay()
}

// pay pays the points that are not paid yet. mu is held.
func (m *Meter) pay() error {
	if m.err != nil {
		return m.err
	}
	var due int64
	if more := m.points.Load() - m.taken; more > 0 {
		due = (more + m.step - 1) / m.step * m.step
	} else if m.paid.Load() == m.taken {
		return nil // another goroutine paid
	}
	if m.err = m.payer.Pay(due); m.err == nil {
		m.taken += due
		m.paid.Store(m.taken)
	}
	return m.err
}

// PayFrom lets the next report that exceeds a number of points call the payer, also if they are paid already.
func (m *Meter) PayFrom(points int64) { m.paid.Store(min(points, m.paid.Load())) }

// Pause is called before the request waits for its client. It occupies nothing until its next report.
func (m *Meter) Pause() {
	if m != nil {
		m.paid.Store(0)
		m.payer.Release()
	}
}

// Err returns the error of the first payment that failed.
func (m *Meter) Err() error {
	if m == nil {
		return nil
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.err
}

// Hold takes bytes from the budget of all answers until [Meter.End]. Negative bytes are given back. The error is of
// kind [model.Refused] (overloaded), or [model.Usage] (answer_too_large) if the budget is too small for this answer alone.
func (m *Meter) Hold(bytes int64) error {
	if m == nil {
		return nil
	}
	if bytes > 0 && !m.budget.take(bytes) {
		return m.budget.refusal(max(m.held.Load(), 0) + bytes)
	}
	held := m.held.Add(bytes)
	if ended := held < 0; ended && bytes > 0 {
		m.budget.take(-bytes)
	} else if !ended && bytes < 0 {
		m.budget.take(bytes)
	}
	for peak := m.peak.Load(); held > peak && !m.peak.CompareAndSwap(peak, held); peak = m.peak.Load() {
	}
	return nil
}

// Shared is memory that several requests have together. It counts against the budget once, until the last of them ends.
type Shared struct {
	mu    sync.Mutex
	users int
}

// HoldShared is [Meter.Hold] for memory of a number of bytes that other requests may hold, too. Negative numbers count as
// 0.
func (m *Meter) HoldShared(s *Shared, bytes int64) error {
	if m == nil || bytes <= 0 {
		return nil
	}
	s.mu.Lock()
	if s.users == 0 && !m.budget.take(bytes) {
		s.mu.Unlock()
		return m.budget.refusal(bytes)
	}
	s.users++
	s.mu.Unlock()
	m.AtEnd(func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		if s.users--; s.users == 0 {
			m.budget.take(-bytes)
		}
	})
	return nil
}

// AtEnd calls fn when the request ends: at once if it has ended. Without a meter it returns false and does nothing.
func (m *Meter) AtEnd(fn func()) bool {
	if m == nil {
		return false
	}
	m.mu.Lock()
	if !m.ended {
		m.ends = append(m.ends, fn)
		m.mu.Unlock()
		return true
	}
	m.mu.Unlock()
	fn()
	return true
}

// endedHeld is far below 0: a request that has ended holds nothing.
const endedHeld = -1 << 62

// End gives all bytes back. Later calls of Hold count nothing.
func (m *Meter) End() {
	m.mu.Lock()
	ends := m.ends
	m.ends, m.ended = nil, true
	m.mu.Unlock()
	for _, fn := range ends {
		fn()
	}
	if held := m.held.Swap(endedHeld); held > 0 {
		m.budget.take(-held)
	}
}

// Cost is the cost of a request.
type Cost struct {
	Points int64
	Rows   int64 // looked up or scanned
	Sent   int64 // bytes
	Held   int64 // most bytes at the same time
}

// Cost returns the cost of the request so far.
func (m *Meter) Cost() Cost {
	return Cost{m.points.Load(), m.rows.Load(), m.sent.Load(), m.peak.Load()}
}

// Units returns a number of points in units, rounded up; at least 1.
func (c Cost) Units() int64 { return max(1, (c.Points+Unit-1)/Unit) }
