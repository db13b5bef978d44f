package daemon

import (
	"context"
	"errors"
	"slices"
	"strings"
	"time"

	"birthmark/api/netserver"
	"birthmark/internal/config"
	"birthmark/internal/control"
	"birthmark/model"
)

// reachTime limits the time for an answer of a node when settings are checked.
const reachTime = 10 * time.Second

// CheckNodes returns the errors of the source and of the node of a chain: each is opened and, if it is a node, must
// return its tip. Peers of p2p:// are not searched, and files are not read to their end.
func (h *Host) CheckNodes(ctx context.Context, set *config.Chain) (failed []error) {
	if set.Chain == "" || set.Source == "" && set.Node == "" {
		return nil
	}
	chain, err := h.Chain(set)
	if err != nil {
		return []error{err}
	}
	now := *set
	now.SourceWait = 0
	reach := func(uri string, open func(ctx context.Context) (model.Source, error)) {
		scheme, _, found := strings.Cut(uri, "://")
		if uri == "" || scheme == "p2p" || uri == "-" {
			return
		}
		ctx, cancel := context.WithTimeout(ctx, reachTime)
		defer cancel()
		src, err := open(ctx)
		if err == nil && src != nil {
			if found && scheme != "file" {
				_, err = src.Tip(ctx)
			}
			err = errors.Join(err, src.Close())
		}
		if err != nil {
			failed = append(failed, err)
		}
	}
	reach(now.Source, func(ctx context.Context) (model.Source, error) {
		return h.OpenSource(ctx, &now, chain, model.SourceOptions{})
	})
	if now.Node != now.Source {
		reach(now.Node, func(ctx context.Context) (model.Source, error) { return OpenNode(ctx, &now, chain, nil) })
	}
	return failed
}

// CheckAddresses returns the errors of the addresses that a server with the settings cannot listen on. An address in use
// is no error while a process writes one of the databases, as it can be that server. listen is checked if it is set.
func CheckAddresses(ctx context.Context, listen string, sets []*config.Chain) (failed []error) {
	var addresses []string
	if listen != "" {
		addresses = append(addresses, listen)
	}
	for _, set := range sets {
		for _, form := range electrumForms {
			if address := form.address(&set.Serve); address != "" {
				addresses = append(addresses, address)
			}
		}
	}
	running := slices.ContainsFunc(sets, func(set *config.Chain) bool {
		dir, err := Folder(set)
		if err != nil {
			return false
		}
		_, err = control.Ask(ctx, dir, control.Request{Do: control.State})
		return err == nil
	})
	for _, address := range addresses {
		l, err := netserver.Listen(address)
		if err == nil {
			err = l.Close()
		} else if _, code := model.KindOf(err); code == "address_in_use" && running {
			continue
		}
		if err != nil {
			failed = append(failed, err)
		}
	}
	return failed
}
