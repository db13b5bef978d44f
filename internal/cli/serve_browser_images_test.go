package cli

import (
	"bytes"
	"image/png"
	"os"
	"path/filepath"
	"testing"

	"github.com/chromedp/chromedp"
)

// image is a picture of a page in docs/img.
type image struct {
	name, path    string
	scheme        string
	width, height int64
}

const (
	manyInputs  = "/bitcoin/tx/846fa8792c3ae9d7149c2b43b99343ab259ef2e96adf7f7bd2f8145f88091aeb"
	withAssets  = "/cardano-preview/tx/1799aed6dfdf356180e9df27bc8550b6344eb189c40191bd1d8933c1f8d925c0"
	manyCoins   = "/bitcoin/address/12higDjoCCNXSA95xZMWUdPvXNmkAduhWv"
	manyHolders = "/cardano-preview/asset/919e8a1922aaa764b1d66407c6f62244e77081215f385b60a62091494861707079436f696e"
)

var images = []image{
	{"home", "/cardano-preview", "light", desk, 900},
	{"home-dark", "/cardano-preview", "dark", desk, 900},
	{"block", "/bitcoin/block/2812", "light", desk, 960},
	{"transaction", manyInputs, "light", desk, 1100},
	{"transaction-dark", withAssets, "dark", desk, 1100},
	{"transaction-phone", manyInputs, "light", phone, 844},
	{"address", manyCoins, "light", desk, 1100},
	{"address-phone", manyCoins, "dark", phone, 844},
	{"asset", manyHolders, "light", desk, 1100},
	{"charts", "/bitcoin/charts", "light", desk, 1100},
}

const mostImageBytes = 200_000

var imageFolder = filepath.Join("..", "..", "docs", "img")

// The pictures in the documentation show the current pages: `make screenshots` takes them.
func TestScreenshots(t *testing.T) {
	if *update {
		takeImages(t)
	}
	index := filepath.Join(filepath.Dir(imageFolder), "README.md")
	shown, err := os.ReadFile(index)
	if err != nil {
		t.Fatal(err)
	}
	for _, i := range images {
		if !bytes.Contains(shown, []byte("(img/"+i.name+".png)")) {
			t.Errorf("%s is not in %s", i.name, index)
		}
		name := filepath.Join(imageFolder, i.name+".png")
		text, err := os.ReadFile(name)
		if err != nil {
			t.Error(err)
			continue
		}
		if len(text) > mostImageBytes {
			t.Errorf("%s has %d bytes, expected %d at most", name, len(text), mostImageBytes)
		}
		if got, err := png.DecodeConfig(bytes.NewReader(text)); err != nil || got.Width < int(i.width) {
			t.Errorf("%s is %d pixels wide, expected %d (%v)", name, got.Width, i.width, err)
		}
	}
}

func takeImages(t *testing.T) {
	browser := browser(t)
	dbs := explored(t)
	if len(dbs) < 3 {
		t.Fatal("pictures require the blocks of Cardano and Ergo")
	}
	b := newTab(t, browser, shownIn(t, dbs...))
	if err := os.MkdirAll(imageFolder, 0o755); err != nil {
		t.Fatal(err)
	}
	for _, i := range images {
		scale := 1.0
		if i.width == phone {
			scale = 2
		}
		b.do("size", chromedp.EmulateViewport(i.width, i.height, chromedp.EmulateScale(scale)), scheme(i.scheme))
		b.open(i.path, 200)
		shot, err := chromedp.Run(b.ctx, chromedp.CaptureScreenshot())
		if err != nil {
			t.Fatal(err)
		}
		// Chromium compresses pictures for speed.
		picture, err := png.Decode(bytes.NewReader(shot))
		if err != nil {
			t.Fatal(err)
		}
		var packed bytes.Buffer
		if err := (&png.Encoder{CompressionLevel: png.BestCompression}).Encode(&packed, picture); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(imageFolder, i.name+".png"), packed.Bytes(), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}
