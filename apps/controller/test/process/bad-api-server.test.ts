import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import http, { type RequestListener } from 'node:http';
import https from 'node:https';
import net, { type AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, it, type TestContext } from 'node:test';
import { createCertificate, writeKubeconfig } from '@taintmgr/api-server';
import type { Rule } from '@taintmgr/sim-cluster';
import { errorLines } from '../../src/process/program.ts';
import { ask } from '../harness/https-client.ts';
import { type RunningProcess, startProcess } from '../harness/running-process.ts';
import { startTestApi } from '../harness/test-api.ts';

// API servers that are away, slow, or lie: what the user reads of them, and what is tried next.

const identity = createCertificate(Date.now());
const onlyEviction = '--controllers=taint-eviction-controller';

type Behave = RequestListener<typeof http.IncomingMessage, typeof http.ServerResponse>;

function answer(status: number, body: unknown, headers: object = {}): Behave {
  return (_, response) => {
    response.writeHead(status, { 'content-type': 'application/json', ...headers });
    response.end(typeof body === 'string' ? body : JSON.stringify(body));
  };
}

function status(code: number, reason: string, message: string): Behave {
  return answer(code, { kind: 'Status', status: 'Failure', code, reason, message });
}

const overTls = (behave: Behave): net.Server => {
  const { certificate: cert, ca, key } = identity;
  return https.createServer({ cert: cert + ca, key }, behave);
};

const never: Behave = () => {};

const cutOff: Behave = (_, response) => {
  response.writeHead(200, { 'content-type': 'application/json', 'content-length': 1000 });
  response.write('{', () => response.destroy());
};

/** Sends for ever what says nothing. */
const drip: Behave = (_, response) => {
  response.writeHead(200, { 'content-type': 'application/json' });
  const timer = setInterval(() => response.write(' '), 20);
  response.on('close', () => clearInterval(timer));
};

interface Case {
  readonly name: string;
  readonly server: () => net.Server;
  /** Whose certificates are trusted; those of the server where left out. */
  readonly ca?: string;
  /** What it failed with, or the whole of what is printed. */
  readonly why: string;
  readonly whole?: true;
}

const check = 'check that the API server runs and that --context names the right cluster';
const checkAddress = 'check the address and port of the server that the current context names';
const noTls = 'what answers there does not speak TLS';
const untrusted =
  'its certificate is signed by an authority that is not trusted: check certificate-authority';

/** No waiting would mend these: it ends, and says why. */
const final: readonly Case[] = [
  {
    name: 'is a web server',
    server: () => overTls(answer(200, '<html>', { 'content-type': 'text/html' })),
    why: 'what answers at /apis/taintmgr.dev/v1alpha1/taintmanagers does not speak JSON',
  },
  {
    name: 'answers with something else',
    server: () => overTls(answer(200, { kind: 'SecretList', items: [] })),
    why:
      'what answers at /apis/taintmgr.dev/v1alpha1/taintmanagers is no list of taintmanagers (taintmgr.dev/v1alpha1), ' +
      'but a "SecretList" of nothing',
  },
  {
    name: 'answers with nothing',
    server: () => overTls(answer(200, {})),
    why:
      'what answers at /apis/taintmgr.dev/v1alpha1/taintmanagers is no list of taintmanagers (taintmgr.dev/v1alpha1), ' +
      'but JSON without a kind',
  },
  {
    name: 'sends elsewhere',
    server: () => overTls(answer(302, '', { location: 'https://elsewhere/' })),
    why:
      'error: Error from server: HTTP status 302\n' +
      'hint: the server redirects: check --server and --context',
    whole: true,
  },
  {
    name: 'does not know us',
    server: () => overTls(status(401, 'Unauthorized', 'Unauthorized')),
    why:
      'error: Error from server (Unauthorized): Unauthorized\n' +
      'hint: the credentials of the current context are not valid',
    whole: true,
  },
  {
    name: 'does not let us',
    server: () => overTls(status(403, 'Forbidden', 'nodes is\nforbidden')),
    why:
      'error: whether another taintmgr-controller runs here is unknown: no permission to list leases ' +
      'named taintmgr-controller; grant it, as the roles in deploy/ do, or accept it with --allow-overlap',
    whole: true,
  },
  {
    name: 'knows no nodes',
    server: () => overTls(status(404, 'NotFound', 'no such page')),
    why:
      'error: Error from server (NotFound): no such page (GET /api/v1/nodes)\n' +
      'hint: the server may not be a Kubernetes API server: check --server and --context',
    whole: true,
  },
];

/** These may pass: it says so, and tries again. */
const passing: readonly Case[] = [
  {
    name: 'accepts and says nothing',
    server: () => net.createServer(() => {}),
    why: 'no answer within 500ms',
  },
  {
    name: 'hangs up at once',
    server: () => net.createServer((socket) => socket.destroy()),
    why: 'the connection was cut off',
  },
  {
    name: 'does not speak TLS',
    server: () => http.createServer(answer(200, {})),
    why: noTls,
  },
  {
    name: 'has a certificate of somebody else',
    server: () => overTls(answer(200, {})),
    ca: createCertificate(Date.now()).ca,
    why: untrusted,
  },
  { name: 'never answers', server: () => overTls(never), why: 'no answer within 500ms' },
  { name: 'never ends its answer', server: () => overTls(drip), why: 'no answer within 500ms' },
  {
    name: 'is cut off while it answers',
    server: () => overTls(cutOff),
    why: 'the connection was cut off',
  },
  {
    name: 'has too much to do',
    server: () => overTls(status(429, 'TooManyRequests', 'later')),
    why: 'Error from server (TooManyRequests): later',
    whole: true,
  },
  {
    name: 'is in trouble',
    server: () => overTls(status(500, 'InternalError', 'etcd is away')),
    why: 'Error from server (InternalError): etcd is away',
    whole: true,
  },
];

