package meter

import (
	"os"
	"runtime"
	"sync"
)

// network is shared by all requests.
var network poller

// poller lets goroutines run that wait for the network. With [runtime.Gosched] alone they wait up to 10 ms: the runtime
// looks for network events when no goroutine is ready to run, or after that time. So a goroutine that yields waits for an
// event too, which has happened already: a byte in a pipe.
type poller struct {
	once sync.Once
	r, w *os.File

	mu     sync.Mutex
	looked chan struct{} // closed after the next look; nil: no goroutine waits
	broken bool          // there is no pipe
}

// yield lets other goroutines run, also those whose network events have happened.
func (p *poller) yield() {
	p.once.Do(p.start)
	if looked := p.look(); looked != nil {
		<-looked
	} else {
		runtime.Gosched()
	}
}

// look returns a channel that is closed after the runtime looked for network events; nil if there is no pipe.
func (p *poller) look() <-chan struct{} {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.broken || p.looked != nil {
		return p.looked
	}
	if _, err := p.w.Write([]byte{0}); err != nil {
		return nil
	}
	p.looked = make(chan struct{})
	return p.looked
}

func (p *poller) start() {
	var err error
	if p.r, p.w, err = os.Pipe(); err != nil {
		p.broken = true
		return
	}
	go p.run()
}

// run reads the pipe, in which there is at most one byte.
func (p *poller) run() {
	var b [1]byte
	for !p.broken {
		_, err := p.r.Read(b[:])
		p.mu.Lock()
		p.broken = err != nil
		if p.looked != nil {
			close(p.looked)
			p.looked = nil
		}
		p.mu.Unlock()
	}
}
