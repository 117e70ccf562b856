import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, describe, it, type TestContext } from 'node:test';
import { fileURLToPath } from 'node:url';
import { startProcess } from '@taintmgr/controller/test/harness/running-process.ts';
import {
  ApiClient,
  type ApiRequest,
  evictPodRequest,
  HttpTransport,
  listRequest,
  loadKubeconfig,
} from '@taintmgr/k8s-adapter';
import { stringify } from 'yaml';

// `npm run -s cluster` as a process of its own.

const program = fileURLToPath(new URL('../../src/cluster/main.ts', import.meta.url));
const directory = mkdtempSync(join(tmpdir(), 'taintmgr-cluster-test-'));
after(() => rmSync(directory, { recursive: true }));

interface Ended {
  readonly code: number;
  readonly out: string;
  readonly err: string;
}

/** Runs it until it ends or has said where its kubeconfig is. */
function run(t: TestContext, ...args: readonly string[]): Promise<Ended> {
  const child = spawn(process.execPath, ['-C', '@taintmgr/source', program, ...args], {
    timeout: 180_000,
  });
  t.after(() => child.kill());
  return new Promise((resolve) => {
    let [out, err] = ['', ''];
    child.stderr.setEncoding('utf8').on('data', (chunk: string) => {
      err += chunk;
    });
    child.stdout.setEncoding('utf8').on('data', (chunk: string) => {
      out += chunk;
      if (/^export KUBECONFIG=.*\n/m.test(out)) resolve({ code: 0, out, err });
    });
    child.once('close', (code) => resolve({ code: code ?? -1, out, err }));
  });
}

async function send(kubeconfig: string, request: ApiRequest): Promise<unknown> {
  const { access } = await loadKubeconfig({ kubeconfig });
  const transport = new HttpTransport(access, 'taintmgr/test');
  const { server } = access;
  const { signal } = new AbortController();
  const client = new ApiClient({ transport, server, requestTimeout: 10_000, signal });
  return await client.send(request).finally(() => transport.close());
}

async function names(kubeconfig: string, path: string): Promise<readonly string[]> {
  const list = JSON.parse(JSON.stringify(await send(kubeconfig, listRequest(path, {}))));
  return list.items.map(({ metadata }: { metadata: { name: string } }) => metadata.name);
}

describe('the embedded cluster', () => {
  it('says where it is, first of all', async (t) => {
    const kubeconfig = join(directory, 'plain');
    const { out, err } = await run(t, '--port', '0', '--token', 'T', '--kubeconfig', kubeconfig);
    assert.match(out, /^ready: https:\/\/127\.0\.0\.1:\d+\nexport KUBECONFIG=/);
    assert.equal(out.split('\n')[1], `export KUBECONFIG=${kubeconfig}`);
    assert.equal(err, '');
    assert.deepEqual(await names(kubeconfig, '/api/v1/pods'), []);
  });

  it('holds a snapshot and reports what it could not take', async (t) => {
    const file = join(directory, 'snapshot.yaml');
    const kubeconfig = join(directory, 'loaded');
    const pod = {
      apiVersion: 'v1',
      kind: 'Pod',
      metadata: { name: 'p', namespace: 'shop' },
      spec: {},
    };
    const items = [pod, { ...pod, kind: 'Gadget' }, { ...pod, metadata: { name: 'q' } }];
    writeFileSync(
      file,
      stringify({ apiVersion: 'v1', items, kind: 'List' }, { aliasDuplicateObjects: false }),
    );
    const { err } = await run(t, '--snapshot', file, '--kubeconfig', kubeconfig);
    assert.equal(
      err,
      [
        'not taken: Gadget shop/p: v1 Gadget is not served',
        'not taken: Pod q: no namespace',
        'namespaces made up for its objects: shop',
        `snapshot ${file}: 1 objects taken, 2 not taken (Gadget 1, Pod 1)`,
        '',
      ].join('\n'),
    );
    assert.deepEqual(await names(kubeconfig, '/api/v1/pods'), ['p']);
  });

  it('refuses an eviction in the words of an admission webhook', async (t) => {
    const kubeconfig = join(directory, 'denying');
    const denial = 'vm-0=429:e.example.com:it is moved: "a"';
    await run(t, '--kubeconfig', kubeconfig, '--deny-eviction', denial);
    const pod = { namespace: 'shop', name: 'vm-0', uid: 'u', nodeName: 'n1' };
    await assert.rejects(send(kubeconfig, evictPodRequest(pod, {})), {
      message: /: admission webhook "e\.example\.com" denied the request: it is moved: "a"$/,
    });
  });

  it('serves the Service by which tests of others tell its family of addresses', async (t) => {
    const kubeconfig = join(directory, 'zones');
    const flags = ['--topology', 'three-zones', '--system-pods'];
    await run(t, ...flags, '--kubeconfig', kubeconfig);
    assert.deepEqual(await names(kubeconfig, '/api/v1/namespaces/default/services'), [
      'kubernetes',
    ]);
    assert.deepEqual(await names(kubeconfig, '/apis/storage.k8s.io/v1/csinodes'), []);
  });

  it('takes the controller as docs/kubernetes-tests.md starts both', async (t) => {
    const page = readFileSync(
      new URL('../../../../docs/kubernetes-tests.md', import.meta.url),
      'utf8',
    );
    const kubeconfig = join(directory, 'for-tests-of-others');
    const flagsOf = (script: string): readonly string[] => {
      const [, line] = new RegExp(`^ {4}npm run -s ${script} -- (.*)$`, 'm').exec(page) ?? [];
      const text = line ?? assert.fail(`the page does not start ${script}`);
      return text.replace('--port 6443', '--port 0').replace('FILE', kubeconfig).split(' ');
    };
    await run(t, ...flagsOf('cluster'));
    const [name, file, ...flags] = flagsOf('controller');
    assert.deepEqual([name, file], ['--kubeconfig', kubeconfig]);
    const environment = { TAINTMGR_KUBE_CONTROLLER_MANAGER_RUNS: undefined };
    const controller = await startProcess(t, { connection: { kubeconfig }, flags, environment });
    await controller.saw('caches synced, evictions start');
    await controller.stop();
  });

  const wrong: readonly (readonly [string, RegExp])[] = [
    [
      '--port x',
      /^error: option '--port <number>' argument 'x' is invalid\. Want a whole number from 0 to 65535\.\nSee npm run -s cluster -- --help\n$/,
    ],
    ['--topology two', /Allowed choices are empty, three-zones, snapshot/],
    ['--topology snapshot', /^error: --topology snapshot needs --snapshot FILE\n/],
    ['--system-pods', /^error: --system-pods needs --topology three-zones\n/],
    ['--token=', /argument '' is invalid\. It is empty/],
    ['--snapshot /nowhere', /^error: --snapshot \/nowhere: no such file\n$/],
    ['--deny-eviction vm=200:w:x', /Want POD=CODE:WEBHOOK:MESSAGE with a code from 400 to 599/],
    ['--nonsense', /unknown option '--nonsense'/],
  ];
  for (const [line, expected] of wrong) {
    it(`refuses ${line}`, async (t) => {
      const { code, out, err } = await run(t, ...line.split(' '));
      assert.deepEqual([code, out], [1, '']);
      assert.match(err, expected);
    });
  }

  it('explains itself', async (t) => {
    const { code, out } = await run(t, '--help');
    assert.equal(code, 0);
    assert.match(out, /--snapshot <file>/);
  });
});
