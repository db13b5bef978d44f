package main

import (
	"context"
	"fmt"
	"net"
	"os"
	"path/filepath"

	"github.com/pingcap/badger"
	"github.com/pingcap/kvproto/pkg/tikvpb"
	"github.com/pingcap/tidb/store/mockstore/unistore/config"
	"github.com/pingcap/tidb/store/mockstore/unistore/lockstore"
	"github.com/pingcap/tidb/store/mockstore/unistore/pd"
	"github.com/pingcap/tidb/store/mockstore/unistore/tikv"
	"github.com/pingcap/tidb/store/mockstore/unistore/tikv/mvcc"
	"google.golang.org/grpc"
)

func serveStore(pdAddr, addr, dir string, regionSize int64) error {
	client, err := pd.NewClient([]string{pdAddr}, "store")
	if err != nil {
		return err
	}
	conf := config.DefaultConf
	conf.Server.PDAddr, conf.Server.StoreAddr = pdAddr, addr
	conf.Server.RegionSize = regionSize
	conf.Server.Raft = false
	conf.Engine.DBPath = dir

	physical, logical, err := client.GetTS(context.Background())
	if err != nil {
		return err
	}
	safePoint := &tikv.SafePoint{}
	db, err := open(filepath.Join(dir, "kv"), safePoint)
	if err != nil {
		return err
	}
	bundle := &mvcc.DBBundle{
		DB:        db,
		LockStore: lockstore.NewMemStore(8 << 20),
		StateTS:   uint64(physical)<<18 + uint64(logical),
	}
	writer, err := openJournal(filepath.Join(dir, "locks"), bundle)
	if err != nil {
		return err
	}
	regions := tikv.NewStandAloneRegionManager(bundle, tikv.RegionOptions{
		StoreAddr: addr, PDAddr: pdAddr, RegionSize: regionSize,
	}, client)
	inner := tikv.NewStandAlongInnerServer(bundle)
	store := tikv.NewMVCCStore(&conf, bundle, dir, safePoint, writer, client)
	store.DeadlockDetectSvr.ChangeRole(tikv.Leader)
	store.StartDeadlockDetection(false)

	listener, err := net.Listen("tcp", addr)
	if err != nil {
		return err
	}
	server := grpc.NewServer(grpc.MaxRecvMsgSize(64 << 20))
	tikvpb.RegisterTikvServer(server, &reverseServer{tikv.NewServer(regions, store, inner), regions, bundle})
	fmt.Println("ready")
	return server.Serve(listener)
}

// open opens the database. Its writes are in the page cache when they are acknowledged: they survive the end of the
// process, not that of the machine.
func open(dir string, safePoint *tikv.SafePoint) (*badger.DB, error) {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return nil, err
	}
	opts := badger.DefaultOptions
	opts.Dir, opts.ValueDir = dir, dir
	opts.ManagedTxns = true
	opts.SyncWrites = false
	opts.NumCompactors = 1
	opts.ValueThreshold = 0
	opts.MaxBlockCacheSize, opts.MaxIndexCacheSize = 0, 0
	opts.ValueLogWriteOptions.WriteBufferSize = 4 << 20
	opts.CompactL0WhenClose = false
	// A get of an old version in a table on disk returns the newest version if the table's hash index has a collision: this
	// badger does not look for the version then. Its tables in memory do. The memory is used only when it is filled.
	opts.MaxMemTableSize = 1 << 30
	opts.CompactionFilterFactory = safePoint.CreateCompactionFilter
	return badger.Open(opts)
}
