// Writes the fixtures of Blockfrost's own tests as JSON, for the tests of api/compat/blockfrost:
//
//   node fixtures.mjs SOURCES FOLDER
//   BIRTHMARK_BLOCKFROST_TESTS=FOLDER go test ./api/compat/blockfrost/...
//
// SOURCES contains clones of blockfrost-tests, blockfrost-utils and openapi of github.com/blockfrost. The package esbuild
// must be installed. FOLDER gets metadata.json, and an array of {endpoint, response} per network. Matchers of vitest become
// {$match, args}.
import { mkdirSync, readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import esbuild from 'esbuild';

const [sources, folder] = process.argv.slice(2, 4).map((p) => resolve(p));
mkdirSync(folder, { recursive: true });

const matchers = `
const match = (name) => (...args) => ({ $match: name, args: args.map((a) => (typeof a === 'function' ? a.name : a)) });
export const expect = new Proxy({}, { get: (_, name) => match(String(name)) });
`;
const tests = `${sources}/blockfrost-tests/src`;
const index = readFileSync(`${tests}/index.ts`, 'utf8');
const stubs = {
  name: 'stubs',
  setup(build) {
    build.onResolve({ filter: /^vitest$/ }, () => ({ path: 'vitest', namespace: 'stub' }));
    build.onLoad({ filter: /.*/, namespace: 'stub' }, () => ({ contents: matchers }));
    // Of the runner only the fixtures of pages are needed, and of other packages nothing.
    build.onLoad({ filter: /blockfrost-tests\/src\/index\.ts$/ }, () => ({
      contents: index.slice(index.indexOf('export const getPaginationFixtures')), loader: 'ts',
    }));
    build.onResolve({ filter: /^[^./]/ }, (a) => (a.path.startsWith('node:') ? undefined : { path: a.path, namespace: 'none' }));
    build.onLoad({ filter: /.*/, namespace: 'none' }, () => ({
      contents: 'const none = new Proxy(function () {}, { get: (_, k) => (k === Symbol.toPrimitive ? () => "" : none), ' +
        'apply: () => none, construct: () => none }); module.exports = none;',
    }));
  },
};
await esbuild.build({
  stdin: {
    contents: `
      import { writeFileSync } from 'node:fs';
      import { getOnchainMetadata } from '${sources}/openapi/test/fixtures/metadata.ts';
      import { getMetadataFromOutputDatum } from '${sources}/blockfrost-utils/test/fixtures/cip68.ts';
      import { previewFixtures } from '${tests}/fixtures/preview/index.js';
      import { preprodFixtures } from '${tests}/fixtures/preprod/index.js';
      import { mainnetFixtures } from '${tests}/fixtures/mainnet/index.js';
      import { commonFixtures } from '${tests}/fixtures/common/index.js';
      const write = (name, v) => writeFileSync('${folder}/' + name + '.json', JSON.stringify(v, null, 1));
      const flat = (v) => (Array.isArray(v) ? v : Object.values(v).flatMap(flat));
      const plain = (f) => f.response !== undefined && !f.postBody && !f.customTest;
      const all = { preview: previewFixtures, preprod: preprodFixtures, mainnet: mainnetFixtures, common: commonFixtures };
      for (const [name, fixtures] of Object.entries(all)) {
        write(name, flat(fixtures).filter(plain).flatMap((f) => f.endpoints.map((endpoint) => ({ endpoint, response: f.response }))));
      }
      write('metadata', { cip25: getOnchainMetadata, datums: getMetadataFromOutputDatum });`,
    resolveDir: sources, loader: 'ts',
  },
  bundle: true, platform: 'node', format: 'cjs', outfile: `${folder}/fixtures.cjs`, plugins: [stubs], logLevel: 'error',
});
await import(`${folder}/fixtures.cjs`);
