package schema

import (
	"encoding/binary"
	"math"

	"birthmark/model"
	"birthmark/storage"
)

// The index statistics of a chain and the option statistics of an index each have a family by block and one by day.

var sumsFamily = declare(IndexSums, "I_by_height_pk", storage.Ordered, 0,
	"height_pk", "uvarint unspent|uvarint supply|[uvarint sum]",
	"the number and the value of all outputs that are unspent after a block; then its sums: transactions, inputs, outputs, "+
		"bytes, spent value, created value, fees, transactions with an unknown fee, assets that are born, mints, burns. "+
		"Genesis outputs are part of the first block")

var sumsDayFamily = declare(IndexSumsDays, "I_by_day", storage.Ordered, 0,
	"day", "uvarint blocks|[uvarint sum]",
	"the sums of the blocks of a day (UTC, by the time of their headers): the number of blocks, then as of a block. A day "+
		"is 4 bytes, big-endian: the days since 1970-01-01 plus 2^31")

var valuesFamily = declare(IndexStatistics, "I_statistics_by_height_pk", storage.Ordered, 0,
	"height_pk", "uvarint new|uvarint active|uvarint first",
	"option statistics: the values that are born in a block, that occur in an output which it creates or spends, and "+
		"the active values that occur in no earlier block of its day. A block without values has no row")

var valuesDayFamily = declare(IndexStatisticsDays, "I_statistics_by_day", storage.Ordered, 0,
	"day", "height_pk|uvarint new|uvarint active",
	"option statistics: the first block of a day with values, the values that are born on it, and the values that "+
		"occur in an output which its blocks create or spend")

// Day is a number of days since 1970-01-01, UTC.
type Day int32

// The days that keys can have.
const (
	FirstDay Day = math.MinInt32
	LastDay  Day = math.MaxInt32
)

const secondsPerDay = 24 * 60 * 60

// DayOf returns the day of a time in Unix seconds.
func DayOf(seconds int64) Day {
	day := seconds / secondsPerDay
	if seconds%secondsPerDay < 0 {
		day--
	}
	return Day(max(math.MinInt32, min(math.MaxInt32, day)))
}

// Begin returns the first second of the day.
func (d Day) Begin() int64 { return int64(d) * secondsPerDay }

const dayOffset = 1 << 31

// AppendTo appends the key of a day.
func (d Day) AppendTo(b []byte) []byte {
	return binary.BigEndian.AppendUint32(b, uint32(int64(d)+dayOffset))
}

// ParseDay decodes the key of a day.
func ParseDay(key []byte) (Day, error) {
	r := reader{b: key}
	n := binary.BigEndian.Uint32(r.take(4, "day"))
	return Day(int64(n) - dayOffset), r.end()
}

// Statistics are sums over blocks.
type Statistics struct {
	Txs, Inputs, Outputs, Bytes uint64
	Spent, Created              model.Uint128 // values of the outputs that inputs spend, and of new outputs
	Fees                        model.Uint128
	FeesUnknown                 uint64 // transactions with a fee of unknown amount
	Assets                      uint64 // that are born
	Mints, Burns                uint64 // of an asset by a transaction
}

// HasAssets reports whether a sum of assets is not 0.
func (s *Statistics) HasAssets() bool { return s.Assets+s.Mints+s.Burns > 0 }

// ClearAssets sets the sums of assets to 0.
func (s *Statistics) ClearAssets() { s.Assets, s.Mints, s.Burns = 0, 0, 0 }

func (s *Statistics) numbers() []*uint64 {
	return []*uint64{&s.Txs, &s.Inputs, &s.Outputs, &s.Bytes, &s.FeesUnknown, &s.Assets, &s.Mints, &s.Burns}
}

func (s *Statistics) amounts() []*model.Uint128 {
	return []*model.Uint128{&s.Spent, &s.Created, &s.Fees}
}

// Add adds the sums of other blocks; sign -1 subtracts them. It returns false if a sum becomes negative or too large.
func (s *Statistics) Add(o *Statistics, sign int64) (ok bool) {
	ok = true
	others := o.numbers()
	for i, n := range s.numbers() {
		ok = ok && (sign > 0 || *others[i] <= *n)
		*n += uint64(sign) * *others[i]
	}
	amounts := o.amounts()
	for i, n := range s.amounts() {
		fits := false
		if sign > 0 {
			*n, fits = n.Add(*amounts[i])
		} else {
			*n, fits = n.Sub(*amounts[i])
		}
		ok = ok && fits
	}
	return ok
}

