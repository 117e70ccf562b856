import assert from 'node:assert/strict';
import { copyFileSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { it, type TestContext } from 'node:test';
import { fileURLToPath } from 'node:url';
import { createCertificate } from '@taintmgr/api-server';
import { type Exchange, pod, type Rule, type User } from '@taintmgr/sim-cluster';
import { ask } from '../harness/https-client.ts';
import { type RunningProcess, startProcess } from '../harness/running-process.ts';
import { startTestApi, type TestApi } from '../harness/test-api.ts';

// What the flags of serving come to, of the controller as it runs.

const everything: Rule = { verbs: ['*'], apiGroups: ['*'], resources: ['*'] };
const readsStatus: Rule = { verbs: ['get'], nonResourceURLs: ['/statusz'] };

async function startApi(
  t: TestContext,
  users: Readonly<Record<string, User>> = {},
): Promise<TestApi> {
  const api = await startTestApi([everything], users);
  t.after(() => api.stop());
  return api;
}

async function start(
  t: TestContext,
  { kubeconfig }: TestApi,
  ...flags: readonly string[]
): Promise<RunningProcess> {
  const common = ['--leader-elect=false', '--allow-overlap'];
  const controller = await startProcess(t, {
    connection: { kubeconfig },
    flags: [...common, ...flags],
  });
  await controller.saw('serving health and metrics');
  return controller;
}

const testdata = (name: string): string =>
  fileURLToPath(new URL(`../testdata/server/tls/${name}`, import.meta.url));

it('speaks no TLS older than --tls-min-version', async (t) => {
  const controller = await start(t, await startApi(t), '--tls-min-version=VersionTLS13');
  const old = ask(controller.port, '/livez', { maxVersion: 'TLSv1.2' });
  await assert.rejects(old, /protocol version|EPROTO/);
  assert.equal((await ask(controller.port, '/livez')).status, 200);
  await controller.stop();
});

it('asks one cluster who somebody is, and another one what he may read', async (t) => {
  const named = await startApi(t, { 'of-ada': { name: 'ada', groups: [], rules: [] } });
  const allowed = await startApi(t, { other: { name: 'ada', groups: [], rules: [readsStatus] } });
  const controller = await start(
    t,
    await startApi(t),
    `--authentication-kubeconfig=${named.kubeconfig}`,
    `--authorization-kubeconfig=${allowed.kubeconfig}`,
  );
  const statusOf = async (path: string, token: string): Promise<number> =>
    (await ask(controller.port, path, { headers: { authorization: `Bearer ${token}` } })).status;
  assert.equal(await statusOf('/statusz', 'of-ada'), 200);
  assert.equal(await statusOf('/flagz', 'of-ada'), 403);
  assert.equal(await statusOf('/statusz', 'other'), 401);
  await controller.stop();
});

for (const [token, allowed, denied, reviews] of [
  ['0', '1h', '0', { tokens: 4, allowed: 1, denied: 2 }],
  ['1h', '0', '1h', { tokens: 1, allowed: 2, denied: 1 }],
] as const) {
  it(`keeps reviews of tokens for ${token}, permissions for ${allowed}, refusals for ${denied}`, async (t) => {
    const asked: string[] = [];
    const around = (exchange: Exchange): Exchange => {
      return (request, sink) => {
        const { spec = {} } = JSON.parse(String(request.body || '{}'));
        if (request.path.endsWith('/tokenreviews')) asked.push('token');
        if (request.path.endsWith('/subjectaccessreviews'))
          asked.push(spec.nonResourceAttributes.path);
        return exchange(request, sink);
      };
    };
    const ada: User = { name: 'ada', groups: [], rules: [readsStatus] };
    const api = await startTestApi([everything], { 'of-ada': ada }, around);
    t.after(() => api.stop());
    const controller = await start(
      t,
      api,
      `--authentication-token-webhook-cache-ttl=${token}`,
      `--authorization-webhook-cache-authorized-ttl=${allowed}`,
      `--authorization-webhook-cache-unauthorized-ttl=${denied}`,
    );
    const headers = { authorization: 'Bearer of-ada' };
    for (const path of ['/statusz', '/flagz', '/statusz', '/flagz'])
      await ask(controller.port, path, { headers });
    const times = (what: string): number => asked.filter((one) => one === what).length;
    assert.deepEqual(
      { tokens: times('token'), allowed: times('/statusz'), denied: times('/flagz') },
      reviews,
    );
    await controller.stop();
  });
}

it('reads the files of its certificate, and of who may show one, again each minute', async (t) => {
  t.mock.timers.enable({ apis: ['setInterval'] });
  const folder = mkdtempSync(join(tmpdir(), 'taintmgr-served-'));
  t.after(() => rmSync(folder, { recursive: true }));
  const file = (name: string): string => join(folder, name);
  const write = ({ certificate, key, ca }: ReturnType<typeof createCertificate>): void => {
    writeFileSync(file('tls.crt'), certificate);
    writeFileSync(file('tls.key'), key);
    writeFileSync(file('ca.crt'), ca);
  };
  write(createCertificate(Date.now()));
  const own = ['crt', 'key'].map((end) => file(`tls.${end}`));
  const [cert, key] = ['client.crt', 'client.key'].map((name) => readFileSync(testdata(name)));
  const ways: readonly (readonly string[])[] = [
    [`--client-ca-file=${file('ca.crt')}`],
    [`--tls-cert-file=${own[0]}`, `--tls-private-key-file=${own[1]}`],
  ];
  for (const flags of ways) {
    write(createCertificate(Date.now()));
    const controller = await start(t, await startApi(t), ...flags);
    const look = async (): Promise<readonly [status: number, fingerprint: string]> => {
      const { status, fingerprint } = await ask(controller.port, '/statusz', { cert, key });
      return [status, fingerprint];
    };
    const [before, shown] = await look();
    assert.equal(before, 403);
    write(createCertificate(Date.now()));
    copyFileSync(testdata('ca.crt'), file('ca.crt'));
    assert.deepEqual(await look(), [before, shown]);
    t.mock.timers.tick(60_000);
    const [after, shownThen] = await look();
    const isOurs = flags.length > 1;
    assert.deepEqual([after, shownThen !== shown], isOurs ? [403, true] : [200, false]);
    await controller.stop();
  }
});

it('says at each path what it is for, in a dry run too', async (t) => {
  const open = '--authorization-always-allow-paths=/*';
  const controller = await start(t, await startApi(t), open, '--dry-run=client');
  await controller.saw('caches synced, the dry run starts: nothing is evicted');
  const cases: readonly (readonly [path: string, says: RegExp])[] = [
    ['/readyz', /^ok$/],
    ['/metrics', /^taintmgr_dry_run 1$/m],
    ['/metrics/slis', /^kubernetes_healthcheck\{name="ping",type="readyz"\} 1$/m],
    ['/flagz', /^dry-run=client$/m],
    ['/statusz', /^Dry run: client$/m],
    ['/ui/events', /this is a dry run: this process evicts nothing/],
  ];
  for (const [path, says] of cases) assert.match((await ask(controller.port, path)).body, says);
  await controller.stop();
});

it('names the address that this machine does not have by its flag', async (t) => {
  const { kubeconfig } = await startApi(t);
  const flags = ['--leader-elect=false', '--bind-address=192.0.2.7'];
  const { result } = await startProcess(t, { connection: { kubeconfig }, flags });
  await assert.rejects(result, {
    name: 'SettingError',
    message: /^--bind-address: got "192\.0\.2\.7", want one of this machine \(/,
  });
});

it('logs once that a health check fails, and once that it passes again', async (t) => {
  t.mock.timers.enable({ apis: ['setInterval'] });
  const api = await startApi(t);
  const flags = ['--leader-elect=false', '--controllers=taint-eviction-controller'];
  const connection = { kubeconfig: api.kubeconfig };
  const controller = await startProcess(t, { connection, flags });
  await controller.saw('caches synced, evictions start');
  const renewTime = new Date().toISOString().replace('Z', '000Z');
  api.api.create('leases', {
    apiVersion: 'coordination.k8s.io/v1',
    kind: 'Lease',
    metadata: { namespace: 'kube-system', name: 'kube-controller-manager' },
    spec: { holderIdentity: 'cp_1', leaseDurationSeconds: 15, renewTime },
  });
  const name = 'kube-controller-manager';
  const containers = [{ name, image: name, command: [name] }];
  const made = pod('kube-system', 'kcm', { spec: { containers } });
  api.api.create('pods', { ...made, metadata: { ...made.metadata, labels: { component: name } } });
  t.mock.timers.tick(30_000);
  await controller.saw('recorded event', { reason: 'ControllersOverlap' });
  for (let times = 0; times < 3; times++) await ask(controller.port, '/readyz');
  api.api.delete('leases', 'kube-system', 'kube-controller-manager');
  api.api.delete('pods', 'kube-system', 'kcm', { gracePeriodSeconds: 0 });
  t.mock.timers.tick(30_000);
  await controller.saw('the overlap has ended');
  for (let times = 0; times < 3; times++) await ask(controller.port, '/readyz');
  await controller.stop();
  const said = controller.lines.filter(({ check }) => check === 'overlap').map(({ msg }) => msg);
  assert.deepEqual(said, ['health check fails', 'health check passes again']);
});

it('says where the pod that it was told as its own is not there', async (t) => {
  const api = await startApi(t);
  const namespace = { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'taintmgr-system' } };
  api.api.create('namespaces', namespace);
  api.api.create('pods', pod('taintmgr-system', 'controller-a'));
  const missing =
    'POD_NAME and POD_NAMESPACE name no pod: the last replica of this controller is not spared';
  const ownPodIn = async (name: string): Promise<string> => {
    const controller = await startProcess(t, {
      connection: { kubeconfig: api.kubeconfig },
      flags: [
        '--leader-elect=false',
        '--allow-overlap',
        '--authorization-always-allow-paths=/statusz',
      ],
      environment: { POD_NAME: name, POD_NAMESPACE: 'taintmgr-system' },
    });
    await controller.saw('caches synced, evictions start');
    const { body } = await ask(controller.port, '/statusz');
    const warned = controller.lines.filter(({ msg }) => msg === missing);
    await controller.stop();
    return `${/Own pod: (.*)/.exec(body)?.[1]} [${warned.map((line) => line.pod).join()}]`;
  };
  assert.equal(await ownPodIn('controller-a'), 'taintmgr-system/controller-a []');
  assert.equal(
    await ownPodIn('controller-b'),
    'no pod taintmgr-system/controller-b, so the last replica is not spared [taintmgr-system/controller-b]',
  );
});
