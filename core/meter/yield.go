package meter

import (
	"os"
	"runtime"
	"sync"
)

// yield lets other goroutines run, also those whose network events have happened. With [runtime.Gosched] alone these wait
// up to 10 ms: the runtime looks for network events when no goroutine is ready to run, or after that time. So a goroutine
// that yields waits for such an event too: a byte in a pipe that another goroutine writes at once.
func yield() {
	p, _ := pipes.Get().(*pipe)
	if p == nil {
		var err error
		if p, err = newPipe(); err != nil {
			runtime.Gosched()
			return
		}
	}
	if p.wait() == nil {
		pipes.Put(p)
	}
}

// pipes are the pipes that no goroutine waits for. The collector closes unused ones.
var pipes sync.Pool

type pipe struct{ r, w *os.File }

func newPipe() (*pipe, error) {
	r, w, err := os.Pipe()
	return &pipe{r, w}, err
}

// wait waits for a byte. After an error the pipe is closed.
func (p *pipe) wait() error {
	go p.write()
	var b [1]byte
	if _, err := p.r.Read(b[:]); err != nil {
		_, _ = p.r.Close(), p.w.Close()
		return err
	}
	return nil
}

func (p *pipe) write() {
	if _, err := p.w.Write([]byte{0}); err != nil {
		_ = p.w.Close() // ends the read
	}
}
