package mempool_test

import (
	"reflect"
	"testing"

	"birthmark/internal/testnode/coretest"
	"birthmark/model"
)

func TestNodesDescribeThemselves(t *testing.T) {
	n := coretest.Start(t)
	n.Mine(t)
	src := open(t, n.URL())
	want := &model.NodeInfo{
		Headers: int64(len(n.Blocks()) - 1), SizeOnDisk: 300, Version: "280000", Subversion: "/Satoshi:28.0.0/", Protocol: "70016",
		Warnings: []string{"pre-release test build"},
	}
	for range 2 { // the second one is cached
		if got := must[*model.NodeInfo](t)(src.NodeInfo(t.Context())); !reflect.DeepEqual(got, want) {
			t.Errorf("%+v, expected %+v", got, want)
		}
	}
	if c := n.Calls("getnetworkinfo"); c != 1 {
		t.Errorf("%d calls of getnetworkinfo", c)
	}
	n.Set(func(f *coretest.Faults) { f.Lacks = []string{"getnetworkinfo"} }) // btcd
	want.Version, want.Subversion, want.Protocol, want.TimeOffset = "240200", "", "70002", -1
	if got := must[*model.NodeInfo](t)(open(t, n.URL()).NodeInfo(t.Context())); !reflect.DeepEqual(got, want) {
		t.Errorf("%+v, expected %+v", got, want)
	}
	n.Set(func(f *coretest.Faults) { f.Starting = "Loading wallet…" })
	_, err := open(t, n.URL()).NodeInfo(t.Context())
	wantError(t, err, model.BadSource, "starting", "")
}
