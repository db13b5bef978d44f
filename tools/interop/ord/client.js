// Calls methods of ordapi on a server, and prints the results as one JSON array.
//
//   node client.js URL < QUESTIONS
//
// Questions are a JSON array of [method, argument…]. The client checks the form of each answer. An error is
// {"error": TEXT}.
import fs from 'node:fs';
import OrdClient from 'ordapi';

const [url] = process.argv.slice(2);
const client = new OrdClient(url);
const answers = [];
for (const [method, ...args] of JSON.parse(fs.readFileSync(0, 'utf8'))) {
  try {
    answers.push(await client[method](...args));
  } catch (error) {
    answers.push({error: error.message});
  }
}
process.stdout.write(JSON.stringify(answers) + '\n');
