package config

import "birthmark/model"

// description describes a setting for users and editors.
type description struct {
	text   string // begins in lower case, without a full stop
	sample string // for a commented settings file, as in the file: the default if there is one
	form   form
}

// descriptions has the description of each setting by key, except the password, which a file cannot contain.
var descriptions = map[string]description{
	"listen": {
		"address of the HTTP server: host:port or unix:/path/of.sock",
		DefaultListen, textForm,
	},
	"memory": {
		"memory of all chains; default: 2GiB, at most half of the machine's",
		"2GiB", sizeForm,
	},
	"tls.cert": {
		"certificate of the server (PEM), reloaded when the file changes; needs key",
		"/etc/birthmark/cert.pem", textForm,
	},
	"tls.key": {
		"private key of the certificate",
		"/etc/birthmark/key.pem", textForm,
	},
	"api_keys_file": {
		"file of API keys, one NAME:KEY per line; clients must send one of them",
		"/etc/birthmark/keys", textForm,
	},
	"allow_anonymous": {
		"with api_keys_file: allow requests without a key too",
		"false", switchForm,
	},
	"rate_limit": {
		"requests per second of a client; 0: no limit; default: 100 if other machines can connect, else 0",
		"100", number(0, 1e9),
	},
	"rate_burst": {
		"requests of a client at once; 0: twice rate_limit",
		"0", count(0, 1<<30),
	},
	"submit_limit": {
		"transactions that a client may submit per minute; 0: no limit; default: as for rate_limit, 10",
		"10", number(0, 1e9),
	},
	"request_timeout": {
		"time limit of an answer",
		"10s", durationForm,
	},
	"max_connections": {
		"open connections",
		"4096", count(16, 1<<20),
	},
	"cors_origins": {
		"origins whose pages may read answers of the APIs in a browser; * by default, which is all; []: none",
		"[https://wallet.example.org]", listForm,
	},
	"trusted_proxies": {
		"addresses of proxies whose X-Forwarded-For header is trusted",
		"[127.0.0.1]", listForm,
	},
	"hosts": {
		"host names accepted on a loopback address, in addition to localhost",
		"[explorer.example.org]", listForm,
	},
	"base_path": {
		"path of the server behind a proxy, with or without this prefix in the requests that the proxy sends",
		"/explorer", textForm,
	},
	"title": {
		"name of the site on its pages",
		"Birthmark", textForm,
	},
	"logo": {
		"image of the site on its pages: svg, png, jpg or webp, at most 100 kB",
		"/etc/birthmark/logo.svg", textForm,
	},
	"notice": {
		"text at the top of all pages",
		"Maintenance on Sunday.", textForm,
	},
	"labels_file": {
		"names of addresses for pages, one ADDRESS NAME per line; lines that begin with # are comments",
		"/etc/birthmark/labels.txt", textForm,
	},
	"asset_pictures": {
		"gateway of IPFS from which visitors load pictures of assets (CIP-25, CIP-68, EIP-4); not set: no pictures",
		"https://ipfs.io/ipfs/", textForm,
	},
	"immutable_depth": {
		"confirmations after which blocks and raw transactions are cached for ever; 0: the deepest reorg of the chain, or 100",
		"0", count(0, model.MaxHeight),
	},
	"max_lag_blocks": {
		"blocks behind the source up to which /readyz reports that the server is ready",
		"2", count(0, model.MaxHeight),
	},
	"pprof": {
		"loopback address for profiles of Go",
		"127.0.0.1:6060", textForm,
	},
	"log": {
		"format of the log",
		"text", oneOf("text", "json"),
	},
	"log_level": {
		"lowest level that is logged; debug logs every request",
		"info", oneOf("debug", "info", "warn", "error"),
	},
	"electrum.max_request": {
		"size of a message",
		"1MiB", sizeForm,
	},
	"electrum.max_batch": {
		"requests of a message",
		"1000", count(1, 1<<20),
	},
	"electrum.client_connections": {
		"connections of a client; 0: no limit",
		"12", count(0, 1<<20),
	},
	"electrum.client_subscriptions": {
		"subscriptions of a client; 0: no limit",
		"75000", count(0, 1<<30),
	},
	"electrum.idle_timeout": {
		"time after which a connection without requests ends; 0: never",
		"10m", durationOrZero,
	},
	"electrum.request_timeout": {
		"time limit of an answer; 0: none",
		"30s", durationOrZero,
	},
	"electrum.soft_cost": {
		"cost above which the requests of a client are delayed; 0: no limit",
		"1000", number(0, 1e12),
	},
	"electrum.hard_cost": {
		"cost above which the connections of a client end; 0: no limit",
		"10000", number(0, 1e12),
	},
	"electrum.cost_per_second": {
		"cost that a client gets back per second",
		"50", number(0, 1e12),
	},

	"chain": {
		"blockchain",
		"bitcoin", textForm,
	},
	"network": {
		"network of the chain; for Cardano also a folder of genesis files; default: mainnet",
		"mainnet", textForm,
	},
	"signet_challenge": {
		"script of a custom signet in hex, as signetchallenge in bitcoin.conf; its magic becomes a part of the network",
		"51", textForm,
	},
	"source": {
		"source of the blocks: a node, peers, a relay or files; without one the database is only read",
		"p2p://", textForm,
	},
	"node": {
		"node for unconfirmed transactions, submitting and fees, if the source is not a node",
		"http://127.0.0.1:8332", textForm,
	},
	"mempool": {
		"memory for unconfirmed transactions, part of memory: a size, off, or auto (10%, at most 1GiB)",
		"auto", mempoolForm,
	},
	"watch": {
		"memory for watch lists of clients, part of memory: a size, off, or auto (5%, at most 256MiB)",
		"auto", mempoolForm,
	},
	"password_file": {
		"file with the password of the node, or user:password: a node's .cookie file",
		"/var/lib/bitcoind/.cookie", textForm,
	},
	"proxy": {
		"SOCKS5 proxy, such as that of Tor, for connections to nodes and peers outside of the local network",
		"socks5://127.0.0.1:9050", textForm,
	},
	"source_wait": {
		"how long a sync without --follow waits for a node that is starting, busy or broken; 0: not at all",
		"2m", durationOrZero,
	},
	"db": {
		"folder of the database",
		"/var/lib/birthmark/bitcoin", textForm,
	},
	"wal": {
		"write-ahead log; without it writes are faster, but a crash takes the database back to an earlier block",
		"true", switchForm,
	},
	"compression": {
		"compression of the database; max: 7% smaller, about 50% slower",
		"default", oneOf("default", "max"),
	},
	"raw": {
		"raw transactions: keep stores them, files reads the node's block files, node requests each; a preset has what its source offers",
		"off", rawForm,
	},
	"assets": {
		"assets that are derived from messages in transactions, such as runes on bitcoin, and 1sat, bsv21 or ordinals " +
			"on bitcoin-sv, for a new database; off: none. The presets explorer and onesat have those of the chain",
		"runes", textForm,
	},
	"statistics": {
		"sums of blocks and days, and the numbers of new and active values of every index: the index statistics, and its option",
		"true", switchForm,
	},
	"raw_folder": {
		"with raw: files, the folder of the node's block files if they were moved",
		"/mnt/old/blocks", textForm,
	},
	"indexes": {
		"indexes with their options, or a preset: explorer, wallet, onesat, kupo, blockfrost, ergo_node or ergo_explorer",
		"{address: {balance: true}}", indexesForm,
	},
	"serve.electrum": {
		"address of the Electrum protocol over TCP",
		"127.0.0.1:50001", textForm,
	},
	"serve.electrum_tls": {
		"address of the Electrum protocol over TLS",
		"0.0.0.0:50002", textForm,
	},
	"serve.electrum_ws": {
		"address of the Electrum protocol over WebSocket",
		"127.0.0.1:50003", textForm,
	},
	"serve.electrum_wss": {
		"address of the Electrum protocol over WebSocket with TLS",
		"0.0.0.0:50004", textForm,
	},
	"serve.esplora": {
		"path of the Esplora API (Bitcoin, Tapyrus)",
		"/api", pathsForm,
	},
	"serve.blockbook": {
		"path of the Blockbook API",
		"/blockbook", pathsForm,
	},
	"serve.ord": {
		"path of ord's JSON API for runes; needs assets: runes (Bitcoin)",
		"/ord", pathsForm,
	},
	"serve.onesat": {
		"path of the API of 1sat-stack; needs assets: 1sat (BSV)",
		"/bsv", pathsForm,
	},
	"serve.blockfrost": {
		"path of Blockfrost's API (Cardano)",
		"/api/v0", pathsForm,
	},
	"serve.kupo": {
		"path of Kupo's API (Cardano)",
		"/kupo", pathsForm,
	},
	"serve.submit_api": {
		"path of the API of cardano-submit-api (Cardano)",
		"/api/submit", pathsForm,
	},
	"serve.ogmios": {
		"path of the methods of Ogmios that wallets use (Cardano)",
		"/ogmios", pathsForm,
	},
	"serve.ergo_node": {
		"path of the API of Ergo's node with its extra index",
		"/node", pathsForm,
	},
	"serve.ergo_explorer": {
		"path of the API of Ergo's explorer",
		"/explorer", pathsForm,
	},
	"serve.ergo_graphql": {
		"path of the API of ergo-graphql, for Fleet and Nautilus (Ergo)",
		"/graphql", pathsForm,
	},
	"segments.keep": {
		"record the updates of the database as segments for replicas, and keep this many bytes of them; off: record none",
		"1GiB", anyOf(sizeForm, form{"const": false}, oneOf("off", "no")),
	},
	"segments.to": {
		"folder or s3://BUCKET/PREFIX?endpoint=URL&region=NAME to which segments are also published",
		"/backup/segments", textForm,
	},
	"snapshots.to": {
		"storage of the snapshots that serve creates: a folder or s3://BUCKET/PREFIX?endpoint=URL&region=NAME",
		"/backup/birthmark", textForm,
	},
	"snapshots.every": {
		"time between two snapshots",
		"24h", durationForm,
	},
	"snapshots.keep": {
		"number of snapshots that are kept",
		"7", count(1, mostSnapshots),
	},
	"snapshots.sign": {
		"secret key of minisign that signs the snapshots",
		"/etc/birthmark/minisign.key", textForm,
	},
	"snapshots.sign_password_file": {
		"file with the password of that key, if it is encrypted",
		"/etc/birthmark/minisign.password", textForm,
	},
	"snapshots.credentials_file": {
		"access key of the S3 storage, in the format of AWS; default: AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY",
		"/etc/birthmark/s3-credentials", textForm,
	},
	"export.dir": {
		"folder or s3://BUCKET/PREFIX?endpoint=URL&region=NAME in which serve keeps the tables of birthmark export up to date",
		"/var/lib/birthmark/tables", textForm,
	},
	"export.tables": {
		"the tables; default: all",
		"[blocks, transactions]", listForm,
	},
	"bootstrap": {
		"storage of snapshots from which serve restores the database if there is none",
		"https://snapshots.example.org", textForm,
	},
	"trust": {
		"public key of minisign that restored snapshots must be signed with, or a file with it",
		"/etc/birthmark/minisign.pub", textForm,
	},
}

