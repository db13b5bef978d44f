package segments

import (
	"encoding/binary"
	"fmt"
	"io"

	"birthmark/core/segment"
	"birthmark/model"
)

// ContentType is the media type of a stream of frames.
const ContentType = "application/vnd.birthmark.segments"

// Kinds of frames: the first byte.
const (
	segmentFrame = 'S' // size as 4 bytes, big-endian, and the encoded segment
	stateFrame   = 'P' // seq as 8 bytes and height as 4 bytes, big-endian
)

// Frame is a part of the stream: a segment, or else the state of the primary.
type Frame struct {
	Segment []byte         // encoded; nil: none
	Seq     uint64         // of the newest update of the primary
	Height  model.HeightPk // of its tip
}

// appendTo appends the encoded frame.
func (f *Frame) appendTo(b []byte) []byte {
	if f.Segment != nil {
		b = binary.BigEndian.AppendUint32(append(b, segmentFrame), uint32(len(f.Segment)))
		return append(b, f.Segment...)
	}
	b = binary.BigEndian.AppendUint64(append(b, stateFrame), f.Seq)
	return binary.BigEndian.AppendUint32(b, uint32(f.Height))
}

// ReadFrame reads a frame. It returns [io.EOF] if the stream ended before it.
func ReadFrame(r io.Reader) (f Frame, err error) {
	var head [13]byte
	if _, err := io.ReadFull(r, head[:1]); err != nil {
		return f, err
	}
	size := 5
	switch head[0] {
	case stateFrame:
		size = 13
	case segmentFrame:
	default:
		return f, model.Errorf(model.BadSource, "bad_segment", "the stream of segments has a frame of unknown kind %#x", head[0])
	}
	if _, err = io.ReadFull(r, head[1:size]); err != nil {
		return f, early(err)
	}
	if head[0] == stateFrame {
		f.Seq = binary.BigEndian.Uint64(head[1:])
		f.Height = model.HeightPk(binary.BigEndian.Uint32(head[9:]))
		return f, nil
	}
	n := binary.BigEndian.Uint32(head[1:])
	if n == 0 || n > segment.MaxSize {
		return f, model.Errorf(model.BadSource, "bad_segment", "a segment of %d bytes, expected at most %d", n, segment.MaxSize)
	}
	f.Segment, err = readAll(r, int(n))
	return f, early(err)
}

// readAll reads n bytes. It takes memory as they arrive, so that a wrong size takes little.
func readAll(r io.Reader, n int) (b []byte, err error) {
	const step = 1 << 20
	for len(b) < n && err == nil {
		at := len(b)
		b = append(b, make([]byte, min(n-at, max(step, at)))...)
		_, err = io.ReadFull(r, b[at:])
	}
	return b, err
}

func early(err error) error {
	if err == io.EOF {
		return io.ErrUnexpectedEOF
	}
	if err != nil {
		return fmt.Errorf("read a segment: %w", err)
	}
	return nil
}
