// Calls methods of @1sat/client on a server, and prints the results as one JSON array.
//
//   node --import ./resolve.js client.js URL < QUESTIONS
//
// Questions are a JSON array of [part, method, argument…], such as ["bsv21", "getBalance", ID, "p2pkh", ADDRESS]; the part
// "" is the whole client. Results of streams are arrays, and bytes are hex digits. An error is {"error": TEXT, "status": CODE}.
import fs from 'node:fs';
import {OneSatServices} from '@1sat/client';

// Node.js has no EventSource: this one has what the client uses.
globalThis.EventSource = class {
  constructor(url) {
    this.stop = new AbortController();
    this.run(url).catch(() => this.onerror?.());
  }
  async run(url) {
    const response = await fetch(url, {signal: this.stop.signal});
    let text = '';
    for await (const part of response.body) {
      text += Buffer.from(part).toString();
      for (let end; (end = text.indexOf('\n\n')) >= 0; text = text.slice(end + 2)) {
        const data = text.slice(0, end).split('\n').find((line) => line.startsWith('data: '));
        if (data) this.onmessage?.({data: data.slice(6)});
      }
    }
  }
  close() { this.stop.abort(); }
};
console.log = () => {}; // the client writes to it

const [url] = process.argv.slice(2);
const client = new OneSatServices('test', url);

const plain = (value) => {
  if (value instanceof Uint8Array) return Buffer.from(value).toString('hex');
  if (Array.isArray(value)) return value.map(plain);
  if (value && typeof value === 'object') {
    if (typeof value.toHex === 'function') return value.toHex();
    return Object.fromEntries(Object.entries(value).map(([name, v]) => [name, plain(v)]));
  }
  return value ?? null;
};

const ask = async (part, method, args) => {
  const of = part ? client[part] : client;
  if (method === 'subscribe') {
    return new Promise((resolve) => {
      const stop = of.subscribe((header) => { stop(); resolve(header); });
    });
  }
  const result = of[method](...args);
  if (!result?.[Symbol.asyncIterator]) return result;
  const all = [];
  for await (const item of result) all.push(item);
  return all;
};

const answers = [];
for (const [part, method, ...args] of JSON.parse(fs.readFileSync(0, 'utf8'))) {
  try {
    answers.push(plain(await ask(part, method, args)));
  } catch (error) {
    answers.push({error: error.message, status: error.status});
  }
}
client.close();
process.stdout.write(JSON.stringify(answers) + '\n', () => process.exit(0));
