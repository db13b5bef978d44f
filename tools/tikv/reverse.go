package main

import (
	"bytes"
	"context"
	"slices"
	"sync"

	"github.com/pingcap/badger"
	"github.com/pingcap/badger/y"
	"github.com/pingcap/kvproto/pkg/kvrpcpb"
	"github.com/pingcap/kvproto/pkg/tikvpb"
	"github.com/pingcap/tidb/store/mockstore/unistore/tikv"
	"github.com/pingcap/tidb/store/mockstore/unistore/tikv/mvcc"
)

// reverseServer is unistore with reverse scans that read at their timestamp. Those of unistore read the newest rows: it
// creates the iterator before it sets the timestamp.
type reverseServer struct {
	*tikv.Server
	regions tikv.RegionManager
	bundle  *mvcc.DBBundle
}

// KvScan implements tikvpb.TikvServer.
func (s *reverseServer) KvScan(ctx context.Context, req *kvrpcpb.ScanRequest) (*kvrpcpb.ScanResponse, error) {
	if !req.Reverse {
		return s.Server.KvScan(ctx, req)
	}
	region, regionErr := s.regions.GetRegionFromCtx(req.Context)
	if regionErr != nil {
		return &kvrpcpb.ScanResponse{RegionError: regionErr}, nil
	}
	first, end := req.EndKey, req.StartKey
	if bytes.Compare(first, region.RawStart()) < 0 {
		first = region.RawStart()
	}
	// Locks first: a transaction that commits later has a later timestamp.
	pairs := s.locks(req, first, end)
	rows, err := s.rows(req, first, end)
	if err != nil {
		return nil, err
	}
	for _, row := range rows {
		if !slices.ContainsFunc(pairs, func(p *kvrpcpb.KvPair) bool { return bytes.Equal(p.Key, row.Key) }) {
			pairs = append(pairs, row)
		}
	}
	slices.SortFunc(pairs, func(a, b *kvrpcpb.KvPair) int { return bytes.Compare(b.Key, a.Key) })
	return &kvrpcpb.ScanResponse{Pairs: pairs[:min(len(pairs), int(req.Limit))]}, nil
}

// locks returns an error for each key of [first, end) whose lock may hide a version.
func (s *reverseServer) locks(req *kvrpcpb.ScanRequest, first, end []byte) (pairs []*kvrpcpb.KvPair) {
	it := s.bundle.LockStore.NewIterator()
	for it.Seek(first); it.Valid() && bytes.Compare(it.Key(), end) < 0; it.Next() {
		lock := mvcc.DecodeLock(it.Value())
		writes := lock.Op == uint8(kvrpcpb.Op_Put) || lock.Op == uint8(kvrpcpb.Op_Del)
		if lock.StartTS > req.Version || !writes || slices.Contains(req.Context.ResolvedLocks, lock.StartTS) {
			continue
		}
		key := bytes.Clone(it.Key())
		pairs = append(pairs, &kvrpcpb.KvPair{Key: key, Error: &kvrpcpb.KeyError{Locked: lock.ToLockInfo(key)}})
	}
	return pairs
}

// rows returns the last rows of [first, end), in descending order.
func (s *reverseServer) rows(req *kvrpcpb.ScanRequest, first, end []byte) (pairs []*kvrpcpb.KvPair, err error) {
	txn := s.bundle.DB.NewTransaction(false)
	defer txn.Discard()
	txn.SetReadTS(req.Version)
	it := txn.NewIterator(badger.IteratorOptions{
		Reverse: true, StartKey: y.KeyWithTs(first, 0), EndKey: y.KeyWithTs(end, 0),
	})
	defer it.Close()
	for it.Seek(end); it.Valid() && len(pairs) < int(req.Limit); it.Next() {
		item := it.Item()
		key := bytes.Clone(item.Key())
		if bytes.Compare(key, first) < 0 {
			break
		}
		if bytes.Compare(key, end) >= 0 || item.IsEmpty() {
			continue
		}
		value, err := item.ValueCopy(nil)
		if err != nil {
			return nil, err
		}
		pairs = append(pairs, &kvrpcpb.KvPair{Key: key, Value: value})
	}
	return pairs, nil
}

// BatchCommands implements tikvpb.TikvServer.
func (s *reverseServer) BatchCommands(stream tikvpb.Tikv_BatchCommandsServer) error {
	return s.Server.BatchCommands(&reverseStream{Tikv_BatchCommandsServer: stream, server: s})
}

// reverseStream takes the reverse scans out of a stream of requests and answers them.
type reverseStream struct {
	tikvpb.Tikv_BatchCommandsServer
	server *reverseServer
	mu     sync.Mutex // serialises sends
}

func (s *reverseStream) Send(resp *tikvpb.BatchCommandsResponse) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.Tikv_BatchCommandsServer.Send(resp)
}

func (s *reverseStream) Recv() (*tikvpb.BatchCommandsRequest, error) {
	all, err := s.Tikv_BatchCommandsServer.Recv()
	if err != nil {
		return nil, err
	}
	others := &tikvpb.BatchCommandsRequest{}
	for i, req := range all.Requests {
		id := all.RequestIds[i]
		if scan, ok := req.Cmd.(*tikvpb.BatchCommandsRequest_Request_Scan); ok && scan.Scan.Reverse {
			go s.answer(id, scan.Scan)
			continue
		}
		others.Requests = append(others.Requests, req)
		others.RequestIds = append(others.RequestIds, id)
	}
	return others, nil
}

func (s *reverseStream) answer(id uint64, req *kvrpcpb.ScanRequest) {
	resp, err := s.server.KvScan(s.Context(), req)
	if err != nil {
		resp = &kvrpcpb.ScanResponse{Error: &kvrpcpb.KeyError{Abort: err.Error()}}
	}
	_ = s.Send(&tikvpb.BatchCommandsResponse{ // the client repeats a request without an answer
		RequestIds: []uint64{id},
		Responses: []*tikvpb.BatchCommandsResponse_Response{
			{Cmd: &tikvpb.BatchCommandsResponse_Response_Scan{Scan: resp}},
		},
	})
}
