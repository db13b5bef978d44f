package rocks

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"testing"

	"golang.org/x/sys/unix"

	"birthmark/storage"
)

// change is a change of a batch, or a record of its encoding.
type change struct {
	family     storage.Family
	key, value string
	deleted    bool
}

func (b *batch) apply(changes []change) {
	for _, c := range changes {
		if c.deleted {
			b.Delete(c.family, []byte(c.key))
		} else {
			b.Put(c.family, []byte(c.key), []byte(c.value))
		}
	}
}

// columnOf returns ids of column families whose varints have one to three bytes.
func columnOf(f storage.Family) (uint32, error) { return uint32(f)*100 + 1, nil }

// wanted returns the expected records: families by number, keys in order, the last change of each key.
func wanted(changes []change) (records []change) {
	type name struct {
		family storage.Family
		key    string
	}
	last := map[name]change{}
	for _, c := range changes {
		if c.deleted {
			c.value = ""
		}
		last[name{c.family, c.key}] = c
	}
	return slices.SortedFunc(maps.Values(last), func(a, b change) int {
		if a.family != b.family {
			return int(a.family) - int(b.family)
		}
		return bytes.Compare([]byte(a.key), []byte(b.key))
	})
}

// decode decodes a WriteBatch.
func decode(data []byte) (records []change, err error) {
	if len(data) < batchHeader {
		return nil, fmt.Errorf("%d bytes", len(data))
	}
	if sequence := binary.LittleEndian.Uint64(data); sequence != 0 {
		return nil, fmt.Errorf("sequence number %d, want 0", sequence)
	}
	count, rest := binary.LittleEndian.Uint32(data[8:]), data[batchHeader:]
	if len(rest) > 0 {
		logData := binary.LittleEndian.AppendUint64([]byte{tagLogData, 8}, 7)
		if !bytes.HasPrefix(rest, logData) {
			return nil, fmt.Errorf("begins with %x, want %x", rest[:min(10, len(rest))], logData)
		}
		rest = rest[len(logData):]
	}
	uvarint := func() uint64 {
		v, n := binary.Uvarint(rest)
		if n <= 0 {
			err = errors.New("a number is cut off")
			return 0
		}
		rest = rest[n:]
		return v
	}
	text := func() string {
		n := uvarint()
		if n > uint64(len(rest)) {
			err = errors.New("a key or value is cut off")
			return ""
		}
		var b []byte
		b, rest = rest[:n], rest[n:]
		return string(b)
	}
	for len(rest) > 0 && err == nil {
		tag := rest[0]
		rest = rest[1:]
		c := change{family: storage.Family((uvarint() - 1) / 100), key: text(), deleted: tag == tagDelete}
		switch tag {
		case tagDelete:
		case tagPut:
			c.value = text()
		default:
			return nil, fmt.Errorf("tag %#x", tag)
		}
		records = append(records, c)
	}
	if err == nil && int(count) != len(records) {
		err = fmt.Errorf("the header says %d records, there are %d", count, len(records))
	}
	return records, err
}

func checkBatch(t *testing.T, b *batch, changes []change) {
	t.Helper()
	b.reset()
	b.apply(changes)
	data, err := b.encode(7, columnOf)
	if err != nil {
		t.Fatal(err)
	}
	if len(changes) == 0 {
		if data != nil {
			t.Fatalf("no changes make %x, want nil", data)
		}
		return
	}
	got, err := decode(data)
	if err != nil {
		t.Fatalf("%x: %v", data, err)
	}
	if want := wanted(changes); !reflect.DeepEqual(got, want) {
		t.Fatalf("%+v become %+v, want %+v", changes, got, want)
	}
}

