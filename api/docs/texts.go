package docs

import (
	"reflect"

	"birthmark/core/query"
)

// The texts of schemas and properties in the OpenAPI document. A test checks that each has a text, and that no text is
// unused.

var tags = []struct{ name, title, doc string }{
	{"chain", "Chain", "Blocks, transactions, outputs, reorganizations, and the status of the database."},
	{"values", "Values", "Values of an index, such as addresses: their outputs, transactions and balances."},
	{"assets", "Assets", "Tokens: mints, burns and holders."},
	{"batch", "Batches", "Up to 1,000 items in one request, all read at one tip. Answers are in the order of the request."},
	{"mempool", "Unconfirmed transactions", "Transactions of the node that no block has. The parameter `mempool` of values adds them there."},
	{"node", "Node", "Submitting transactions and fee estimates: questions that the node of a chain answers."},
	{"reference", "Reference", "The layout of the database, and the fields for custom indexes."},
}

var (
	spentBy                = reflect.TypeFor[query.SpentByAnswer]()
	pendingSpentBy         = reflect.TypeFor[query.PendingSpentByAnswer]()
	optionalSpentBy        = reflect.TypeFor[query.Optional[query.SpentByAnswer]]()
	optionalPendingSpentBy = reflect.TypeFor[query.Optional[query.PendingSpentByAnswer]]()
)

const maxMany = query.MaxMany

// bodySchemas are the schemas of request bodies, which reject unknown properties.
var bodySchemas = []string{"OutputRefs", "TxHashes", "IndexValues", "RawTxs"}

// nullable are the properties that can be null, or whose entries can.
var nullable = map[string]bool{
	"Output.spent_by": true, "PendingOutput.spent_by": true, "Spending.spent_by": true, "Status.tip": true, "ServedChain.tip": true, "Chain.tip": true,
	"Outputs.outputs": true, "Spends.spends": true, "Txs.txs": true, "Find.first_seen": true, "AssetEntry.name_text": true, "Mint.name_text": true, "History.first_seen": true,
	"Statistic.value": true,
}

// docOf returns the text of a property: its own, or the one for all properties of its name.
func docOf(schema, property string) string {
	if doc, ok := propertyDocs[schema+"."+property]; ok {
		return doc
	}
	return propertyDocs[property]
}

