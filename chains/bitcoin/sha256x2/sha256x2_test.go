package sha256x2

import (
	"crypto/sha256"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"birthmark/storage/storetest"
)

// ways are the code of processors with the instructions, where the test runs on one, and that of all others.
func ways() map[string]bool {
	if twoLanes {
		return map[string]bool{"two lanes": true, "one by one": false}
	}
	return map[string]bool{"one by one": false}
}

// expected is what crypto/sha256 says.
func expected(message []byte, twice bool) [sha256.Size]byte {
	sum := sha256.Sum256(message)
	if twice {
		sum = sha256.Sum256(sum[:])
	}
	return sum
}

func random(r *rand.Rand, size int) []byte {
	b := make([]byte, size)
	for i := range b {
		b[i] = byte(r.Uint32())
	}
	return b
}

func TestBatchesHashAsCryptoSha256(t *testing.T) {
	r := storetest.Rand(t)
	for way, two := range ways() {
		for _, twice := range []bool{false, true} {
			b := Batch{Twice: twice}
			for round := range 200 {
				messages := make([][]byte, r.IntN(12))
				sums := make([][sha256.Size]byte, len(messages))
				for i := range messages {
					messages[i] = random(r, r.IntN(300))
					b.Add(&sums[i], messages[i])
				}
				b.sum(two)
				for i, m := range messages {
					if want := expected(m, twice); sums[i] != want {
						t.Fatalf("%s, twice %t, round %d, message %d of %d, %d bytes: %x, expected %x",
							way, twice, round, i, len(messages), len(m), sums[i], want)
					}
				}
			}
		}
	}
}

// Every length around the ends of blocks, beside a message that is much longer, and cut into pieces everywhere.
func TestMessagesOfEveryLength(t *testing.T) {
	r := storetest.Rand(t)
	for way, two := range ways() {
		for size := range 200 {
			long, short := random(r, 1000), random(r, size)
			var sums [3][sha256.Size]byte
			var b Batch
			b.Add(&sums[0], long)
			cut := r.IntN(size + 1)
			b.Add(&sums[1], short[:cut], nil, short[cut:])
			b.Add(&sums[2], short)
			b.sum(two)
			if sums[0] != expected(long, false) || sums[1] != expected(short, false) || sums[2] != sums[1] {
				t.Errorf("%s: %d bytes cut at %d: %x, expected %x", way, size, cut, sums[1], expected(short, false))
			}
		}
	}
}

func TestABatchThatGrowsHashesAtOnce(t *testing.T) {
	r := storetest.Rand(t)
	b := Batch{Twice: true}
	sums := make([][sha256.Size]byte, 2000)
	messages := make([][]byte, len(sums))
	for i := range messages {
		messages[i] = random(r, 10+r.IntN(100))
		b.Add(&sums[i], messages[i])
		if len(b.padded) >= batchSize || len(b.jobs) > batchSize/blockSize {
			t.Fatalf("%d messages of %d bytes wait", len(b.jobs), len(b.padded))
		}
	}
	huge := random(r, 3*batchSize)
	var sum [sha256.Size]byte
	b.Add(&sum, huge)
	if sum != expected(huge, true) {
		t.Error("a message longer than a batch was not hashed at once")
	}
	for i, m := range messages {
		if sums[i] != expected(m, true) {
			t.Errorf("message %d of %d bytes: %x", i, len(m), sums[i])
		}
	}
	b.Sum()
	if slices.ContainsFunc(b.jobs[:cap(b.jobs)], func(j job) bool { return j.to != nil }) {
		t.Error("a batch that is done knows where hashes went, and keeps that memory")
	}
}

func TestABatchThatIsUsedAgainAllocatesNothing(t *testing.T) {
	message := make([]byte, 250)
	sums := make([][sha256.Size]byte, 100)
	var b Batch
	if n := testing.AllocsPerRun(20, func() {
		for i := range sums {
			b.Add(&sums[i], message[:4], message[6:])
		}
		b.Sum()
	}); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

func TestPairsAreHashedAsOneMessageEach(t *testing.T) {
	r := storetest.Rand(t)
	for way, pairs := range map[string]func([][sha256.Size]byte){"two lanes": pairsSide[[sha256.Size]byte], "one by one": pairsOne[[sha256.Size]byte]} {
		if _, ok := ways()[way]; !ok {
			continue
		}
		for n := range 20 {
			level := make([][sha256.Size]byte, 2*n)
			var want [][sha256.Size]byte
			for i := range level {
				copy(level[i][:], random(r, sha256.Size))
			}
			for i := range n {
				want = append(want, expected(slices.Concat(level[2*i][:], level[2*i+1][:]), true))
			}
			pairs(level)
			if !slices.Equal(level[:n], want) {
				t.Errorf("%s: %d pairs: %x, expected %x", way, n, level[:n], want)
			}
		}
	}
}

func BenchmarkBatch(b *testing.B) {
	for _, twice := range []bool{false, true} {
		for _, size := range []int{25, 80, 250, 1000} {
			message := make([]byte, size)
			var sum [sha256.Size]byte
			b.Run(fmt.Sprintf("twice=%t/%d", twice, size), func(b *testing.B) {
				batch := Batch{Twice: twice}
				b.ReportAllocs()
				for b.Loop() {
					batch.Add(&sum, message)
				}
			})
			b.Run(fmt.Sprintf("twice=%t/%d/crypto", twice, size), func(b *testing.B) {
				for b.Loop() {
					sum = expected(message, twice)
				}
			})
		}
	}
}

func BenchmarkPairs(b *testing.B) {
	level := make([][sha256.Size]byte, 2000)
	for name, pairs := range map[string]func([][sha256.Size]byte){"two": pairsSide[[sha256.Size]byte], "crypto": pairsOne[[sha256.Size]byte]} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				pairs(level)
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/1000, "ns/pair")
		})
	}
}
