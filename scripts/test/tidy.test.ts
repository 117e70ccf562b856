// Every check of tidy passes a tree that is as it should be, and fails one that is not.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { floorsFaults, guideFaults, withFloors } from '../tidy/architecture.ts';
import { hasDependencies, impure, namesAMachine, tooLong } from '../tidy/file-rules.ts';
import { importsUp } from '../tidy/floors.ts';
import { fileList, head, withoutHead } from '../tidy/heads.ts';
import { circles } from '../tidy/imports.ts';
import { drawnBy, drawnFile, oldPictures } from '../tidy/pictures.ts';
import { type Fault, treeOf } from '../tidy/tree.ts';

const lines = (faults: readonly Fault[]): readonly string[] =>
  faults.map(({ file, text }) => `${file}: ${text}`);

const house = { 'p/src': { floors: ['index.ts', 'drain/ pressure/ < agent/', 'kernel/'] } };

test('an import may go down, stay in its room, or go where its floor allows', () => {
  const tree = treeOf({
    'p/src/index.ts': "export { a } from './drain/a.ts';\nimport './kernel/time.ts';",
    'p/src/drain/a.ts': "import { b } from './b.ts';\nimport type { T } from '../kernel/time.ts';",
    'p/src/drain/b.ts': "import { readFileSync } from 'node:fs';",
    'p/src/pressure/c.ts': '',
    'p/src/agent/d.ts': "import '../pressure/c.ts';",
    'p/src/kernel/time.ts': '// from "../drain/a.ts"',
    'elsewhere/x.ts': "import '../p/src/drain/a.ts';",
  });
  assert.deepEqual(importsUp(tree, house), []);
});

for (const [what, code] of [
  ['an import', "import { a } from '../drain/a.ts';"],
  ['a type', "import type { A } from '../drain/a.ts';"],
  ['a type in the midst', "export type B = import('../drain/a.ts').A;"],
  ['a re-export', "export * from '../drain/a.ts';"],
  ['a lazy import', "export const later = () => import('../drain/a.ts');"],
  ['an import of several lines', "import {\n  a,\n  b,\n} from '../drain/a.ts';"],
] as const) {
  test(`${what} that goes up is a fault`, () => {
    const tree = treeOf({ 'p/src/drain/a.ts': '', 'p/src/kernel/time.ts': code });
    assert.deepEqual(lines(importsUp(tree, house)), [
      'p/src/kernel/time.ts: imports p/src/drain/a.ts, which is above (scripts/tidy/floors.ts)',
    ]);
  });
}

test('rooms of one floor do not import each other, and every file is on a floor', () => {
  const tree = treeOf({
    'p/src/drain/a.ts': "import '../pressure/c.ts';",
    'p/src/pressure/c.ts': "import '../agent/d.ts';",
    'p/src/agent/d.ts': '',
    'p/src/attic/e.ts': '',
  });
  assert.deepEqual(lines(importsUp(tree, house)), [
    'p/src/attic/e.ts: is on no floor of scripts/tidy/floors.ts',
    'p/src/drain/a.ts: imports p/src/pressure/c.ts, which is on the same floor (scripts/tidy/floors.ts)',
    'p/src/pressure/c.ts: imports p/src/agent/d.ts, which is on the same floor (scripts/tidy/floors.ts)',
  ]);
});

test('each folder of a folder can be a room of its own', () => {
  const tree = treeOf({
    'p/src/commands/a/x.ts': "import './y/z.ts';\nimport '../b/x.ts';",
    'p/src/commands/a/y/z.ts': '',
    'p/src/commands/b/x.ts': '',
  });
  assert.deepEqual(lines(importsUp(tree, { 'p/src': { floors: ['commands/NAME/'] } })), [
    'p/src/commands/a/x.ts: imports p/src/commands/b/x.ts, which is on the same floor (scripts/tidy/floors.ts)',
  ]);
});

