// What a kubelet costs that answers with 230 MB: a server over HTTPS sends them as fast as they are
// taken, and the poller of node pressure asks through the real transport.
//
//   npm run bench -- hostile-kubelet
import https from 'node:https';
import type { AddressInfo } from 'node:net';
import { setTimeout as wait } from 'node:timers/promises';
import { createPressureMachine } from '@taintmgr/core';
import { drive, HttpTransport, PressureLoop } from '@taintmgr/k8s-adapter';
import { createCertificate } from '@taintmgr/sim-cluster';

const mebibyte = 2 ** 20;
const total = 230 * mebibyte;
const { certificate, ca, key } = createCertificate(Date.now());
const piece = Buffer.alloc(mebibyte, ' ');
let sent = 0;

const nodes = {
  kind: 'NodeList',
  metadata: { resourceVersion: '1' },
  items: [{ metadata: { name: 'n1', uid: 'u1', resourceVersion: '1' }, status: {} }],
};
const pods = { kind: 'PodList', metadata: { resourceVersion: '1' }, items: [] };

const server = https.createServer({ cert: certificate + ca, key }, (request, response) => {
  const { url = '' } = request;
  if (url.includes('watch')) {
    response.writeHead(200).flushHeaders();
  } else if (url.includes('/proxy/')) {
    response.writeHead(200, { 'content-type': 'application/json' });
    const more = (): void => {
      while (sent < total && !response.destroyed) {
        sent += piece.length;
        if (!response.write(piece)) {
          response.once('drain', more);
          return;
        }
      }
      response.end();
    };
    more();
  } else response.end(JSON.stringify(url.includes('/pods') ? pods : nodes));
});
await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
const { port } = server.address() as AddressInfo;

const access = {
  server: `https://127.0.0.1:${port}`,
  authorize: () =>
    Promise.resolve({ headers: {}, tls: { ca, rejectUnauthorized: true }, agent: null }),
  rejected: () => {},
};
const transport = new HttpTransport(access, 'bench');
const end = new AbortController();
const loop = new PressureLoop({
  machine: createPressureMachine({}),
  random: Math.random,
  watches: () => true,
  pollPeriodMs: 1000,
});
const running = drive({ loop, transport, signal: end.signal, onNotice: () => {} });
global.gc?.();
const before = process.memoryUsage().rss;
let most = before;
const until = performance.now() + 5000;
while (performance.now() < until) {
  await wait(20);
  most = Math.max(most, process.memoryUsage().rss);
}
const said = `${((most - before) / mebibyte).toFixed(0)} MiB more at most`;
end.abort();
await running;
transport.close();
server.closeAllConnections();
server.close();
process.stdout.write(
  `a kubelet that answers with 230 MiB: ${said}, of which this server's own buffers are a part; ` +
    `${(sent / mebibyte).toFixed(0)} MiB were sent before we hung up\n`,
);