async function listen(t: TestContext, server: net.Server): Promise<string> {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  t.after(() => {
    server.close();
    if (server instanceof http.Server || server instanceof https.Server) {
      server.closeAllConnections();
    }
  });
  return `https://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

/** A controller that is to work with this server. */
async function startAgainst(t: TestContext, server: string, ca: string): Promise<RunningProcess> {
  const folder = mkdtempSync(join(tmpdir(), 'taintmgr-bad-'));
  t.after(() => rmSync(folder, { recursive: true }));
  const kubeconfig = join(folder, 'kubeconfig');
  writeKubeconfig(kubeconfig, { server, ca, token: 't' });
  return startProcess(t, {
    connection: { kubeconfig, requestTimeout: '500ms' },
    flags: [onlyEviction],
  });
}

describe('at the start, an API server that', () => {
  for (const { name, server: create, ca = identity.ca, why, whole } of final) {
    it(`${name}: it ends`, async (t) => {
      const server = await listen(t, create());
      const { result } = await startAgainst(t, server, ca);
      const error = await result.catch((reason: unknown) => reason);
      const next = why === noTls ? checkAddress : check;
      const lines = whole ? why : `error: request to ${server} failed: ${why}; ${next}`;
      assert.equal(errorLines(error), lines);
    });
  }

  for (const { name, server: create, ca = identity.ca, why, whole } of passing) {
    it(`${name}: it is not ready, and tries again`, async (t) => {
      const server = await listen(t, create());
      const controller = await startAgainst(t, server, ca);
      const next = why === noTls ? checkAddress : check;
      const end = why === untrusted ? '' : `; ${next}`;
      const error = whole ? why : `request to ${server} failed: ${why}${end}`;
      await controller.saw('could not start, will try again', { level: 'warn', error });
      const [first] = controller.lines.filter(({ level }) => level === 'warn');
      assert.match(String(first?.next), /^\d+\.\ds$/);
      assert.equal((await ask(controller.port, '/readyz')).status, 500);
      assert.equal((await ask(controller.port, '/livez')).status, 200);
      await controller.stop();
    });
  }

  it('refuses at first is worked with as soon as it is there', async (t) => {
    const cluster = await startTestApi([{ verbs: ['*'], apiGroups: ['*'], resources: ['*'] }]);
    t.after(() => cluster.stop());
    cluster.api.faults.add({ fault: { kind: 'answer', code: 429 }, verbs: ['get'], times: 1 });
    const connection = { kubeconfig: cluster.kubeconfig };
    const controller = await startProcess(t, { connection, flags: [onlyEviction] });
    await controller.saw('could not start, will try again', { level: 'warn' });
    await controller.saw('caches synced, evictions start');
    await controller.stop();
  });
});

describe('later on, an API server that', () => {
  const everything: Rule = { verbs: ['*'], apiGroups: ['*'], resources: ['*'] };

  it('goes away is told with what is tried next, and found again', async (t) => {
    const cluster = await startTestApi([everything]);
    t.after(() => cluster.stop());
    const connection = { kubeconfig: cluster.kubeconfig };
    const controller = await startProcess(t, { connection, flags: [onlyEviction] });
    await controller.saw('watching pods');
    await controller.saw('watching nodes');
    cluster.api.faults.down = true;
    cluster.api.faults.breakStreams();
    await controller.saw('reading nodes failed, reconnecting');
    const lost = controller.lines.find(({ msg }) => msg === 'reading nodes failed, reconnecting');
    assert.equal(lost?.level, 'warn');
    assert.equal(lost?.next, 'watch');
    assert.match(String(lost?.wait), /^\d+\.\ds$/);
    assert.notEqual(lost?.error, '');
    cluster.api.faults.down = false;
    for (const resource of ['nodes', 'pods']) {
      await controller.saw(`watching ${resource} again`, { level: 'info' });
    }
    await controller.stop();
  });

  it('has forgotten what it said is asked for the whole again', async (t) => {
    const cluster = await startTestApi([everything]);
    t.after(() => cluster.stop());
    const connection = { kubeconfig: cluster.kubeconfig };
    const controller = await startProcess(t, { connection, flags: [onlyEviction] });
    await controller.saw('watching nodes');
    cluster.api.faults.add({
      fault: { kind: 'answer', code: 410 },
      verbs: ['watch'],
      resource: 'nodes',
      times: 1,
    });
    cluster.api.faults.breakStreams();
    await controller.saw('reading nodes failed, reconnecting', { next: 'list' });
    await controller.saw('listed nodes', {}, 2);
    await controller.stop();
  });
});
