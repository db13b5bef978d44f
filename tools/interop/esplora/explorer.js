// Sends the same requests to an Esplora server and an Electrum server with @bitcoinerlab/explorer, and prints the answers
// of both as one JSON document: {"esplora": […], "electrum": […]}.
//
//   node explorer.js NETWORK ESPLORA_URL ELECTRUM_HOST:PORT < QUESTIONS
//
// Questions are a JSON array of [method, argument, …]. Errors are answered as {"error": TEXT}. Without ELECTRUM_HOST:PORT
// only the Esplora server is queried.
const {EsploraExplorer, ElectrumExplorer} = require('@bitcoinerlab/explorer');
const {networks} = require('bitcoinjs-lib');
const fs = require('fs');

const [network, url, electrum] = process.argv.slice(2);

async function ask(explorer, questions) {
  const answers = [];
  await explorer.connect();
  for (const [method, ...args] of questions) {
    try {
      answers.push(await explorer[method](...args));
    } catch (error) {
      answers.push({error: error.message});
    }
  }
  await explorer.close();
  return answers;
}

(async () => {
  const questions = JSON.parse(fs.readFileSync(0, 'utf8'));
  const result = {esplora: await ask(new EsploraExplorer({url}), questions)};
  if (electrum) {
    const [host, port] = electrum.split(':');
    const explorer = new ElectrumExplorer({host, port: Number(port), protocol: 'tcp', network: networks[network]});
    result.electrum = await ask(explorer, questions);
  }
  process.stdout.write(JSON.stringify(result), () => process.exit(0)); // the client keeps timers
})();
