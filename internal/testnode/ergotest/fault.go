package ergotest

import (
	"net/http"
	"time"
)

// Answer is what a node is about to answer.
type Answer struct {
	Status int
	Header http.Header
	Body   []byte

	Delay time.Duration // before it begins; it ends with the request
	Cut   bool          // the connection breaks in the middle of the body
}

// Fault makes something else of an answer. It may be called by several requests at once, in no order.
type Fault func(r *http.Request, a *Answer)

// Break sets what goes wrong from now on; nil: nothing.
func (n *Node) Break(f Fault) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.fault = f
}
