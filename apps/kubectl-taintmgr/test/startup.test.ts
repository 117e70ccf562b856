// What commands load, which is most of the time that short ones take.
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { fileURLToPath } from 'node:url';
import { execute } from './world/plugin.ts';
import { app } from './world/scenario.ts';
import { startTestCluster, type TestCluster } from './world/test-cluster.ts';

const root = new URL('../../../', import.meta.url).href;
const main = fileURLToPath(new URL('../src/main.ts', import.meta.url));

/** Says at the end which files were loaded, and which modules of Node. */
const listing = `
import { registerHooks } from 'node:module';
const files = [];
registerHooks({ load: (url, context, next) => (files.push(url), next(url, context)) });
process.on('exit', () => {
  const ofNode = process.moduleLoadList.map((name) => name.replace('NativeModule ', 'node:'));
  process.stderr.write(JSON.stringify([...files, ...ofNode]));
});`;
const listed = ['--import', `data:text/javascript,${encodeURIComponent(listing)}`];

/** What a command line loads, files by their paths in the repository. */
async function loadedBy(...args: readonly string[]): Promise<readonly string[]> {
  const source = ['-C', '@taintmgr/source', ...listed, main];
  const { code, err } = await execute(process.execPath, [...source, ...args]);
  assert.equal(code, 0, err);
  const loaded: readonly string[] = JSON.parse(err);
  return loaded.map((url) => url.replace(root, ''));
}

describe('what commands load', () => {
  let cluster: TestCluster;
  before(async () => {
    const topology = { region: 'r', zones: ['a'], nodesPerZone: 1, workloads: [app('a', 'web')] };
    cluster = await startTestCluster({ ...topology, budgets: [] });
  });
  after(() => cluster.stop());

  for (const args of [['--help'], ['explain', 'node', '--help']]) {
    it(`${args.join(' ')}: no engine, and nothing that talks to a cluster`, async () => {
      const loaded = await loadedBy(...args);
      const ofPackages = loaded.filter((path) => path.startsWith('packages/')).sort();
      assert.deepEqual(ofPackages, [
        'packages/core/src/doors/time.ts',
        'packages/core/src/kernel/time.ts',
        'packages/k8s-adapter/src/doors/command-line.ts',
        'packages/k8s-adapter/src/kubeconfig/connection-flags.ts',
        'packages/k8s-adapter/src/text/count.ts',
        'packages/k8s-adapter/src/text/printable.ts',
        'packages/k8s-adapter/src/text/usage-error.ts',
        'packages/k8s-adapter/src/text/vocabulary.ts',
        'packages/k8s-adapter/src/transport/errors.ts',
      ]);
      const libraries = loaded.filter((path) => /^node_modules\/(?!.*commander)/.test(path));
      assert.deepEqual(libraries, []);
      const slow = ['node:tls', 'node:http2', 'node:http', 'node:crypto', 'node:fs/promises'];
      assert.deepEqual(
        slow.filter((name) => loaded.includes(name)),
        [],
      );
    });
  }

  it('explain node: beside commander no library but the one for tables, and no HTTP/1.1', async () => {
    const loaded = await loadedBy('explain', 'node', 'a-1', '--kubeconfig', cluster.kubeconfig);
    const libraries = loaded.flatMap((path) => {
      return /^node_modules\/((?:@[^/]+\/)?[^/]+)/.exec(path)?.[1] ?? [];
    });
    assert.deepEqual([...new Set(libraries)].sort(), ['get-east-asian-width']);
    const unneeded = ['exec-login', 'plugin-login', 'http1', 'positioned', 'yaml', 'json-path'];
    assert.deepEqual(
      unneeded.filter((name) => loaded.some((path) => path.endsWith(`/${name}.ts`))),
      [],
    );
    assert.equal(
      loaded.some((path) => /^packages\/(sim-cluster|page)\//.test(path)),
      false,
    );
    const folder = 'apps/kubectl-taintmgr/src/commands/explain/';
    const kinds = loaded.filter((path) => path.startsWith(folder));
    assert.deepEqual(kinds.map((path) => path.slice(folder.length)).sort(), [
      'explain.ts',
      'flags.ts',
      'node-table.ts',
      'view.ts',
    ]);
  });

  it('simulate: a cluster that plays, and no API server for real clients', async () => {
    const topology = fileURLToPath(
      new URL('../../../docs/scenarios/three-zones.yaml', import.meta.url),
    );
    const loaded = await loadedBy('simulate', '-f', topology, '--until', '1m', '-o', 'json');
    assert.ok(loaded.includes('packages/sim-cluster/src/cluster.ts'));
    assert.deepEqual(
      loaded.filter((path) => path.startsWith('packages/api-server/')),
      [],
    );
  });
});
