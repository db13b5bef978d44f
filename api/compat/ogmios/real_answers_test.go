package ogmios_test

import (
	"bytes"
	"cmp"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"reflect"
	"strings"
	"testing"

	"github.com/blinklabs-io/gouroboros/cbor"

	"birthmark/api/compat/answertest"
	"birthmark/api/compat/ogmios"
	"birthmark/internal/testnode/cardanotest"
	"birthmark/internal/testnode/ouroborostest"
)

// vectors are answers that Ogmios' own encoder wrote, in server/test/vectors of CardanoSolutions/ogmios. fixtures are
// answers of a running Ogmios, in fixtures/test/ogmios of Plutonomicon/cardano-transaction-lib.
const (
	vectors  = "CardanoSolutions/ogmios server/test/vectors/"
	fixtures = "Plutonomicon/cardano-transaction-lib fixtures/test/ogmios/"
)

// answers of Ogmios by method, in the order in which a client can send the requests. $TX is a transaction.
var answers = []struct{ method, params, source, answer string }{
	{"queryLedgerState/epoch", ``, fixtures + "queryLedgerState-epoch-549aea404aff3926f2fce0325e9cd8d4.json",
		`{"jsonrpc":"2.0","method":"queryLedgerState/epoch","result":369,"id":"queryLedgerState/epoch-hfkgvfollxkiih0n"}`},
	{"queryLedgerState/tip", ``, vectors + "QueryLedgerStateTip/000.json",
		`{"jsonrpc":"2.0","method":"queryLedgerState/tip","result":{"slot":1349415,"id":"67913ef2cdaf4a37aacbd71f1772c5386a91742a4504f332c24a5f6345fa9199"},"id":null}`},
	{"queryNetwork/tip", ``, fixtures + "queryNetwork-tip-0175559aa0cbb9d1a23217a7152cc76f.json",
		`{"jsonrpc":"2.0","method":"queryNetwork/tip","result":{"slot":31932656,"id":"4088d6aad9edebce1047e09259981a52ebdec26904d632090f643811cd137556"},"id":"x"}`},
	{"queryNetwork/blockHeight", ``, vectors + "QueryNetworkBlockHeight/000.json", `{"jsonrpc":"2.0","method":"queryNetwork/blockHeight","result":7,"id":null}`},
	{"queryLedgerState/protocolParameters", ``, fixtures + "queryLedgerState-protocolParameters-preview-256d19f15eb1f722b0b66b25d20961b8.json", previewParameters},
	{"queryLedgerState/rewardAccountSummaries", `{"keys":["$KEY"]}`, vectors + "QueryLedgerStateRewardAccountSummaries/004.json",
		`{"jsonrpc":"2.0","method":"queryLedgerState/rewardAccountSummaries","result":[{"from":"script","credential":"1724ac7181c8510cb1f6e3e98dd9a28faee404bb2a3c6810926e0f1c",
			"stakePool":{"id":"pool16egqhg7t60spypmzlcfpwa7h33r27eq023e965lymlkmkn96s8d"},
			"delegateRepresentative":{"type":"registered","from":"verificationKey","id":"a6be9931b8032acf905d61e7f88bd76f94619361c6e816c8c074bf62"},
			"rewards":{"ada":{"lovelace":5}},"deposit":{"ada":{"lovelace":26038}}}],"id":null}`},
	{"sizeOfMempool", ``, vectors + "SizeOfMempoolResponse/000.json", mustAcquire("sizeOfMempool")},
	{"hasTransaction", `{"id":"$TX"}`, vectors + "HasTransactionResponse/000.json", mustAcquire("hasTransaction")},
	{"nextTransaction", ``, vectors + "NextTransactionResponse/000.json", mustAcquire("nextTransaction")},
	{"releaseMempool", ``, vectors + "ReleaseMempoolResponse/000.json", mustAcquire("releaseMempool")},
	{"submitTransaction", `{"transaction":{"cbor":"$RAW"}}`, vectors + "SubmitTransactionResponse/147.json",
		`{"jsonrpc":"2.0","method":"submitTransaction","result":{"transaction":{"id":"c4f638b1e44d2fa410f3fcc1d6424d4ed3c1507f425aba78b7ae37cdcd100cfb"}},"id":"x"}`},
	{"submitTransaction", `{"transaction":{"cbor":"$REFUSED"}}`, vectors + "SubmitTransactionResponse/004.json",
		`{"jsonrpc":"2.0","method":"submitTransaction","error":{"code":3997,"message":"$ANY","data":{"error":"All inputs are spent. Transaction has probably already been included"}},"id":null}`},
	{"acquireMempool", ``, vectors + "AcquireMempoolResponse/000.json",
		`{"jsonrpc":"2.0","method":"acquireMempool","result":{"acquired":"mempool","slot":7},"id":null}`},
	{"sizeOfMempool", ``, vectors + "SizeOfMempoolResponse/002.json",
		`{"jsonrpc":"2.0","method":"sizeOfMempool","result":{"maxCapacity":{"bytes":4},"currentSize":{"bytes":4},"transactions":{"count":0}},"id":"x"}`},
	{"hasTransaction", `{"id":"$TX"}`, vectors + "HasTransactionResponse/002.json", `{"jsonrpc":"2.0","method":"hasTransaction","result":false,"id":"x"}`},
	{"nextTransaction", ``, vectors + "NextTransactionResponse/002.json",
		`{"jsonrpc":"2.0","method":"nextTransaction","result":{"transaction":{"id":"80f38dfd97f7e0e04bc39c54b3242b0a07775fad7185b4c641ca32b789c667d4"}},"id":"x"}`},
	{"nextTransaction", `{"fields":"all"}`, vectors + "NextTransactionResponse/008.json and 009.json", wholeTransaction},
	{"releaseMempool", ``, vectors + "ReleaseMempoolResponse/002.json", `{"jsonrpc":"2.0","method":"releaseMempool","result":{"released":"mempool"},"id":"x"}`},
}