func TestBatchHoldsEachKeyOnceInOrder(t *testing.T) {
	long, longer := string(bytes.Repeat([]byte("k"), 200)), string(bytes.Repeat([]byte("v"), 20_000))
	for name, changes := range map[string][]change{
		"nothing":                        nil,
		"one":                            {{1, "k", "v", false}},
		"sorted":                         {{1, "a", "1", false}, {1, "b", "2", false}, {1, "c", "", true}},
		"reverse":                        {{1, "c", "", true}, {1, "b", "2", false}, {1, "a", "1", false}},
		"families out of order":          {{3, "a", "1", false}, {0, "b", "2", false}, {2, "c", "3", false}, {0, "a", "4", false}},
		"the last of a key":              {{1, "a", "1", false}, {1, "b", "", false}, {1, "a", "", true}, {1, "a", "2", false}},
		"the same key twice, in order":   {{1, "a", "1", false}, {1, "a", "2", false}, {1, "b", "3", false}},
		"deleted after it was put":       {{1, "a", "1", false}, {1, "a", "", true}},
		"put after it was deleted":       {{1, "a", "", true}, {1, "a", "1", false}},
		"the same prefix of eight bytes": {{1, "12345678b", "1", false}, {1, "12345678", "2", false}, {1, "12345678a", "3", false}, {1, "1234567", "4", false}},
		"zeros that a prefix is filled with": {
			{1, "a\x00\x00", "1", false}, {1, "a", "2", false}, {1, "a\x00", "3", false}, {1, "a\x00\x00\x00\x00\x00\x00\x00\x00", "4", false}, {1, "a\x00", "", true},
		},
		"high bytes":     {{1, "\xff", "1", false}, {1, "\x80", "2", false}, {1, "\x7f", "3", false}, {1, "\xff\xff\xff\xff\xff\xff\xff\xff\xff", "4", false}},
		"long ones":      {{1, long + "b", longer, false}, {1, long, longer + "2", false}, {1, long + "a", "", false}},
		"no value bytes": {{1, "b", "", false}, {1, "a", "", false}},
	} {
		t.Run(name, func(t *testing.T) { checkBatch(t, new(batch), changes) })
	}
}

// Enough changes for a sort to reorder them.
func TestLastChangeOfTheEmptyKeyCounts(t *testing.T) {
	var changes []change
	for i := range 200 {
		changes = append(changes, change{1, fmt.Sprint(i * 7919 % 200), "", false}, change{1, "", "", i%2 == 0}, change{1, "", "", i%2 != 0})
		checkBatch(t, new(batch), changes)
	}
}

func TestBatchCanBeUsedAgain(t *testing.T) {
	var b batch
	checkBatch(t, &b, []change{{1, "b", "1", false}, {1, "a", "2", false}, {2, "x", "3", false}})
	checkBatch(t, &b, nil)
	checkBatch(t, &b, []change{{2, "c", "", true}, {2, "a", "4", false}})
	checkBatch(t, &b, []change{{1, "a", "5", false}})
	b.release()
	checkBatch(t, &b, []change{{2, "b", "6", false}, {2, "a", "7", false}})
}

func TestBatchOfUnknownFamilyIsAnError(t *testing.T) {
	unknown := errors.New("unknown")
	var b batch
	b.apply([]change{{1, "a", "1", false}, {2, "b", "2", false}})
	data, err := b.encode(7, func(f storage.Family) (uint32, error) {
		if f == 2 {
			return 0, unknown
		}
		return 1, nil
	})
	if !errors.Is(err, unknown) || data != nil {
		t.Errorf("%x, %v; want %v", data, err, unknown)
	}
}

// Sizes in a batch have 32 bits: a larger batch is an error and is never truncated (trap 10).
func TestBatchThatIsTooLargeIsAnError(t *testing.T) {
	const size = 1<<31 + 100
	// Unmapped address space: the error must occur before the first byte is read.
	none, err := unix.Mmap(-1, 0, size, unix.PROT_NONE, unix.MAP_PRIVATE|unix.MAP_ANON|unix.MAP_NORESERVE)
	if err != nil {
		t.Skipf("no address space for %d bytes: %v", size, err)
	}
	defer unix.Munmap(none)
	var b batch
	b.family(1).data = none
	if data, err := b.encode(7, columnOf); !errors.Is(err, errTooLarge) {
		t.Errorf("%d bytes, %v; want %v", len(data), err, errTooLarge)
	}
}

// changesOf returns changes from fuzzed bytes, with few families and short keys, so that keys repeat.
func changesOf(data []byte) (changes []change) {
	for len(data) >= 2 {
		c := change{family: storage.Family(data[0] % 3), deleted: data[0]&0x80 != 0}
		size := min(int(data[1]%12), len(data)-2)
		if data[0]&0x40 != 0 {
			c.key = "a prefix of more than eight bytes"
		}
		c.key += string(data[2 : 2+size])
		if data = data[2+size:]; !c.deleted {
			size = min(int(c.family)*len(c.key), len(data))
			c.value, data = string(data[:size]), data[size:]
		}
		changes = append(changes, c)
	}
	return changes
}

func FuzzBatch(f *testing.F) {
	f.Add([]byte{})
	f.Add([]byte("\x00\x01a\x00\x01a\x80\x01a"))
	f.Add([]byte("\x41\x02zzvalue of a long key\x41\x01zanother value of a long key\xc1\x02zz"))
	f.Add([]byte("\x02\x09ten bytes!and a value\x01\x00\x01\x01\x00\x01\x02\x00\x00"))
	var b batch
	f.Fuzz(func(t *testing.T, data []byte) { checkBatch(t, &b, changesOf(data)) })
}
