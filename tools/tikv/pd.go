package main

import (
	"context"
	"fmt"

	"github.com/tikv/pd/server"
	"github.com/tikv/pd/server/config"
	_ "github.com/tikv/pd/server/schedulers" // the default configuration refers to them
)

func servePD(client, peer, dir string) error {
	cfg := config.NewConfig()
	err := cfg.Parse([]string{
		"-name", "pd", "-data-dir", dir, "-L", "error",
		"-client-urls", "http://" + client, "-peer-urls", "http://" + peer,
	})
	if err != nil {
		return err
	}
	if err := cfg.SetupLogger(); err != nil {
		return err
	}
	cfg.PDServerCfg.DashboardAddress = "none"
	cfg.Dashboard.EnableTelemetry = false
	ctx := context.Background()
	svr, err := server.CreateServer(ctx, cfg)
	if err != nil {
		return err
	}
	if err := svr.Run(); err != nil {
		return err
	}
	fmt.Println("ready")
	select {}
}