func (s *Statistics) appendTo(b []byte) []byte {
	for _, n := range []uint64{s.Txs, s.Inputs, s.Outputs, s.Bytes} {
		b = binary.AppendUvarint(b, n)
	}
	for _, n := range []model.Uint128{s.Spent, s.Created, s.Fees} {
		b = n.AppendUvarint(b)
	}
	for _, n := range []uint64{s.FeesUnknown, s.Assets, s.Mints, s.Burns} {
		b = binary.AppendUvarint(b, n)
	}
	return b
}

func (r *reader) statistics() Statistics {
	return Statistics{
		Txs: r.uvarint("transactions"), Inputs: r.uvarint("inputs"), Outputs: r.uvarint("outputs"), Bytes: r.uvarint("bytes"),
		Spent: r.uvarint128("spent value"), Created: r.uvarint128("created value"), Fees: r.uvarint128("fees"),
		FeesUnknown: r.uvarint("fees unknown"), Assets: r.uvarint("assets"), Mints: r.uvarint("mints"), Burns: r.uvarint("burns"),
	}
}

// BlockStatistics are the sums of a block, and the unspent outputs after it.
type BlockStatistics struct {
	Statistics
	Unspent uint64        // outputs
	Supply  model.Uint128 // their value
}

// AppendBlockStatistics appends a row of a block in the index statistics.
func AppendBlockStatistics(b []byte, s *BlockStatistics) []byte {
	return s.appendTo(s.Supply.AppendUvarint(binary.AppendUvarint(b, s.Unspent)))
}

// ParseBlockStatistics decodes such a row.
func ParseBlockStatistics(b []byte) (BlockStatistics, error) {
	r := reader{b: b}
	s := BlockStatistics{Unspent: r.uvarint("unspent outputs"), Supply: r.uvarint128("supply"), Statistics: r.statistics()}
	return s, r.end()
}

// DayStatistics are the sums of the blocks of a day.
type DayStatistics struct {
	Blocks uint64
	Statistics
}

// AppendDayStatistics appends a row of a day in the index statistics.
func AppendDayStatistics(b []byte, s *DayStatistics) []byte {
	return s.appendTo(binary.AppendUvarint(b, s.Blocks))
}

// ParseDayStatistics decodes such a row.
func ParseDayStatistics(b []byte) (DayStatistics, error) {
	r := reader{b: b}
	s := DayStatistics{Blocks: r.uvarint("blocks"), Statistics: r.statistics()}
	if s.Blocks == 0 {
		r.fail("no blocks")
	}
	return s, r.end()
}

// BlockValues are the numbers of values of an index in a block.
type BlockValues struct {
	New    uint64 // born in it
	Active uint64 // that occur in an output which it creates or spends
	First  uint64 // of Active: that occur in no earlier block of its day
}

// AppendBlockValues appends a row of a block of the option statistics.
func AppendBlockValues(b []byte, v BlockValues) []byte {
	for _, n := range []uint64{v.New, v.Active, v.First} {
		b = binary.AppendUvarint(b, n)
	}
	return b
}

// ParseBlockValues decodes such a row.
func ParseBlockValues(b []byte) (BlockValues, error) {
	r := reader{b: b}
	v := BlockValues{New: r.uvarint("new"), Active: r.uvarint("active"), First: r.uvarint("first")}
	if v.Active == 0 || v.New > v.Active || v.First > v.Active {
		r.fail("numbers do not match")
	}
	return v, r.end()
}

// DayValues are the numbers of values of an index on a day.
type DayValues struct {
	First       model.HeightPk // the first block with values
	New, Active uint64         // as in [BlockValues]
}

// AppendDayValues appends a row of a day of the option statistics.
func AppendDayValues(b []byte, v DayValues) []byte {
	return binary.AppendUvarint(binary.AppendUvarint(v.First.AppendTo(b), v.New), v.Active)
}

// ParseDayValues decodes such a row.
func ParseDayValues(b []byte) (DayValues, error) {
	r := reader{b: b}
	v := DayValues{First: r.height(), New: r.uvarint("new"), Active: r.uvarint("active")}
	if v.Active == 0 || v.New > v.Active {
		r.fail("numbers do not match")
	}
	return v, r.end()
}