test('a circle of imports is a fault, types and lazy imports included', () => {
  const tree = treeOf({
    'p/a.ts': "import type { B } from './b.ts';",
    'p/b.ts': "export const c = () => import('./c.ts');",
    'p/c.ts': "import './a.ts';",
    'p/d.ts': "import './a.ts';",
  });
  assert.deepEqual(lines(circles(tree)), [
    'p/a.ts: imports itself in a circle: p/b.ts -> p/c.ts -> p/a.ts',
  ]);
  const straight = treeOf({
    'p/a.ts': "import './b.ts'; import './c.ts';",
    'p/b.ts': "import './c.ts';",
  });
  assert.deepEqual(circles(straight), []);
});

test('the core and most of the adapter touch neither Node nor promises nor timers', () => {
  const tree = treeOf({
    'packages/core/src/a.ts': 'export const a = async () => {};',
    'packages/core/src/b.ts': '// never async\nexport const b = 1;',
    'packages/k8s-adapter/src/proto/c.ts': "import { readFileSync } from 'node:fs';",
    'packages/k8s-adapter/src/controller/d.ts': 'setTimeout(Date.now(), 1);',
    'packages/k8s-adapter/src/driver/e.ts': "import 'node:fs'; await Promise.all([]);",
    'packages/k8s-adapter/src/client/f.ts': "import { cluster } from '@taintmgr/sim-cluster';",
  });
  const adapter = 'only driver, transport, kubeconfig and client of the adapter may touch Node';
  assert.deepEqual(lines(impure(tree)), [
    'packages/core/src/a.ts: has async: the core is synchronous, deterministic and free of locales',
    "packages/k8s-adapter/src/client/f.ts: has '@taintmgr/sim-cluster': the adapter is built without the simulated cluster",
    `packages/k8s-adapter/src/controller/d.ts: has setTimeout: ${adapter}`,
    `packages/k8s-adapter/src/controller/d.ts: has Date.now: ${adapter}`,
    `packages/k8s-adapter/src/proto/c.ts: has 'node:fs': ${adapter}`,
  ]);
});

test('the core and the simulated cluster depend on nothing', () => {
  const tree = treeOf({
    'packages/core/package.json': '{"dependencies": {}}',
    'packages/sim-cluster/package.json': '{"dependencies": {"left-pad": "1"}}',
  });
  assert.deepEqual(lines(hasDependencies(tree)), [
    'packages/sim-cluster/package.json: depends on left-pad',
  ]);
});

test('files are not too long, and name no path of one machine', () => {
  const home = ['', 'home', 'me', 'x'].join('/');
  const tree = treeOf({
    'a.ts': 'x\n'.repeat(601),
    'b.ts': 'x\n'.repeat(600),
    'c.md': `see ${home}`,
    'test/testdata/d.md': `see ${home}`,
  });
  assert.deepEqual(lines(tooLong(tree)), ['a.ts: 601 lines, at most 600']);
  assert.deepEqual(lines(namesAMachine(tree)), [
    `c.md: names a path of somebody's machine: ${home.slice(0, -2)}`,
  ]);
});

for (const [what, file, code, sentence] of [
  ['at the top', 'src/a.ts', '// What it is for. More.\nimport "x";', 'What it is for.'],
  [
    'of several lines',
    'src/a.ts',
    '/**\n * Reads\n * e.g. this.\n */\nconst a = 1;',
    'Reads e.g. this.',
  ],
  ['behind #!', 'src/a.mjs', '#!/usr/bin/env node\n// Runs.\n', 'Runs.'],
  [
    'after the imports',
    'src/a.ts',
    'import {\n  x,\n} from "x";\n\n/** First. */\nconst b = 1;',
    'First.',
  ],
  [
    'of the namesake',
    'src/taint-clock.ts',
    '/** No. */\ntype T = 1;\n\n/** Yes. */\nexport class TaintClock {}',
    'Yes.',
  ],
  ['nowhere', 'src/a.ts', 'import "x";\nconst a = 1;\n\n/** Later. */\nexport const b = 1;', null],
] as const) {
  test(`what a file is for: a comment ${what}`, () => {
    assert.equal(head(file, code), sentence);
  });
}

