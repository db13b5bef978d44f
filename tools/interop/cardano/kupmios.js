// Answers questions by Lucid Evolution's Kupmios provider: node kupmios.js KUPO_URL OGMIOS_URL < questions
// A question is [method, argument, …]. An answer is {value} or {error}; big integers are decimal strings.
const { Kupmios } = require("@lucid-evolution/provider");

const [kupo, ogmios] = process.argv.slice(2);
// Amounts above 2^53 need strings.
const headers = { kupoHeader: { Accept: "application/json;asset-quantity=string" } };
const provider = new Kupmios(kupo, ogmios, headers);

async function main() {
  let text = "";
  for await (const piece of process.stdin) text += piece;
  const answers = [];
  for (const [method, ...args] of JSON.parse(text)) {
    for (let attempts = 1; ; attempts++) {
      try {
        answers.push({ value: await provider[method](...args) });
      } catch (error) {
        // The provider gives up after 5 or 10 s, which an address with hundreds of datums needs on a busy machine.
        if (String(error).includes("TimeoutException") && attempts < 5) continue;
        answers.push({ error: String(error) });
      }
      break;
    }
  }
  console.log(JSON.stringify(answers, (_, value) => (typeof value === "bigint" ? value.toString() : value)));
}

main();
