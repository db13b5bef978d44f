package ouroboros

import (
	"bytes"
	"encoding/hex"
	"errors"
	"strings"
	"testing"

	gcbor "github.com/blinklabs-io/gouroboros/cbor"
	"github.com/blinklabs-io/gouroboros/protocol"
	"github.com/blinklabs-io/gouroboros/protocol/blockfetch"
	"github.com/blinklabs-io/gouroboros/protocol/chainsync"
	pcommon "github.com/blinklabs-io/gouroboros/protocol/common"
	"github.com/blinklabs-io/gouroboros/protocol/keepalive"

	"birthmark/chains/cardano/cbor"
	"birthmark/internal/testseed"
)

var hash = [32]byte{1, 2, 3}

func encoded(t testing.TB, m any) []byte {
	t.Helper()
	raw, err := gcbor.Encode(m)
	if err != nil {
		t.Fatal(err)
	}
	return raw
}

// gouroboros decodes our messages.
func TestMessagesMatchGouroboros(t *testing.T) {
	points := []Point{{Slot: 1 << 40, Hash: hash}, {Slot: 3, Hash: hash}, {}}
	theirs := []pcommon.Point{pcommon.NewPoint(1<<40, hash[:]), pcommon.NewPoint(3, hash[:]), pcommon.NewPointOrigin()}
	for what, c := range map[string]struct {
		ours   []byte
		theirs protocol.Message
	}{
		"find intersect": {findIntersect(points), chainsync.NewMsgFindIntersect(theirs)},
		"request next":   {requestNext(1), chainsync.NewMsgRequestNext()},
		"request range":  {requestRange(points[1], points[0]), blockfetch.NewMsgRequestRange(theirs[1], theirs[0])},
		"keep-alive":     {keepAlive(4711), keepalive.NewMsgKeepAlive(4711)},
	} {
		if want := encoded(t, c.theirs); !bytes.Equal(c.ours, want) {
			t.Errorf("%s: %x, expected %x", what, c.ours, want)
		}
	}
	if want := strings.Repeat("8100", 300); hex.EncodeToString(requestNext(300)) != want {
		t.Error("a message of 300 requests differs from 300 messages")
	}
}

// Messages that gouroboros encodes are decoded.
func TestReadsMessagesOfGouroboros(t *testing.T) {
	tip := chainsync.Tip{Point: pcommon.NewPoint(9, hash[:]), BlockNumber: 8}
	ours := Tip{Point{9, hash}, 8}
	block, header := []byte{0x82, 0x81, 0x03, 0x04}, []byte{0x81, 0x03}
	toClient, err := chainsync.NewMsgRollForwardNtC(6, block, tip)
	if err != nil {
		t.Fatal(err)
	}
	toNode, err := chainsync.NewMsgRollForwardNtN(5, 0, block, tip)
	if err != nil {
		t.Fatal(err)
	}
	byron, err := chainsync.NewMsgRollForwardNtN(0, 1, block, tip)
	if err != nil {
		t.Fatal(err)
	}
	for what, c := range map[string]struct {
		theirs  protocol.Message
		headers bool
		want    chainMessage
	}{
		"a block":           {toClient, false, chainMessage{kind: msgRollForward, block: append([]byte{0x82, 6}, block...), tip: ours}},
		"a header":          {toNode, true, chainMessage{kind: msgRollForward, era: 6, header: header, tip: ours}},
		"a header of Byron": {byron, true, chainMessage{kind: msgRollForward, era: 1, header: header, weight: 6, tip: ours}},
		"a way back":        {chainsync.NewMsgRollBackward(pcommon.NewPoint(4, hash[:]), tip), true, chainMessage{kind: msgRollBackward, point: Point{4, hash}, tip: ours}},
		"to the origin":     {chainsync.NewMsgRollBackward(pcommon.NewPointOrigin(), tip), false, chainMessage{kind: msgRollBackward, tip: ours}},
		"wait":              {chainsync.NewMsgAwaitReply(), true, chainMessage{kind: msgAwaitReply}},
		"found":             {chainsync.NewMsgIntersectFound(pcommon.NewPoint(4, hash[:]), tip), true, chainMessage{kind: msgIntersectFound, point: Point{4, hash}, tip: ours}},
		"not found":         {chainsync.NewMsgIntersectNotFound(tip), true, chainMessage{kind: msgIntersectNotFound, tip: ours}},
	} {
		m, err := readChain(encoded(t, c.theirs), c.headers)
		if err != nil || m.kind != c.want.kind || !bytes.Equal(m.block, c.want.block) || !bytes.Equal(m.header, c.want.header) ||
			m.era != c.want.era || m.weight != c.want.weight || m.point != c.want.point || m.tip != c.want.tip {
			t.Errorf("%s: %+v, %v, expected %+v", what, m, err, c.want)
		}
	}
	for what, c := range map[string]struct {
		theirs protocol.Message
		kind   uint64
		block  []byte
	}{
		"a block":   {blockfetch.NewMsgBlock(block), msgBlock, block},
		"a start":   {blockfetch.NewMsgStartBatch(), msgStartBatch, nil},
		"an end":    {blockfetch.NewMsgBatchDone(), msgBatchDone, nil},
		"no blocks": {blockfetch.NewMsgNoBlocks(), msgNoBlocks, nil},
	} {
		kind, b, err := readFetch(encoded(t, c.theirs))
		if err != nil || kind != c.kind || !bytes.Equal(b, c.block) {
			t.Errorf("%s: %d %x, %v", what, kind, b, err)
		}
	}
	if cookie, err := readKeepAlive(encoded(t, keepalive.NewMsgKeepAliveResponse(4711))); err != nil || cookie != 4711 {
		t.Errorf("%d, %v", cookie, err)
	}
}

