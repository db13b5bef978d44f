package exchange

import (
	"context"
	"iter"
	"slices"

	"birthmark/api/jsonappend"
	"birthmark/core/meter"
)

// Encoder encodes the value of an answer as JSON. It reads and sends lists element by element, and holds 64 KiB at a
// time, whatever their length. A [Request] has one; protocols with another framing have their own.
type Encoder struct {
	JSON []byte          // not sent yet
	Ctx  context.Context // of the request: its meter counts the bytes of JSON
	Send func() error    // sends JSON, and empties it

	endless bool // the answer has a [Stream]
	held    int  // bytes of JSON that the meter counts
	items   []place
}

// Begin begins an answer.
func (e *Encoder) Begin(ctx context.Context) {
	*e = Encoder{JSON: e.JSON[:0], Ctx: ctx, Send: e.Send, items: e.items[:0]}
}

// List is a JSON array whose elements are read and sent one by one.
func List[T any](elements iter.Seq2[T, error]) any { return listOf(elements, array) }

// Stream is a [List] without a bound on its elements. If it is long, it counts as an open stream and has no time limit:
// see [ratelimit.Stream].
func Stream[T any](elements iter.Seq2[T, error]) any { return endless(listOf(elements, array)) }

// Values is a [Stream] whose elements follow each other without brackets and commas.
func Values[T any](elements iter.Seq2[T, error]) any { return endless(listOf(elements, framing{})) }

// Items is a [Stream] that is a member of a value: its elements are read and sent after the members before it.
type Items[T any] struct {
	e        *Encoder
	elements list
}

// ItemsOf returns the elements for a member of the answer to r.
func ItemsOf[T any](r *Request, elements iter.Seq2[T, error]) Items[T] {
	return Items[T]{&r.out, endless(listOf(elements, array))}
}

// AppendJSON marks the place of the list: see [Encoder.place].
func (i *Items[T]) AppendJSON(b []byte) []byte {
	i.e.items = append(i.e.items, place{len(b), i.elements})
	return b
}

// place is the place of a list in the bytes of a value.
type place struct {
	at       int
	elements list
}

type list func(*Encoder) error

// framing is the text around the elements of a list.
type framing struct{ begin, separator, end string }

var array = framing{"[", ",", "]"}

// endless returns a list without a bound on its elements.
func endless(l list) list {
	return func(e *Encoder) error {
		e.endless = true
		return l(e)
	}
}

func listOf[T any](elements iter.Seq2[T, error], f framing) list {
	return list(func(e *Encoder) error {
		element := new(T) // one for all
		appender := jsonappend.AppenderOf[T]()
		e.JSON = append(e.JSON, f.begin...)
		separator := ""
		for v, err := range elements {
			if err != nil {
				return err
			}
			*element = v
			e.JSON = appender.Append(append(e.JSON, separator...), element)
			separator = f.separator
			if len(e.items) == 0 && len(e.JSON) < partSize {
				continue
			}
			if err := e.place(); err != nil {
				return err
			}
			if err := e.Flush(); err != nil {
				return err
			}
		}
		e.JSON = append(e.JSON, f.end...)
		return nil
	})
}

// Append appends a value, and sends it in parts if it is a long list or has one.
func (e *Encoder) Append(v any) error {
	if elements, ok := v.(list); ok {
		return elements(e)
	}
	e.JSON = jsonappend.Append(e.JSON, v)
	return e.place()
}

// place puts the lists of type [Items] of the last value at their places.
func (e *Encoder) place() error {
	if len(e.items) == 0 {
		return e.hold()
	}
	items := e.items
	e.items = nil // elements have their own
	from := items[0].at
	rest := slices.Clone(e.JSON[from:])
	e.JSON = e.JSON[:from]
	for i, list := range items {
		if err := list.elements(e); err != nil {
			return err
		}
		end := len(rest)
		if i+1 < len(items) {
			end = items[i+1].at - from
		}
		e.JSON = append(e.JSON, rest[list.at-from:end]...)
	}
	return nil
}

// hold takes the bytes of an answer that is not sent in parts from the memory for answers.
func (e *Encoder) hold() error {
	more := len(e.JSON) - meter.Free - e.held
	if more <= 0 {
		return nil
	}
	e.held += more
	return meter.Of(e.Ctx).Hold(int64(more))
}

// partSize is the size in bytes of the parts in which long answers are sent.
const partSize = 64 << 10

// Flush sends the JSON so far if it is long.
func (e *Encoder) Flush() error {
	if len(e.JSON) < partSize {
		return nil
	}
	return e.Send()
}
