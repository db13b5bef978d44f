package tapyrus_test

import (
	"encoding/hex"
	"encoding/json"
	"strings"
	"testing"

	"birthmark/bench/generate/coingen"
	"birthmark/chains/bitcoin"
	"birthmark/chains/chaintest"
	"birthmark/chains/tapyrus"
	"birthmark/internal/testnode/cointest"
)

// genesis is block 0 of the public test network (Tapyrus Core, contrib/docker/testnet-genesis-block-with-sig).
const genesis = "01000000000000000000000000000000000000000000000000000000000000000000000044cc181bd0e95c5b999a13d1fc0d193fa8223af97511ad2098217555a841b3518f18ec2536f0bb9d6d4834fcc712e9563840fe9f089db9e8fe890bffb82165849f52ba5e01210366262690cbdf648132ce0c088962c6361112582364ede120f3780ab73438fc4b402b1ed9996920f57a425f6f9797557c0e73d0c9fbafdebcaa796b136e0946ffa98d928f8130b6a572f83da39530b13784eeb7007465b673aa95091619e7ee208501010000000100000000000000000000000000000000000000000000000000000000000000000000000000ffffffff0100f2052a010000002776a92231415132437447336a686f37385372457a4b6533766636647863456b4a74356e7a4188ac00000000"

func unhex(t *testing.T, text string) []byte {
	t.Helper()
	b, err := hex.DecodeString(text)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func TestChain(t *testing.T) {
	coin, _ := coingen.Find("tapyrus")
	chaintest.Run(t, cointest.Fixture(t, coin, chaintest.Input{Name: "genesis", Network: "testnet", Data: unhex(t, genesis)}))
}

func TestGenesis(t *testing.T) {
	c, err := bitcoin.Open(tapyrus.Spec, "")
	if err != nil {
		t.Fatal(err)
	}
	b := cointest.Block(t, c, unhex(t, genesis), "038b114875c2f78f5a2fd7d8549a905f38ea5faee6e29a3d79e547151d6bdd8a", 1)
	header, err := c.Header(b.Header)
	text, _ := json.Marshal(header)
	if err != nil || !strings.Contains(string(text), `"aggregated_key":"0366262690cbdf648132ce0c088962c6361112582364ede120f3780ab73438fc4b"`) {
		t.Errorf("%s, %v", text, err)
	}
}

// The blocks of the network of Tapyrus Core's tests (test/functional/data/rpc_getblockstats.json) and the transactions
// (test/util/data) have the ids that Tapyrus Core has, further transactions those of the tests of tapyrusrb and
// tapyrusjs-lib (MIT licences).
func TestVectors(t *testing.T) {
	c, err := bitcoin.Open(tapyrus.Spec, "dev")
	if err != nil {
		t.Fatal(err)
	}
	cointest.Blocks(t, c, []cointest.Real{
		{File: "dev-0", Hash: "63410d108b766f03e5fae6012f60208ebc35e477f8ba271a7beee7c443ff153d", Txs: 1},
		{File: "dev-1", Hash: "1e3eaa109b64b761b7b4d7175f99482b262cfe23ceabc7efa03e7d99b255f7cd", Txs: 1},
		{File: "dev-2", Hash: "29dfa1bc89e064f09b170b9860303b5a0507f7e3a1b02c0dcc599eb6ca4126d5", Txs: 2},
		{File: "dev-3", Hash: "9eed23e3eaa4d69601d7169140e67a0fd755b33035d42f582fc7892f7a6d2861", Txs: 4},
	})
	cointest.Transactions(t, c)
}
