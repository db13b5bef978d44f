package meter

import (
	"errors"
	"os"
	"runtime"
	"sync"
	"testing"

	"birthmark/model"
)

type freely struct{}

func (freely) Pay(int64) error { return nil }
func (freely) Release()        {}

// Memory that several requests have counts once, from the first of them to the last, also if the first one ends before.
func TestSharedMemoryCountsOnce(t *testing.T) {
	b := NewBudget(1000)
	var list, other Shared
	first, second, third := New(freely{}, 0, 1, b), New(freely{}, 0, 1, b), New(freely{}, 0, 1, b)
	if err := errors.Join(first.HoldShared(&list, 600), second.HoldShared(&list, 600), second.HoldShared(&list, 600)); err != nil {
		t.Fatal(err)
	}
	if err := third.HoldShared(&other, 401); err == nil {
		t.Error("1001 of 1000 bytes are held")
	}
	first.End()
	if n := b.Used(); n != 600 {
		t.Errorf("%d bytes are held, expected 600", n)
	}
	second.End()
	if err := third.HoldShared(&other, 1000); err != nil {
		t.Error(err)
	}
	third.End()
	if n := b.Used(); n != 0 {
		t.Errorf("%d bytes are held after the last request", n)
	}
}

// payments counts the calls of a payer, and their points.
type payments struct{ calls, points int64 }

func (p *payments) Pay(points int64) error {
	p.calls++
	p.points += points
	return nil
}

func (*payments) Release() {}

// A report within the points that are paid calls the payer only after PayFrom, and pays nothing.
func TestPayFromCallsThePayerOfPaidPoints(t *testing.T) {
	p := new(payments)
	m := New(p, 100, 50, nil)
	for _, c := range []struct {
		spend int64
		from  bool
		want  payments
	}{
		{100, false, payments{}}, {1, false, payments{1, 50}}, {9, false, payments{1, 50}},
		{1, true, payments{2, 50}}, {39, false, payments{2, 50}}, {1, false, payments{3, 100}},
	} {
		if c.from {
			m.PayFrom(0)
		}
		if err := m.Spend(c.spend); err != nil || *p != c.want {
			t.Errorf("after %d points more: %v %v, expected %v", c.spend, *p, err, c.want)
		}
	}
}

// A request that computes for long lets others run about every millisecond, also if all processors have such requests.
func TestLongRequestsLetOthersRun(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	long := New(freely{}, 0, 1, nil)
	ran, at := make(chan struct{}), int64(0)
	go func() { at = long.points.Load(); close(ran) }()
	const most = 100 * yieldPoints // less than a time slice
	for long.points.Load() < most {
		if err := long.Rows(10); err != nil {
			t.Fatal(err)
		}
	}
	<-ran
	if at >= most {
		t.Errorf("another goroutine waited for all %d points", most)
	}
}

// A request that arrives from the network while a long one runs does not wait for a time slice either.
func TestLongRequestsLetTheNetworkRun(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	defer w.Close()
	long := New(freely{}, 0, 1, nil)
	waits, ran, at := make(chan struct{}), make(chan error, 1), int64(0)
	go func() {
		close(waits)
		_, err := r.Read(make([]byte, 1))
		at = long.points.Load()
		ran <- err
	}()
	<-waits
	for range 10 { // until the goroutine waits for the byte
		yield()
	}
	if _, err := w.Write([]byte{0}); err != nil {
		t.Fatal(err)
	}
	const most = 100 * yieldPoints // less than a time slice
	for long.points.Load() < most {
		if err := long.Rows(10); err != nil {
			t.Fatal(err)
		}
	}
	if err := <-ran; err != nil || at >= most {
		t.Errorf("the reader of a pipe waited for %d of %d points: %v", at, most, err)
	}
}

// Any number of requests can yield at the same time. A broken pipe is not used again.
func TestManyYield(t *testing.T) {
	var all sync.WaitGroup
	for range 50 {
		all.Go(func() {
			for range 200 {
				yield()
			}
		})
	}
	all.Wait()
	broken := func(of func(p *pipe) *os.File) {
		p, err := newPipe()
		if err != nil {
			t.Fatal(err)
		}
		of(p).Close()
		if p.wait() == nil {
			t.Error("a broken pipe has a byte")
		}
	}
	broken(func(p *pipe) *os.File { return p.r })
	broken(func(p *pipe) *os.File { return p.w })
}

// A goroutine that outlives its request, such as the writer of a connection, neither takes bytes nor gives any back.
func TestARequestThatEndedHoldsNothing(t *testing.T) {
	b := NewBudget(1000)
	m, other := New(freely{}, 0, 1, b), New(freely{}, 0, 1, b)
	if err := errors.Join(m.Hold(300), m.Hold(-100), other.Hold(100)); err != nil || b.Used() != 300 {
		t.Fatalf("%d bytes, %v", b.Used(), err)
	}
	m.End()
	if err := errors.Join(m.Hold(-200), m.Hold(500), m.Hold(-500)); err != nil || b.Used() != 100 {
		t.Errorf("%d bytes are held, expected those of the other request: 100; %v", b.Used(), err)
	}
}

// An answer that the budget has room for later is refused for now. One that it never has room for is the client's fault.
func TestAnswersBeyondTheBudgetAreRefused(t *testing.T) {
	b := NewBudget(1000)
	m, other := New(freely{}, 0, 1, b), New(freely{}, 0, 1, b)
	if err := other.Hold(500); err != nil {
		t.Fatal(err)
	}
	var list Shared
	for _, c := range []struct {
		err  error
		kind model.ErrorKind
		code string
	}{
		{m.Hold(1000), model.Refused, "overloaded"}, {m.Hold(1001), model.Usage, "answer_too_large"},
		{m.HoldShared(&list, 1000), model.Refused, "overloaded"}, {m.HoldShared(&list, 1001), model.Usage, "answer_too_large"},
		{m.Hold(400), 0, ""}, {m.Hold(600), model.Refused, "overloaded"}, {m.Hold(601), model.Usage, "answer_too_large"},
	} {
		if c.code == "" && c.err == nil {
			continue
		}
		if kind, code := model.KindOf(c.err); kind != c.kind || code != c.code {
			t.Errorf("%v, expected %s", c.err, c.code)
		}
	}
}