func mustAcquire(method string) string {
	return fmt.Sprintf(`{"jsonrpc":"2.0","method":%q,"error":{"code":4000,"message":"You must acquire a mempool snapshot prior to accessing it."},"id":null}`, method)
}

// previewParameters are those of preview at version 9, with two costs of each language.
const previewParameters = `{"jsonrpc":"2.0","method":"queryLedgerState/protocolParameters","result":{"minFeeCoefficient":44,"minFeeConstant":
	{"ada":{"lovelace":155381}},"minFeeReferenceScripts":{"base":15,"range":25600,"multiplier":1.2},"maxBlockBodySize":{"bytes":90112},
	"maxBlockHeaderSize":{"bytes":1100},"maxTransactionSize":{"bytes":16384},"maxReferenceScriptsSize":{"bytes":204800},
	"stakeCredentialDeposit":{"ada":{"lovelace":2000000}},"stakePoolDeposit":{"ada":{"lovelace":500000000}},"stakePoolRetirementEpochBound":18,
	"desiredNumberOfStakePools":500,"stakePoolPledgeInfluence":"3/10","monetaryExpansion":"3/1000","treasuryExpansion":"1/5","minStakePoolCost":
	{"ada":{"lovelace":170000000}},"minUtxoDepositConstant":{"ada":{"lovelace":0}},"minUtxoDepositCoefficient":4310,"plutusCostModels":
	{"plutus:v1":[100788,420],"plutus:v2":[100788,420],"plutus:v3":[100788,420]},"scriptExecutionPrices":{"memory":"577/10000","cpu":"721/10000000"},
	"maxExecutionUnitsPerTransaction":{"memory":14000000,"cpu":10000000000},"maxExecutionUnitsPerBlock":{"memory":62000000,"cpu":20000000000},
	"maxValueSize":{"bytes":5000},"collateralPercentage":150,"maxCollateralInputs":3,"version":{"major":9,"minor":0},"stakePoolVotingThresholds":
	{"noConfidence":"51/100","constitutionalCommittee":{"default":"51/100","stateOfNoConfidence":"51/100"},"hardForkInitiation":"51/100",
	"protocolParametersUpdate":{"security":"51/100"}},"delegateRepresentativeVotingThresholds":{"noConfidence":"67/100","constitutionalCommittee":
	{"default":"67/100","stateOfNoConfidence":"3/5"},"constitution":"3/4","hardForkInitiation":"3/5","protocolParametersUpdate":{"network":"67/100",
	"economic":"67/100","technical":"67/100","governance":"3/4"},"treasuryWithdrawals":"67/100"},"constitutionalCommitteeMinSize":0,
	"constitutionalCommitteeMaxTermLength":365,"governanceActionLifetime":30,"governanceActionDeposit":{"ada":{"lovelace":100000000000}},
	"delegateRepresentativeDeposit":{"ada":{"lovelace":500000000}},"delegateRepresentativeMaxIdleTime":20},"id":"x"}`

