package ouroborostest

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"

	ouroboros "github.com/blinklabs-io/gouroboros"
	"github.com/blinklabs-io/gouroboros/cbor"
	"github.com/blinklabs-io/gouroboros/muxer"
	"github.com/blinklabs-io/gouroboros/protocol"
	"github.com/blinklabs-io/gouroboros/protocol/blockfetch"
	"github.com/blinklabs-io/gouroboros/protocol/chainsync"
	"github.com/blinklabs-io/gouroboros/protocol/handshake"
	"github.com/blinklabs-io/gouroboros/protocol/keepalive"
	"github.com/blinklabs-io/gouroboros/protocol/localstatequery"
	"github.com/blinklabs-io/gouroboros/protocol/localtxmonitor"
	"github.com/blinklabs-io/gouroboros/protocol/localtxsubmission"
)

// serve serves one client until it disconnects.
func (n *Node) serve(w *wire, toNode bool) {
	if err := n.greet(w); err != nil {
		return
	}
	c := &cursor{node: n, toNode: toNode, wire: w, rollback: true}
	n.mu.Lock()
	n.cursors[c] = true
	n.mu.Unlock()
	defer func() {
		n.mu.Lock()
		defer n.mu.Unlock()
		delete(n.cursors, c)
	}()
	m := &monitor{node: n, wire: w}
	failed := make(chan error, 10)
	// The error of the handshake also arrives on this channel, which is closed at the end.
	_, _ = ouroboros.NewConnection(
		ouroboros.WithConnection(w),
		ouroboros.WithServer(true),
		ouroboros.WithNodeToNode(toNode),
		ouroboros.WithNetworkMagic(n.magic),
		ouroboros.WithErrorChan(failed),
		ouroboros.WithChainSyncConfig(chainsync.NewConfig(
			chainsync.WithFindIntersectFunc(c.findIntersect), chainsync.WithRequestNextFunc(c.requestNext))),
		ouroboros.WithBlockFetchConfig(blockfetch.Config{RequestRangeFunc: n.requestRange(w)}),
		ouroboros.WithKeepAliveConfig(keepalive.NewConfig(keepalive.WithKeepAliveFunc(
			func(ctx keepalive.CallbackContext, cookie uint16) error {
				n.count("keep alive")
				return ctx.Server.SendMessage(keepalive.NewMsgKeepAliveResponse(cookie))
			}))),
		ouroboros.WithLocalTxMonitorConfig(localtxmonitor.NewConfig(localtxmonitor.WithGetMempoolFunc(m.acquire))),
		ouroboros.WithLocalTxSubmissionConfig(localtxsubmission.NewConfig(localtxsubmission.WithSubmitTxFunc(n.submit))),
		ouroboros.WithLocalStateQueryConfig(localstatequery.NewConfig(
			localstatequery.WithAcquireFunc(func(localstatequery.CallbackContext, localstatequery.AcquireTarget, bool) error { return nil }),
			localstatequery.WithReleaseFunc(func(localstatequery.CallbackContext) error { return nil }),
			localstatequery.WithQueryFunc(n.query))),
	)
	for range failed { // closed at the end
	}
}

// greet refuses a client of another network. gouroboros would close the connection before the message is sent.
func (n *Node) greet(w *wire) error {
	frame := make([]byte, frameHead)
	if _, err := io.ReadFull(w, frame); err != nil {
		return err
	}
	size := int(binary.BigEndian.Uint16(frame[frameHead-2:]))
	frame = append(frame, make([]byte, size)...)
	if _, err := io.ReadFull(w, frame[frameHead:]); err != nil {
		return err
	}
	w.unread = frame
	msg, err := handshake.NewMsgFromCbor(handshake.MessageTypeProposeVersions, frame[frameHead:])
	if err != nil {
		return nil // gouroboros refuses it
	}
	version, magic := uint16(0), uint32(0)
	for v, data := range msg.(*handshake.MsgProposeVersions).VersionMap {
		if read := protocol.GetProtocolVersion(v).NewVersionDataFromCborFunc; read != nil && v > version {
			if d, err := read(data); err == nil {
				version, magic = v, d.NetworkMagic()
			}
		}
	}
	if version == 0 || magic == n.magic {
		return nil
	}
	words := fmt.Sprintf("version data mismatch: networkMagic = %d /= networkMagic = %d", n.magic, magic)
	refusal, err := cbor.Encode(handshake.NewMsgRefuse([]any{handshake.RefuseReasonRefused, version, words}))
	if err != nil {
		return err
	}
	s := muxer.NewSegment(handshake.ProtocolId, refusal, true)
	answer, err := binary.Append(nil, binary.BigEndian, s.SegmentHeader)
	if err != nil {
		return err
	}
	_, err = w.Write(append(answer, s.Payload...))
	return errors.Join(err, errors.New(words))
}
