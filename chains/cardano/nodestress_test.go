package cardano

import (
	"math/rand/v2"
	"testing"
	"time"

	"birthmark/internal/testnode/cardanotest"
	"birthmark/internal/testnode/ouroborostest"
	"birthmark/internal/testseed"
	"birthmark/model"
)

// During any events of a node, the events of the source form a chain at all times. The final chain equals the node's.
func TestSyncSurvivesRandomNodeEvents(t *testing.T) {
	seed := testseed.New(t)
	trunk := branch(t, nil, 1500, 0)
	n := ouroborostest.Start(t, 2, trunk)
	cardanotest.EachTransport(t, n, func(t *testing.T, uri string) {
		r := rand.New(rand.NewPCG(seed, 0))
		n.Switch(0, trunk...)
		const turns = 40
		ends := make(chan []ouroborostest.Block, 1)
		go func() {
			chain := trunk
			for turn := range turns {
				time.Sleep(time.Duration(r.IntN(4)) * time.Millisecond)
				switch r.IntN(6) {
				case 0:
					n.Disconnect()
				case 1:
					n.CutAfter(1 + r.IntN(50))
				case 2:
					if err := n.Restart(); err != nil {
						t.Error(err)
					}
				default:
					keep := max(1, len(chain)-r.IntN(300)>>r.IntN(9))
					more := branch(t, chain[:keep], len(chain)-keep+r.IntN(20), byte(turn+1))
					chain = cardanotest.Replace(chain, keep, more...)
					n.Switch(keep, more...)
				}
			}
			n.CutAfter(-1)
			last := branch(t, chain, 1, 200)
			chain = cardanotest.Replace(chain, len(chain), last...)
			ends <- chain // before the source can yield the last block
			n.Extend(last...)
		}()
		l := cardanotest.Listener{T: t}
		var end []ouroborostest.Block
		for e, err := range overNode(t, uri, model.SourceOptions{Follow: true, Memory: 1 << 20}).Follow(t.Context(), nil) {
			if err != nil {
				t.Fatalf("%v; %d blocks, %v", err, len(l.Chain), l.Events)
			}
			l.Apply(e)
			if end == nil {
				select {
				case end = <-ends:
				default:
					continue
				}
			}
			if l.Is(end) {
				return
			}
		}
	})
}
