// Sends requests to a server with mempool.js, and prints the answers as one JSON array.
//
//   node mempool.js HOST:PORT < QUESTIONS
//
// Questions are a JSON array of [group, method, argument], such as ["transactions", "getTx", {"txid": "…"}]. An error is
// answered as {"status": CODE, "error": TEXT}.
const mempoolJS = require('@mempool/mempool.js');
const fs = require('fs');

const [hostname] = process.argv.slice(2);

(async () => {
  const {bitcoin} = mempoolJS({hostname, protocol: 'http', network: 'mainnet'});
  const answers = [];
  for (const [group, method, argument] of JSON.parse(fs.readFileSync(0, 'utf8'))) {
    try {
      answers.push(await bitcoin[group][method](argument));
    } catch (error) {
      answers.push({status: error.response?.status, error: error.response?.data ?? error.message});
    }
  }
  console.log(JSON.stringify(answers));
})();