// wholeTransaction has the parts of the vectors that this server answers (docs/cardano-clients.md), and the CBOR, which
// Ogmios adds with the option --include-transaction-cbor.
const wholeTransaction = `{"jsonrpc":"2.0","method":"nextTransaction","result":{"transaction":{"id":"cb6fb2de5037d2309a7c8dea6428462d822bab82293ede579cb09bc9563b9a45",
	"spends":"collaterals","inputs":[{"transaction":{"id":"39f2c90b1125544c7ebdb0444cd219925ede92ccb356c88ae7210bcabf936b68"},"index":0}],
	"references":[{"transaction":{"id":"0ad0b2ddb54c6f3b9ef00f07c03d2c9507905e74a6a82135de142c59fa2b230d"},"index":1}],
	"collaterals":[{"transaction":{"id":"05954783941bacbd61bf351dcf775b315021534edc083ce0e877d0fd026c6333"},"index":3}],
	"totalCollateral":{"ada":{"lovelace":1}},"collateralReturn":{"address":"2cWKMJemoBakbWWEzSLbUcvojpJXPExNorMfLM7ZxwNvjZ5oGsrX6SGwZbYXzr6afLBD5",
	"value":{"ada":{"lovelace":3428396901835882615},"4d50a11e297e7783383bf06dd6e4e481230323bd96cd8b8d9ee3888d":{"0cb117deb9":3}}},
	"outputs":[{"address":"EqGAuA8vHnP3nRzyxRVebmUTJAN1bZ9PH8c5yKcWEM7xRnrcrCaj8abm7C1jaJVW5SBhNVzZH1vfJmU8mRzFdJGfYHzqqueRTeKUY5D97Fy1pN34YYB9BRH",
	"value":{"ada":{"lovelace":0},"77ff0bc0756b7c95d3b5720d6d0503e3defcfedf30be346773c5fc39":{"37":8747698991499998824}},
	"datum":"d87c9fd87a9f21ff24d87a9f21d87a80ff03ff","script":{"language":"native","json":{"clause":"after","slot":13},"cbor":"82040d"}}],
	"withdrawals":{"stake_test17zv27ds9udhy3ndtkuwf7sd37j509dg2nl0sywfdc5nuavsah355k":{"ada":{"lovelace":1}}},
	"mint":{"516b7b766a18081cf5be47fadba341d3c382b9d028c9d66a1eb27848":{"342c0c7ab2f23353a4":9222828233152640544}},"network":"mainnet",
	"validityInterval":{"invalidAfter":1},"requiredExtraSignatories":["23b97feba4f82c7fd73bec00adc966a1d75b2537b20d15e59cfea0b4"],
	"fee":{"ada":{"lovelace":5}},"treasury":{"value":{"ada":{"lovelace":648033}},"donation":{"ada":{"lovelace":3}}},
	"datums":{"304ece7ae39e3ff980d35bc46a68d4c107de3f443b437d82ff598202d42920e0":"a1404195"},
	"signatories":[{"key":"d36266cf4cb4faedb01f4af5969b0f42fd059ab9f3733f667473a3dd826ed3e5","signature":"8684829d814ad29e","chainCode":
	"04266f17bb85d67512b3a0e15e56822801dcb266713902619563cab90902143a","addressAttributes":"e6"}],"cbor":"84"}},"id":"x"}`

