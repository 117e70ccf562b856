import assert from 'node:assert/strict';
import { test } from 'node:test';
import { hasDependencies, impure, namesAMachine, tooLong } from '../../tidy/file-rules.ts';
import { faultLines, treeOf } from '../../tidy/tree.ts';

test('the core and most of the adapter touch neither Node nor promises nor timers', () => {
  const tree = treeOf({
    'packages/core/src/a.ts': 'export const a = async () => {};',
    'packages/core/src/b.ts': '// never async\nexport const b = 1;',
    'packages/k8s-adapter/src/proto/c.ts': "import { readFileSync } from 'node:fs';",
    'packages/k8s-adapter/src/controller/d.ts': 'setTimeout(Date.now(), 1);',
    'packages/k8s-adapter/src/driver/e.ts': "import 'node:fs'; await Promise.all([]);",
    'packages/k8s-adapter/src/client/f.ts': "import { cluster } from '@taintmgr/sim-cluster';",
  });
  const adapter =
    'only driver, transport, kubeconfig, client, survey and explain of the adapter may touch Node';
  assert.deepEqual(faultLines(impure(tree)), [
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
  assert.deepEqual(faultLines(hasDependencies(tree)), [
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
  assert.deepEqual(faultLines(tooLong(tree)), ['a.ts: 601 lines, at most 600']);
  assert.deepEqual(faultLines(namesAMachine(tree)), [
    `c.md: names a path of somebody's machine: ${home.slice(0, -2)}`,
  ]);
});
