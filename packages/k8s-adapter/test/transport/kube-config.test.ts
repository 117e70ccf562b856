import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, it, type TestContext } from 'node:test';
import { fileURLToPath } from 'node:url';
import { KubeConfig } from '@kubernetes/client-node';
import { startEmbedded, topologies, writeKubeconfig } from '@taintmgr/api-server';
import { node } from '@taintmgr/sim-cluster';
import { build } from 'esbuild';
import { ApiClient } from '../../src/client/client.ts';
import { explainNode } from '../../src/explain/subjects.ts';
import { HttpTransport } from '../../src/transport/http-transport.ts';
import { runtimes } from '../world/runtimes.ts';
import { configFor, expected, startApi, tls, verified } from './tls-cluster.ts';

describe('a KubeConfig of @kubernetes/client-node', () => {
  async function told(t: TestContext, cluster: object): Promise<readonly unknown[]> {
    const config = new KubeConfig();
    config.loadFromString(configFor(cluster));
    const transport = new HttpTransport(config, 'taintmgr/test');
    t.after(() => transport.close());
    const client = new ApiClient({ transport, server: 'the server' });
    return [await client.get('/one'), await client.get('/two')];
  }

  it('leads to its cluster, which is verified', async (t) => {
    const server = await startApi(t);
    assert.deepEqual(await told(t, verified(server)), expected);
    const other = { ...verified(server), 'certificate-authority': tls('client.crt') };
    await assert.rejects(told(t, other), /signed by an authority that is not trusted/);
  });

  it('leads to its cluster unverified where it says so', async (t) => {
    const server = await startApi(t);
    assert.deepEqual(await told(t, { server, 'insecure-skip-tls-verify': true }), expected);
  });

  it('has to have a cluster', () => {
    const message =
      'the KubeConfig has no current cluster; call loadFromDefault() or setCurrentContext(NAME) first';
    assert.throws(() => new HttpTransport(new KubeConfig(), 'taintmgr/test'), { message });
  });

  it('is a way for explanations', async (t) => {
    const embedded = await startEmbedded({ ...topologies.empty, token: 'admin' });
    t.after(() => embedded.stop());
    embedded.cluster.api.create('nodes', node('node-1'));
    const file = join(folderOf(t), 'config');
    writeKubeconfig(file, { server: embedded.url, ca: embedded.ca, token: 'admin' });
    const config = new KubeConfig();
    config.loadFromFile(file);
    const { document } = await explainNode(config, 'node-1');
    assert.equal(document.metadata.name, 'node-1');
  });
});

describe('without @kubernetes/client-node', () => {
  const program = `
import { KubeconfigAccess } from './src/kubeconfig/access.ts';
import { typedApi } from './src/client/typed-api.ts';
const say = ({ message }) => console.log(message);
const proxied = { server: 'https://127.0.0.1:1', proxyUrl: 'socks5://127.0.0.1:1' };
await new KubeconfigAccess(proxied, { headers: {} }).authorize().catch(say);
const user = { headers: {}, authProvider: { name: 'oidc', config: {} } };
await new KubeconfigAccess({ server: 'https://127.0.0.1:1' }, user).authorize().catch(say);
await typedApi(class {}, { send: () => () => {} }).catch(say);
`;
  const remedy =
    'needs @kubernetes/client-node, which is not installed: npm install @kubernetes/client-node';

  for (const { name, binary, run } of runtimes) {
    it(`the remedy is named by what needs it, on ${name}`, async (t) => {
      const folder = folderOf(t);
      // Without the folder, Bun would install what a program imports.
      mkdirSync(join(folder, 'node_modules'));
      await build({
        stdin: { contents: program, resolveDir: fileURLToPath(new URL('../..', import.meta.url)) },
        ...{ bundle: true, splitting: true, format: 'esm', platform: 'node', outdir: folder },
        outExtension: { '.js': '.mjs' },
        conditions: ['@taintmgr/source'],
        external: ['@kubernetes/client-node'],
      });
      const args = [...run, join(folder, 'stdin.mjs')];
      const { stdout, stderr } = spawnSync(binary, args, { cwd: folder, encoding: 'utf8' });
      assert.deepEqual(
        stdout.trimEnd().split('\n'),
        [
          `no credentials: a SOCKS proxy ${remedy}`,
          `no credentials: an auth-provider ${remedy}`,
          `the typed API ${remedy}`,
        ],
        stderr,
      );
    });
  }
});

function folderOf(t: TestContext): string {
  const folder = mkdtempSync(join(tmpdir(), 'taintmgr-'));
  t.after(() => rmSync(folder, { recursive: true }));
  return folder;
}