// Each method has an answer of Ogmios, and ours has its shape. The protocol parameters of preview, and errors, are equal.
func TestEveryMethodHasARealAnswer(t *testing.T) {
	e := start(t)
	key, pool, drep := bytes.Repeat([]byte{1}, 28), bytes.Repeat([]byte{2}, 28), bytes.Repeat([]byte{3}, 28)
	of := func(v any) []byte {
		return encode(t, map[any]any{struct {
			cbor.StructAsArray
			Kind uint
			Hash cbor.ByteString
		}{Hash: cbor.NewByteString(key)}: v})
	}
	ratios := func(parts ...int64) (all []any) {
		for i := 0; i < len(parts); i += 2 {
			all = append(all, ratio(parts[i], parts[i+1]))
		}
		return all
	}
	costs := []int64{100788, 420}
	e.node.Answers(map[int][]byte{
		1: encode(t, 369), 10: encode(t, []any{cbor.RawMessage(of(pool)), cbor.RawMessage(of(5))}), 22: of(26038),
		28: of(cbor.RawMessage(append([]byte{0x82, 0, 0x58, 28}, drep...))),
		3: encode(t, []any{
			44, 155381, 90112, 16384, 1100, 2_000_000, 500_000_000, 18, 500, ratio(3, 10), ratio(3, 1000), ratio(1, 5), []int{9, 0},
			170_000_000, 4310, map[int][]int64{0: costs, 1: costs, 2: costs}, ratios(577, 10_000, 721, 10_000_000),
			[]int{14_000_000, 10_000_000_000}, []int{62_000_000, 20_000_000_000}, 5000, 150, 3, ratios(51, 100, 51, 100, 51, 100, 51, 100, 51, 100),
			ratios(67, 100, 67, 100, 3, 5, 3, 4, 3, 5, 67, 100, 67, 100, 67, 100, 3, 4, 67, 100), 0, 365, 30, 100_000_000_000, 500_000_000, 20, ratio(15, 1),
		}),
	})
	fill := strings.NewReplacer("$KEY", hex.EncodeToString(key), "$TX", strings.Repeat("0", 64), "$RAW", hex.EncodeToString(e.next[0].Raw),
		"$REFUSED", hex.EncodeToString(e.next[1].Raw))
	s := e.dial(t)
	known := map[string]bool{}
	for _, real := range answers {
		if real.method == "acquireMempool" {
			e.node.Refuse(nil)
			e.node.SetMempool(e.next[0], ouroborostest.Tx{Era: 6, Raw: everything(t)})
		}
		if strings.Contains(real.params, "$REFUSED") {
			e.node.Refuse(encode(t, "All inputs are spent. Transaction has probably already been included"))
		}
		known[real.method] = true
		s.send(real.method, json.RawMessage(fill.Replace(cmp.Or(real.params, "{}"))))
		_, text, err := s.c.Read(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		got, want := parsed(t, text), parsed(t, []byte(real.answer))
		delete(want, "id") // of another request
		if accounts, ok := got["result"].(object); ok && real.method == "queryLedgerState/rewardAccountSummaries" {
			got["result"] = listed(accounts)
		}
		answertest.SameShape(t, real.method+", as in "+real.source, encoded(t, got), encoded(t, want), "value", "mint", "withdrawals", "datums", "*")
		failed, _ := want["error"].(object)
		if failed["message"] == "$ANY" { // a sentence of Ogmios for people
			got["error"].(object)["message"] = "$ANY"
		}
		if (failed != nil || real.method == "queryLedgerState/protocolParameters") && !reflect.DeepEqual(got, want) {
			t.Errorf("%s: %s, expected %s as in %s", real.method, text, real.answer, real.source)
		}
	}
	for _, method := range ogmios.Methods() {
		if !known[method] {
			t.Errorf("%s has no answer of Ogmios", method)
		}
	}
}

// listed returns accounts as Ogmios lists them since 6.13, without the name that a pool had before 6.12 (accounts.go).
func listed(accounts object) (list []any) {
	for credential, account := range accounts {
		a := account.(object)
		a["credential"], a["from"] = credential, "verificationKey"
		delete(a, "delegate")
		list = append(list, a)
	}
	return list
}

func encoded(t *testing.T, v any) []byte {
	t.Helper()
	text, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return text
}

// everything is a transaction with each part that nextTransaction answers.
func everything(t *testing.T) []byte {
	t.Helper()
	hash := func(size int, n byte) []byte { return cardanotest.Filled(size, n) }
	in := func(n byte) list { return list{list{hash(32, n), int(n)}} }
	assets := cardanotest.Endless(t, 0xbf, hash(28, 5), cardanotest.Endless(t, 0xbf, []byte("a"), 3))
	output := dict{
		0: append([]byte{0x60}, hash(28, 12)...), 1: list{7, assets}, 2: list{1, cardanotest.Tagged(24, []byte{0xd8, 0x79, 0x80})},
		3: cardanotest.Tagged(24, []byte(cardanotest.Raw(t, list{0, list{4, 13}}))),
	}
	body := dict{
		0: in(1), 1: list{output}, 2: 170_000, 3: 900, 5: cardanotest.Endless(t, 0xbf, append([]byte{0xe0}, hash(28, 4)...), 5), 9: assets, 13: in(2),
		14: list{hash(28, 6)}, 15: 0, 16: dict{0: append([]byte{0x60}, hash(28, 12)...), 1: list{7, assets}}, 17: 8, 18: in(3), 21: 4, 22: 5,
	}
	witnesses := dict{2: list{list{hash(32, 9), hash(64, 10), hash(32, 11), []byte{0xa0}}}, 4: list{cardanotest.Tagged(121, list{})}}
	return cardanotest.Raw(t, list{body, witnesses, true, nil})
}
