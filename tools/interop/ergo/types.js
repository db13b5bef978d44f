// Compares answers with the types of clients, which were generated from the OpenAPI documents of Ergo's node and
// explorer: every field has to be there with its type, and no other one. The servers themselves differ from the documents
// in some fields, as documented() lists them.
import path from 'node:path';
import ts from 'typescript';

const clients = {
  node: `ReturnType<typeof import('@rosen-clients/ergo-node').default>`,
  explorer: `ReturnType<typeof import('@rosen-clients/ergo-explorer').default>['v1']`,
};

// Fields that nodes send and the document lacks, and those of /info of version 0, which the explorer's version 1 lacks.
const undocumented = {
  node: [
    'unparsedBytes', 'network', 'eip37Supported', 'isExplorer', 'lastSeenMessageTime', 'lastMemPoolUpdateTime',
  ],
  explorer: ['version', 'supply', 'transactionAverage', 'hashRate'],
};

// documented returns an answer as the document has it:
// - nodes send no spendingHeight;
// - the explorer sends difficulties as numbers;
// - it sends the registers of MOutputInfo as those of OutputInfo, and not as texts: MOutputInfo.scala passes them on.
const documented = (client, operation, value) => {
  if (Array.isArray(value)) return value.map((v) => documented(client, operation, v));
  if (value === null || typeof value !== 'object') return value;
  const out = {};
  for (const [name, v] of Object.entries(value)) {
    const other = undocumented[client].includes(name) && (client === 'node' || operation === 'getApiV1Info');
    const section = name === 'blockVersion' && 'transactions' in value; // the document has it only in parameters
    if (!other && !section) out[name] = documented(client, operation, v);
  }
  if (client === 'explorer' && 'difficulty' in out) out.difficulty = String(out.difficulty);
  if (client === 'node' && 'boxId' in out && 'globalIndex' in out) out.spendingHeight = null;
  if (operation === 'getApiV1BoxesUnspentUnconfirmedByaddressP1' && 'additionalRegisters' in out) {
    out.additionalRegisters = Object.fromEntries(
      Object.entries(out.additionalRegisters).map(([name, register]) => [name, register.serializedValue]));
  }
  return out;
};

// literal writes a value as TypeScript: an integer that came as BigInt with an n.
const literal = (value) => JSON.stringify(value, (_, v) => typeof v === 'bigint' ? `@${v}@` : v).replace(/"@(-?\d+)@"/g, '$1n');

// differences returns the errors of the compiler for answers, which are [client, operation, value]: each message once,
// with the names of its operations. A null is accepted for every type: the generated ones lack it where the documents have it.
export const differences = (answers) => {
  const lines = answers.map(([client, operation, value], i) =>
    `export const a${i}: Awaited<ReturnType<${clients[client]}['${operation}']>> = ${literal(documented(client, operation, value))};`);
  const file = path.resolve('answers.ts');
  const options = {
    strict: true, strictNullChecks: false, noEmit: true, skipLibCheck: true, types: [], target: ts.ScriptTarget.ES2022,
    module: ts.ModuleKind.ESNext, moduleResolution: ts.ModuleResolutionKind.Bundler,
  };
  const host = ts.createCompilerHost(options);
  const source = ts.createSourceFile(file, lines.join('\n'), options.target, true);
  const {getSourceFile, fileExists} = host;
  host.getSourceFile = (name, ...rest) => name === file ? source : getSourceFile(name, ...rest);
  host.fileExists = (name) => name === file || fileExists(name);
  const program = ts.createProgram([file], options, host);
  const found = {};
  for (const d of ts.getPreEmitDiagnostics(program)) {
    const text = ts.flattenDiagnosticMessageText(d.messageText, '\n').trim().split('\n').at(-1).trim();
    const operation = d.file === source ? answers[source.getLineAndCharacterOfPosition(d.start).line][1] : path.basename(d.file?.fileName ?? '');
    (found[text] ??= new Set()).add(operation);
  }
  return Object.entries(found).map(([text, operations]) => `${[...operations].sort().join(', ')}: ${text}`);
};
