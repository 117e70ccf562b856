import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { it, type TestContext } from 'node:test';
import { ApiServer, createCertificate, startHttps, writeKubeconfig } from '@taintmgr/api-server';
import { createEngine } from '@taintmgr/core';
import { type Exchange, node, pod, RealClock, seededRandom } from '@taintmgr/sim-cluster';
import { Loop, type Notice } from '../../src/controller/engine-loop.ts';
import { drive } from '../../src/driver/driver.ts';
import { loadKubeconfig } from '../../src/kubeconfig/kubeconfig.ts';
import { HttpTransport } from '../../src/transport/http-transport.ts';
import { freePort } from '../world/free-port.ts';

// The whole way once, in real time: kubeconfig, TLS, watches, evictions, a restart of the server.
for (const [what, protobuf] of [
  ['', false],
  [', reading protobuf', true],
] as const) {
  it(`evicts over HTTPS, before and after a restart of the API server${what}`, (t) =>
    play(t, protobuf));
}

async function play(t: TestContext, protobuf: boolean): Promise<void> {
  const api = new ApiServer({ clock: new RealClock(), random: seededRandom(3), protobuf });
  const bad = { taints: [{ key: 'bad', effect: 'NoExecute' }] };
  api.create('nodes', node('n1', { spec: bad }));
  const podOnNode = (name: string) =>
    api.create(
      'pods',
      pod('default', name, { spec: { nodeName: 'n1', terminationGracePeriodSeconds: 0 } }),
    );
  podOnNode('before');

  const formats = new Set<unknown>();
  const exchange: Exchange = (request, sink) =>
    api.exchange(request, {
      ...sink,
      head: (status, headers) => {
        formats.add(headers['content-type']);
        sink.head(status, headers);
      },
    });
  const certificate = createCertificate(Date.now());
  let server = await startHttps({ exchange, certificate, port: await freePort() });
  t.after(() => server.close());
  const home = mkdtempSync(path.join(tmpdir(), 'taintmgr-'));
  t.after(() => rmSync(home, { recursive: true }));
  const kubeconfig = path.join(home, 'config');
  writeKubeconfig(kubeconfig, { server: server.url, ca: certificate.ca, token: 'x' });

  const { access } = await loadKubeconfig({ kubeconfig });
  const transport = new HttpTransport(access, 'taintmgr/test');
  const loop = new Loop({ machine: createEngine(), random: () => 0, protobuf });
  const stop = new AbortController();
  t.after(() => stop.abort());
  const waiting = new Map<string, () => void>();
  const onNotice = (notice: Notice): void => {
    const name = notice.kind === 'commandFinished' ? notice.command.pod.name : notice.kind;
    waiting.get(name)?.();
  };
  const told = (name: string) => new Promise<void>((resolve) => waiting.set(name, resolve));

  const first = told('before');
  const running = drive({ loop, transport, signal: stop.signal, onNotice });
  await first;
  assert.equal(api.get('pods', 'default', 'before'), null);

  const lost = told('reconnecting');
  await server.close();
  await lost;
  podOnNode('meanwhile');
  const second = told('meanwhile');
  server = await startHttps({ exchange, certificate, port: server.port });
  await second;
  assert.equal(api.get('pods', 'default', 'meanwhile'), null);

  stop.abort();
  await running;
  transport.close();
  assert.equal(formats.has('application/vnd.kubernetes.protobuf;stream=watch'), protobuf);
}
