// Pods whose evictions an admission webhook keeps for itself: a virtual machine is moved, a broker is rolled by
// its operator. kubectl, the controller and the plugin all show its words.
import assert from 'node:assert/strict';
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { describe, it, type TestContext } from 'node:test';
import { createCertificate } from '@taintmgr/api-server';
import { execute, withoutKubectl } from '@taintmgr/kubectl-taintmgr/test/world/plugin.ts';
import { deployment, type Topology } from '@taintmgr/sim-cluster';
import { start, startCluster, startController, until, type WatchedCluster } from './programs.ts';

const webhook = 'evictions.example.com';
const topology: Topology = {
  region: 'r',
  zones: ['a'],
  nodesPerZone: 2,
  workloads: [deployment('shop', 'vm', { replicas: 1 })],
  budgets: [],
};

/** What the webhook says of every eviction from now on; null: it lets it go. */
interface Answer {
  code: number;
  words: string | null;
}

/** A webhook over HTTPS, and what has to be applied so that it is asked. */
async function startWebhook(t: TestContext, answer: Answer): Promise<object> {
  const { ca, certificate: cert, key } = createCertificate(Date.now());
  const server = createServer({ cert, key }, (request, response) => {
    let text = '';
    request.on('data', (chunk) => {
      text += String(chunk);
    });
    request.on('end', () => {
      const { apiVersion, kind, request: asked } = JSON.parse(text);
      const { code, words } = answer;
      const verdict =
        words === null ? { allowed: true } : { allowed: false, status: { code, message: words } };
      response.end(JSON.stringify({ apiVersion, kind, response: { uid: asked.uid, ...verdict } }));
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  t.after(() => server.close());
  const { port } = server.address() as AddressInfo;
  const resources = ['pods/eviction'];
  return {
    apiVersion: 'admissionregistration.k8s.io/v1',
    kind: 'ValidatingWebhookConfiguration',
    metadata: { name: 'keepers' },
    webhooks: [
      {
        name: webhook,
        clientConfig: {
          url: `https://127.0.0.1:${port}/evictions`,
          caBundle: Buffer.from(ca).toString('base64'),
        },
        rules: [{ operations: ['CREATE'], apiGroups: [''], apiVersions: ['v1'], resources }],
        sideEffects: 'None',
        admissionReviewVersions: ['v1'],
      },
    ],
  };
}

async function kubectl(
  { kubeconfig }: WatchedCluster,
  line: string,
  input?: object,
): Promise<string> {
  const env = { ...process.env, KUBECONFIG: kubeconfig };
  const { out, err } = await execute(
    'kubectl',
    line.split(' '),
    env,
    input && JSON.stringify(input),
  );
  return `${out}${err}`;
}

async function plugin(
  t: TestContext,
  { kubeconfig }: WatchedCluster,
  line: string,
): Promise<string> {
  const program = start(t, 'plugin', kubeconfig, ...line.split(' '));
  await program.ended;
  return program.out();
}

describe('a webhook that keeps evictions for itself', { skip: withoutKubectl }, () => {
  it('is heard by kubectl, the controller and the plugin in the same words', async (t) => {
    const answer: Answer = { code: 429, words: 'Eviction triggered evacuation of VMI "vm/vm"' };
    const watched = await startCluster(t, topology);
    const { api } = watched.cluster;
    const keepers = await startWebhook(t, answer);
    assert.match(await kubectl(watched, 'apply -f -', keepers), /keepers created/);
    const [pod] = api.list('pods', 'shop');
    const { nodeName = '' } = pod?.spec ?? {};
    const name = pod?.metadata.name ?? '';
    const sentence = (): string =>
      `admission webhook "${webhook}" denied the request: ${answer.words}`;

    const drained = await kubectl(watched, `drain ${nodeName} --timeout=1s`);
    assert.ok(drained.includes(`(will retry after 5s): ${sentence()}\n`), drained);
    await kubectl(watched, `uncordon ${nodeName}`);

    await startController(t, watched, 'taint-eviction-controller');
    for (const [code, words] of [
      [429, answer.words],
      [400, 'brokers are rolled by their operator'],
      [500, 'The pod will be rolled by the Strimzi Cluster Operator'],
    ] as const) {
      Object.assign(answer, { code, words });
      await kubectl(watched, `taint node ${nodeName} bad=x:NoExecute`);
      const told = (): boolean =>
        api.list('events', 'shop').some(({ reason, message, involvedObject }) => {
          const isMeant = reason === 'EvictionIntercepted' && involvedObject.name === name;
          return isMeant && message.endsWith(sentence());
        });
      await until(`an Event with the words of ${code}`, told);
      const note = `Note: 1 pod that another program may move (shop/${name}): ${sentence()}\n`;
      const explained = await plugin(t, watched, `explain pod ${name} -n shop`);
      assert.ok(explained.includes(note), explained);
      const blocked = `Blocked by: +webhook ${webhook} \\(another program may move it\\): `;
      assert.match(explained, new RegExp(blocked));
      for (const line of ['pending -A', `explain node ${nodeName}`]) {
        const text = await plugin(t, watched, line);
        assert.ok(text.includes(note), text);
        assert.match(
          text,
          new RegExp(`^shop +${name} .*webhook \\(another program may move it\\)`, 'm'),
        );
      }
      // Within the first second it is not overdue yet.
      assert.match(
        await plugin(t, watched, 'status'),
        /(1 overdue|1 eviction pending), 1 blocked\b/,
      );
      const doctor = (await plugin(t, watched, 'doctor')).replace(/\s+/g, ' ');
      assert.ok(doctor.includes(`another program may move it: ${sentence()}`), doctor);
      assert.match(doctor, new RegExp(`INFO webhooks webhook/${webhook} is asked about`));
      await kubectl(watched, `taint node ${nodeName} bad-`);
    }
    assert.equal(api.get('pods', 'shop', name)?.metadata.deletionTimestamp, undefined);

    answer.words = null;
    await kubectl(watched, `taint node ${nodeName} bad=x:NoExecute`);
    await until('the pod to go', () => api.get('pods', 'shop', name) === null);
  });

  it('is a fault where its Service is gone, and doctor says so', async (t) => {
    const watched = await startCluster(t, topology);
    const keepers = await startWebhook(t, { code: 0, words: null });
    const clientConfig = { service: { namespace: 'shop', name: 'keeper' } };
    const [given] = (keepers as { readonly webhooks: readonly object[] }).webhooks;
    await kubectl(watched, 'apply -f -', { ...keepers, webhooks: [{ ...given, clientConfig }] });
    const text = await plugin(t, watched, 'doctor');
    const gone = 'its Service shop/keeper does not exist: evictions that it is asked about fail';
    assert.ok(text.includes(gone), text);
    assert.match(text, new RegExp(`^FAIL +webhooks +webhook/${webhook}$`, 'm'));
    const [pod] = watched.cluster.api.list('pods', 'shop');
    const drained = await kubectl(watched, `drain ${pod?.spec.nodeName} --timeout=1s`);
    assert.match(drained, /failed to call webhook: Post "[^"]+": service "keeper" not found/);
  });
});