// The Haskell node sends some lists with indefinite length.
func TestListsOfIndefiniteLength(t *testing.T) {
	h := "5820" + hex.EncodeToString(hash[:])
	raw, err := hex.DecodeString("9f03" + "9f04" + h + "ff" + "9f" + "9fff" + "08" + "ff" + "ff")
	if err != nil {
		t.Fatal(err)
	}
	m, err := readChain(raw, true)
	if err != nil || m.point != (Point{4, hash}) || m.tip != (Tip{Number: 8}) {
		t.Errorf("%+v, %v", m, err)
	}
	raw, _ = hex.DecodeString("8304" + "d8185f4101420203ff" + "05")
	if n, err := messageSize(new(cbor.Skipper), raw, maxMessage); n != len(raw) || err != nil {
		t.Error(n, err)
	}
	raw, _ = hex.DecodeString("8204" + "d8185f4101420203ff")
	if _, b, err := readFetch(raw); err != nil || !bytes.Equal(b, []byte{1, 2, 3}) {
		t.Errorf("%x, %v", b, err)
	}
}

func TestMalformedMessagesAreErrors(t *testing.T) {
	for text, says := range map[string]string{
		"8107":                   "kind 7",
		"00":                     "expected message as an array",
		"820100":                 "message has more items",
		"8302":                   "message of 3 items, but only 1 bytes are left",
		"830280820080":           "expected era, found the end of its array",
		"8302820082820200d81840": "unknown tag 2 of a Byron block",
		"8302820082820100d81940": "expected header tagged 24, found tag 25",
		"8303820341" + "00":      "expected hash of 32 bytes, found 1",
		"8303818000":             "expected slot as an unsigned integer",
		"830380820000":           "expected point of the tip as an array",
		"8101" + "00":            "1 bytes follow",
		"9f01":                   "expected an item or a break, found the end",
	} {
		raw, err := hex.DecodeString(text)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := readChain(raw, true); err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("%s: %v, expected %s", text, err, says)
		}
	}
	for text, says := range map[string]string{"8101": "kind 1", "8104": "expected block, found the end", "8204d81740": "tag 23", "820200": "message has more items"} {
		raw, err := hex.DecodeString(text)
		if err != nil {
			t.Fatal(err)
		}
		if _, _, err := readFetch(raw); err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("%s: %v, expected %s", text, err, says)
		}
	}
}