var schemaDocs = map[string]string{
	"Ancestors":           "The totals of a transaction and its unconfirmed ancestors.",
	"FeeRates":            "The transactions of a range of fee rates, down to `fee_rate`.",
	"Mempool":             "The totals of the unconfirmed transactions.",
	"MempoolTxs":          "A page of the unconfirmed transactions.",
	"PendingAsset":        "One asset of an output of an unconfirmed transaction.",
	"ProjectedBlocks":     "The next blocks as they would be mined now.",
	"ProjectedBlock":      "The transactions of a projected block. Fee rates are those of packages: a transaction and its ancestors that are in no block before it.",
	"MempoolRest":         "The transactions after the projected blocks.",
	"BlockComparison":     "How a block differs from the one that was projected just before it arrived.",
	"ComparedTx":          "A transaction that only one of two compared blocks has.",
	"PendingAssetBalance": "The change of the amount of an asset by unconfirmed transactions.",
	"PendingBalance":      "What unconfirmed transactions change in the totals of a value.",
	"PendingFind":         "The outputs of a value that unconfirmed transactions create and spend.",
	"PendingHistory":      "The unconfirmed transactions of a value, in the order of arrival.",
	"PendingHistoryTx":    "The amounts that a value receives and sends in one unconfirmed transaction.",
	"PendingOutput":       "An output of an unconfirmed transaction.",
	"PendingSpend":        "An output that an unconfirmed transaction spends.",
	"PendingSpentBy":      "An input of an unconfirmed transaction.",
	"PendingTxSummary":    "An unconfirmed transaction without its inputs and outputs.",
	"Asset":               "The totals of an asset.",
	"AssetBalance":        "The balance of one asset.",
	"OutputType":          "A number of outputs of one type.",
	"AssetEntry":          "One asset of an output.",
	"AssetEvent":          "One mint or burn.",
	"AssetEvents":         "A page of an asset's mints and burns.",
	"AssetHolders":        "A page of the holders of an asset.",
	"Assets":              "A page of assets, in the order of their first occurrence.",
	"Period":              "The sums of the transactions of a value in a period.",
	"Balance":             "The totals of a value.",
	"Derived":             "The values of a wallet: those of each branch up to the last used one, and `gap` unused ones after it.",
	"DerivedBalance":      "The totals of a value of a wallet.",
	"DerivedValue":        "A value of a wallet.",
	"Balances":            "The totals of values of one index.",
	"Chain":               "A chain of a server with its operations.",
	"Operation":           "A request that a chain answers.",
	"Block":               "One block with the hashes of its transactions.",
	"BlockTotals":         "Sums of a block.",
	"Watch":               "A watch list of a client.",
	"BlockSummary":        "A block without its transactions.",
	"Blocks":              "A page of blocks.",
	"ChainSearch":         "The results of a search in one chain.",
	"Result":              "A block, transaction, output, value or asset that a text names.",
	"Results":             "The results of a search, most likely first.",
	"Search":              "The results of a search in all chains.",
	"ChainFields":         "The fields of expressions on one chain.",
	"Chains":              "The chains of this server.",
	"ExpressionField":     "A field that expressions can use.",
	"ExpressionFunction":  "A function that expressions can call.",
	"Family":              "A column family of the database: its rows and their size.",
	"Fields":              "The fields that expressions of custom indexes can use.",
	"Fees":                "Fee rates of the node.",
	"Find":                "A page of the outputs of a value.",
	"FirstSeen":           "The first occurrence of a value or an asset.",
	"Forks":               "A page of orphaned blocks, newest reorganization first.",
	"History":             "A page of the transactions that pay to a value or spend from it.",
	"HistoryAsset":        "The amounts of an asset that a value received and sent in one transaction.",
	"HistoryTx":           "The amounts that a value received and sent in one transaction.",
	"Holder":              "An address and its balance of an asset.",
	"Index":               "One index of the database.",
	"IndexState":          "One index of the database, and the progress of a change to it.",
	"IndexValues":         "Values of one index.",
	"Indexes":             "The indexes of the database.",
	"Input":               "An input of a transaction, with the output that it spends.",
	"LostBlock":           "An orphaned block. The lowest block of a reorganization is first: its depth is that of the reorganization.",
	"MinimumFees":         "The lowest fee rates that the node accepts.",
	"Mint":                "The amount of an asset that a transaction minted or burned.",
	"Output":              "One output.",
	"OutputRefs":          "References to outputs.",
	"Outputs":             "Outputs, in the order of the request.",
	"Package":             "The node's result of a package.",
	"Point":               "The height and hash of a block.",
	"Problem":             "An error (RFC 9457).",
	"RawTxs":              "Serialized transactions.",
	"RawTx":               "A serialized transaction.",
	"Statistics":          "A page of a series of statistics.",
	"Statistic":           "The number of a block or of a period.",
	"StatisticsNames":     "The series of statistics.",
	"StatisticsName":      "A series of statistics.",
	"Richest":             "The largest balances of an index.",
	"RichestValue":        "A value and its balance.",
	"Schema":              "The layout of the database.",
	"SchemaIndex":         "An index that the chain supports.",
	"ServedChain":         "A chain of this server.",
	"Spending":            "An output and its spender.",
	"Spends":              "Spenders of outputs, in the order of the request.",
	"SpentBy":             "The input that spends an output.",
	"Status":              "The status of the database.",
	"Submit":              "A transaction that the node accepted.",
	"StreamEnd":           "The last line of a streamed list. A list without it is truncated.",
	"StreamEnding":        "Whether a streamed list is complete.",
	"TestTxs":             "The node's results of a test.",
	"Term":                "A value of an index, or an asset.",
	"Tip":                 "The last block.",
	"Totals":              "Counts over the whole chain.",
	"Tx":                  "One transaction with the outputs that its inputs spend.",
	"TxHashes":            "Hashes of transactions.",
	"Txs":                 "Transactions, in the order of the request.",
	"Value":               "A value of an index and its first occurrence.",
	"Certificate":         "A change of stake, pools or governance (Cardano).",
	"EncodedValue":        "A serialized value and its meaning.",
	"OutputReference":     "An output that a transaction names.",
	"Redeemer":            "The argument of a script and the limits of its execution (Cardano).",
	"ScriptDetails":       "A script.",
	"Vote":                "A vote on a governance action (Cardano).",
	"Proposal":            "A proposed governance action (Cardano).",
	"ParameterChange":     "A protocol parameter that a governance action sets (Cardano).",
	"CommitteeTerm":       "A new member of the committee (Cardano).",
	"Constitution":        "A new constitution (Cardano).",
	"Withdrawal":          "An amount of rewards that a transaction spends (Cardano).",
	"Values":              "A page of the values of an index.",
}
