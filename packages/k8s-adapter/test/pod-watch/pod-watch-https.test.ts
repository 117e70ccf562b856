import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { it } from 'node:test';
import { ApiServer, createCertificate, startHttps, writeKubeconfig } from '@taintmgr/api-server';
import { createEngine } from '@taintmgr/core';
import { node, pod, RealClock, seededRandom } from '@taintmgr/sim-cluster';
import { Loop, type Notice } from '../../src/controller/engine-loop.ts';
import { drive } from '../../src/driver/driver.ts';
import { loadKubeconfig } from '../../src/kubeconfig/kubeconfig.ts';
import { HttpTransport } from '../../src/transport/http-transport.ts';

const bad = { taints: [{ key: 'bad', effect: 'NoExecute' }] };

// The way over sockets once: streams of single nodes, one of all pods when there are too many.
it('reads and evicts node by node over HTTPS, and all when too many are tainted', async (t) => {
  const paths: string[] = [];
  const api = new ApiServer({ clock: new RealClock(), random: seededRandom(3) });
  for (const name of ['n1', 'n2', 'n3', 'n4']) {
    api.create('nodes', node(name));
    const spec = { nodeName: name, terminationGracePeriodSeconds: 0 };
    api.create('pods', pod('default', `on-${name}`, { spec }));
  }
  const certificate = createCertificate(Date.now());
  const server = await startHttps({ exchange: api.exchange, certificate });
  t.after(() => server.close());
  const home = mkdtempSync(path.join(tmpdir(), 'taintmgr-'));
  t.after(() => rmSync(home, { recursive: true }));
  const kubeconfig = path.join(home, 'config');
  writeKubeconfig(kubeconfig, { server: server.url, ca: certificate.ca, token: 'x' });
  const { access } = await loadKubeconfig({ kubeconfig });
  const http = new HttpTransport(access, 'taintmgr/test');
  const loop = new Loop({
    machine: createEngine(),
    random: () => 0,
    podWatch: { mode: 'tainted-nodes', nodesMax: 2 },
  });
  const stop = new AbortController();
  t.after(() => stop.abort());
  const heard = new Set<string>();
  const waiting = new Map<string, () => void>();
  const onNotice = (notice: Notice): void => {
    const name = nameOf(notice);
    heard.add(name);
    waiting.get(name)?.();
  };
  const told = (name: string): Promise<void> =>
    heard.has(name) ? Promise.resolve() : new Promise((resolve) => waiting.set(name, resolve));
  const taint = (name: string): void => {
    const found = api.get('nodes', '', name) ?? assert.fail(`no node ${name}`);
    api.update('nodes', { ...found, spec: { ...found.spec, ...bad } });
  };

  const running = drive({
    loop,
    transport: {
      send(request, sink) {
        if (request.path.startsWith('/api/v1/pods'))
          paths.push(request.path.split('&timeout')[0] ?? '');
        return http.send(request, sink);
      },
    },
    signal: stop.signal,
    onNotice,
  });
  await told('synced');
  assert.equal(paths.length, 0);
  taint('n1');
  taint('n2');
  await Promise.all([told('finished on-n1'), told('finished on-n2')]);
  const ofNode = (name: string): string =>
    `/api/v1/pods?fieldSelector=spec.nodeName%3D${name}&limit=500`;
  assert.ok(paths.includes(ofNode('n1')) && paths.includes(ofNode('n2')), paths.join('\n'));
  taint('n3');
  await told('finished on-n3');
  assert.ok(heard.has('all'));
  assert.deepEqual(
    api.list('pods').map(({ metadata }) => metadata.name),
    ['on-n4'],
  );
  stop.abort();
  await running;
  http.close();
});

function nameOf(notice: Notice): string {
  if (notice.kind === 'commandFinished') return `finished ${notice.command.pod.name}`;
  return notice.kind === 'podScope' ? notice.scope : notice.kind;
}