// Messages are complete and in order for any division of the stream into segments, and are not overwritten later.
func TestMessagesAreReadFromSegments(t *testing.T) {
	r := testseed.Rand(t)
	var all []byte
	var want []string
	for range 200 {
		m := encoded(t, blockfetch.NewMsgBlock(bytes.Repeat([]byte{byte(r.Uint32())}, r.IntN(3000)>>r.IntN(12))))
		all, want = append(all, m...), append(want, string(m))
	}
	for range 50 {
		m := &inbox{most: maxMessage}
		var got [][]byte
		most := 1 + r.IntN(9000)
		for rest := all; len(rest) > 0; {
			n := min(1+r.IntN(most), len(rest))
			segment := bytes.Clone(rest[:n])
			rest = rest[n:]
			if err := m.receive(segment, func(b []byte) error { got = append(got, b); return nil }); err != nil {
				t.Fatal(err)
			}
		}
		if len(got) != len(want) || len(m.buffer) > 0 {
			t.Fatalf("%d messages, %d bytes left, expected %d", len(got), len(m.buffer), len(want))
		}
		for i := range got {
			if string(got[i]) != want[i] {
				t.Fatalf("message %d differs", i)
			}
		}
	}
}

// Each byte of a message can arrive in a separate segment.
func TestMessagesInSmallSegments(t *testing.T) {
	const items = 20_000
	message := append(cbor.AppendHead(nil, cbor.Array, items), make([]byte, items)...) // small numbers
	message = append(append([]byte{0x9f}, message...), cbor.Break)
	m := &inbox{most: maxMessage}
	taken := 0
	for i := range message {
		if err := m.receive(message[i:i+1], func(b []byte) error {
			if taken++; !bytes.Equal(b, message) {
				t.Errorf("the message has %d bytes, expected %d", len(b), len(message))
			}
			return nil
		}); err != nil {
			t.Fatal(err)
		}
	}
	if taken != 1 {
		t.Errorf("%d messages, expected 1", taken)
	}
}

func TestMessageSizeLimit(t *testing.T) {
	for text, want := range map[string]error{
		"5affffffff":                            errTooLarge,
		"5b7fffffffffffffff":                    errTooLarge,
		"9bffffffffffffffff":                    errTooLarge,
		"81" + "5a00400000":                     errTooLarge,
		"9f" + strings.Repeat("00", maxMessage): errTooLarge,
		"8258":                                  cbor.ErrShort,
		"9f":                                    cbor.ErrShort,
		"":                                      cbor.ErrShort,
	} {
		raw, err := hex.DecodeString(text)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := messageSize(new(cbor.Skipper), raw, maxMessage); !errors.Is(err, want) {
			t.Errorf("%s: %v, expected %v", text, err, want)
		}
	}
	for _, text := range []string{"ff", "82ff", "1c", "3f", "df"} {
		raw, err := hex.DecodeString(text)
		if err != nil {
			t.Fatal(err)
		}
		if n, err := messageSize(new(cbor.Skipper), raw, maxMessage); err == nil || errors.Is(err, cbor.ErrShort) {
			t.Errorf("%s: %d, %v", text, n, err)
		}
	}
}

func FuzzMessages(f *testing.F) {
	f.Add(findIntersect([]Point{{Slot: 1, Hash: hash}}))
	f.Add(encoded(f, blockfetch.NewMsgBlock([]byte{0x80})))
	f.Fuzz(func(t *testing.T, b []byte) {
		n, err := messageSize(new(cbor.Skipper), b, maxMessage)
		switch {
		case err == nil && (n < 1 || n > len(b)):
			t.Fatalf("%d of %d bytes", n, len(b))
		case err == cbor.ErrShort && n <= len(b):
			t.Fatalf("%d of %d bytes are reported as incomplete", len(b), n)
		case err == nil:
			if m, err := messageSize(new(cbor.Skipper), b[:n-1], maxMessage); !errors.Is(err, cbor.ErrShort) {
				t.Fatalf("%d of %d bytes are reported as complete: %d, %v", n-1, n, m, err)
			}
		}
		for _, headers := range []bool{false, true} {
			if _, err := readChain(b, headers); err == nil && n != len(b) {
				t.Fatalf("%x is a message of %d bytes", b, n)
			}
		}
		if _, _, err := readFetch(b); err == nil && n != len(b) {
			t.Fatalf("%x is a message of %d bytes", b, n)
		}
	})
}