test('a source file without a head comment is a fault', () => {
  const tree = treeOf({
    'packages/p/src/a.ts': 'export const a = 1;',
    'packages/p/src/b.ts': '// What it is for.',
    'packages/p/test/c.ts': '',
  });
  assert.deepEqual(lines(withoutHead(tree)), [
    'packages/p/src/a.ts: does not say at its head what it is for (a comment, one sentence)',
  ]);
});

test('the list of files says what each of a folder is for', () => {
  const texts = { 'packages/p/src/b.ts': '// A | B.', 'packages/q/src/c.ts': '// C.' };
  assert.equal(fileList(treeOf(texts), 'packages/p/'), 'packages/p/src/b.ts: A | B.\n');
  assert.match(fileList(treeOf(texts)), /^packages\/q\/src\/c.ts: C\.$/m);
});

test('a guide names files and folders that exist, and links lead somewhere', () => {
  const tree = treeOf({
    'ARCHITECTURE.md':
      '`core/src/a.ts` `core/src/b.ts` `packages/core/src/` `docs/gone/` `a.ts` `c.ts` `pods/eviction` `node.spec`',
    'packages/core/src/a.ts': '',
    'docs/index.md': '[one](one.md#part) [two](two.md) [up](../ARCHITECTURE.md) [web](https://x/y)',
    'docs/two.md': '',
  });
  assert.deepEqual(lines(guideFaults(tree)), [
    'ARCHITECTURE.md: names core/src/b.ts, which is not there',
    'ARCHITECTURE.md: names docs/gone/, which is not there',
    'ARCHITECTURE.md: names c.ts, which is not there',
    'docs/index.md: links to one.md, which is not there',
  ]);
});

test('ARCHITECTURE.md shows the floors that tidy keeps', () => {
  const page = (last: string): string =>
    `x\n\n\`\`\`text\np/src\n  index.ts → drain/ pressure/ < agent/ → ${last}\n\`\`\`\n\ny\n`;
  assert.deepEqual(floorsFaults(treeOf({ 'ARCHITECTURE.md': page('kernel/') }), house), []);
  const old = page('cellar/');
  assert.deepEqual(lines(floorsFaults(treeOf({ 'ARCHITECTURE.md': old }), house)), [
    'ARCHITECTURE.md: shows other floors than scripts/tidy/floors.ts: run `npm run tidy -- --write`',
  ]);
  assert.equal(withFloors(old, house), page('kernel/'));
});

test('a picture is as old as the page, the scenario and what came of it', () => {
  const texts = {
    'packages/page/src/browser/paint.ts': 'one(); // why',
    'packages/page/src/browser/live/app.tsx': 'live();',
    'docs/scenarios/three-zones.yaml': 'nodes: 3',
    'docs/scenarios/zone-outage.yaml': 'events: 1',
    'docs/scenarios/README.md': 'words\n$ simulate --script zone-outage.yaml\n6m39s\n```\nmore',
  };
  const drawn = { ...texts, [drawnFile]: drawnBy(treeOf(texts)) };
  assert.deepEqual(oldPictures(treeOf(drawn)), []);
  const same = {
    'packages/page/src/browser/paint.ts': 'one(); // another why',
    'packages/page/src/browser/live/app.tsx': 'other();',
    'docs/scenarios/README.md': `other ${texts['docs/scenarios/README.md']} and more`,
  };
  assert.deepEqual(oldPictures(treeOf({ ...drawn, ...same })), []);
  const old = 'is older than the page or the scenario that it shows; npm run pictures';
  const faults = ['light', 'dark'].map((name) => `docs/scenarios/zone-outage-${name}.png: ${old}`);
  for (const changed of [
    { 'packages/page/src/browser/paint.ts': 'two();' },
    { 'docs/scenarios/zone-outage.yaml': 'events: 2' },
    { 'docs/scenarios/README.md': texts['docs/scenarios/README.md'].replace('6m39s', '7m') },
    { 'packages/page/src/model/new.ts': 'new();' },
  ])
    assert.deepEqual(lines(oldPictures(treeOf({ ...drawn, ...changed }))), faults);
  assert.deepEqual(lines(oldPictures(treeOf(texts))), faults, 'nobody says what drew them');
});
