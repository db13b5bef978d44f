package config

import (
	"strings"
	"testing"
)

// The memory for unconfirmed transactions is part of the memory of the chain.
func TestReserveMempool(t *testing.T) {
	for _, c := range []struct {
		memory, mempool, reserved, left Size
		fault                           string
	}{
		{memory: 2 * GiB, mempool: MempoolOff, reserved: MempoolOff, left: 2 * GiB},
		{memory: 2000 * MiB, mempool: MempoolAuto, reserved: 200 * MiB, left: 1800 * MiB},
		{memory: 64 * GiB, mempool: MempoolAuto, reserved: GiB, left: 63 * GiB},
		{memory: LeastMemory, mempool: MempoolAuto, reserved: LeastMemory / 10, left: LeastMemory},
		{memory: GiB, mempool: 256 * MiB, reserved: 256 * MiB, left: 768 * MiB},
		{memory: GiB, mempool: 600 * MiB, fault: "mempool: 600MiB of the 1GiB"},
		{memory: 100 * MiB, mempool: 40 * MiB, fault: "and 64MiB, must be left"},
	} {
		set := Chain{Memory: c.memory, Mempool: c.mempool}
		err := set.ReserveMempool(GiB)
		if c.fault != "" {
			if err == nil || !strings.Contains(err.Error(), c.fault) {
				t.Errorf("%v of %v: error %v, expected %q", c.mempool, c.memory, err, c.fault)
			}
			continue
		}
		if err != nil || set.Mempool != c.reserved || set.Memory != c.left {
			t.Errorf("%v of %v: reserved %v, left %v, %v", c.mempool, c.memory, set.Mempool, set.Memory, err)
		}
	}
}

func TestReserveWatch(t *testing.T) {
	set := Chain{Memory: 2000 * MiB}
	if err := set.ReserveWatch(); err != nil || set.Watch != 100*MiB || set.Memory != 1900*MiB {
		t.Errorf("auto: reserved %v, left %v, %v", set.Watch, set.Memory, err)
	}
	set = Chain{Memory: 400 * MiB, Watch: 300 * MiB}
	if err := set.ReserveWatch(); err == nil || !strings.Contains(err.Error(), "watch: 300MiB of the 400MiB of memory") {
		t.Errorf("too much: %v", err)
	}
}

func TestParseMempool(t *testing.T) {
	for text, want := range map[string]Size{"auto": MempoolAuto, "off": MempoolOff, "256MiB": 256 * MiB} {
		if got, err := ParseMempool(text); err != nil || got != want {
			t.Errorf("%s: %v, %v, expected %v", text, got, err, want)
		}
	}
	for text, fault := range map[string]string{"1MiB": "the least is 4MiB", "much": "expected a size, auto or off"} {
		if _, err := ParseMempool(text); err == nil || !strings.Contains(err.Error(), fault) {
			t.Errorf("%s: error %v, expected %q", text, err, fault)
		}
	}
}
