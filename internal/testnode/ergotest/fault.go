package ergotest

import (
	"net/http"
	"time"
)

// Answer is the response of a node.
type Answer struct {
	Status int
	Header http.Header
	Body   []byte

	Delay time.Duration // before it begins; it ends with the request
	Cut   bool          // the connection breaks in the middle of the body
}

// Fault changes a response. It is called concurrently by the requests.
type Fault func(r *http.Request, a *Answer)

// Break sets the fault of all following responses; nil: none.
func (n *Node) Break(f Fault) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.fault = f
}