// form is the JSON Schema of a value.
type form map[string]any

var (
	textForm   = form{"type": "string", "minLength": 1}
	switchForm = anyOf(form{"type": "boolean"}, oneOf("on", "off", "yes", "no"))
	sizeForm   = anyOf(form{"type": "integer", "minimum": 0},
		form{"type": "string", "pattern": `^[0-9]+(\.[0-9]+)? ?([KMGTkmgt]([iI]?[bB])?|[bB])?$`})
	durationForm   = form{"type": "string", "pattern": `^([0-9]+(\.[0-9]+)?(ns|us|µs|ms|s|m|h))+$`}
	durationOrZero = anyOf(durationForm, form{"enum": []any{0, "0"}})
	listForm       = anyOf(form{"type": "string"}, form{"type": "array", "items": form{"type": "string"}})
	mempoolForm    = anyOf(sizeForm, form{"const": false}, oneOf("auto", "off", "no"))
	rawForm        = anyOf(switchForm, oneOf("keep", "files", "node"))
	pathsForm      = form{"type": "string", "pattern": pathForm.String()}
)

func anyOf(forms ...form) form { return form{"anyOf": forms} }

func oneOf(values ...string) form { return form{"enum": values} }

func count(least, most int) form { return form{"type": "integer", "minimum": least, "maximum": most} }

func number(least, most float64) form {
	return form{"type": "number", "minimum": least, "maximum": most}
}

// optionTexts are the options of an index.
var optionTexts = map[string]string{
	"balance": "keep the balance of each value", "unspent": "keep the unspent outputs of each value",
	"history": "keep the history of each value", "prefix": "find values by their beginning",
	"statistics": "keep the numbers of new and active values per block and day",
}

// indexesForm accepts presets, and indexes by name. A custom index has a value.
var indexesForm = func() form {
	options := form{}
	for name, text := range optionTexts {
		options[name] = describedForm(switchForm, text)
	}
	options["when"] = describedForm(textForm, "condition of a custom index: an expression")
	options["value"] = describedForm(textForm, "values of a custom index: an expression")
	options["kind"] = describedForm(oneOf(kinds()...), "kind of a custom index")
	index := form{
		"type": []string{"object", "null"}, "properties": options, "additionalProperties": false,
		"dependentRequired": form{"when": []string{"value"}, "kind": []string{"value"}},
	}
	return anyOf(oneOf(Presets()...), form{"type": "object", "additionalProperties": index})
}()

func describedForm(f form, text string) form {
	described := form{"description": text}
	for k, v := range f {
		described[k] = v
	}
	return described
}
