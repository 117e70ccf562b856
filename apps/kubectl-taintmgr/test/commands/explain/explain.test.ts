import assert from 'node:assert/strict';
import { after, before, beforeEach, describe, it } from 'node:test';
import { node, type ObjectMeta, pod } from '@taintmgr/sim-cluster';
import { run } from '../../world/run.ts';
import { ago, fillShop, renewLeases } from '../../world/shop-cluster.ts';
import {
  comeAs,
  showManager,
  startTestCluster,
  type TestCluster,
  versions,
} from '../../world/test-cluster.ts';

// What `explain` reads of a cluster beside what its transcripts show.

/** A text that is indented here. */
function lines(text: string): string {
  return `${text.replace(/^\n/, '').replace(/^ {8}/gm, '')}\n`;
}

/** As the API keeps times. */
function wholeSecond(time: string): string {
  return `${time.slice(0, 19)}Z`;
}

/** The managed fields of a node whose taints were written then. */
function taintsWritten(time: string): ObjectMeta['managedFields'] & object {
  const fieldsV1 = { 'f:spec': { 'f:taints': {} } };
  const shared = { operation: 'Update', apiVersion: 'v1', fieldsType: 'FieldsV1' } as const;
  return [{ manager: 'kubectl-taint', ...shared, time: wholeSecond(time), fieldsV1 }];
}

describe('explain', () => {
  let cluster: TestCluster;
  before(async () => {
    cluster = await startTestCluster(null);
    fillShop(cluster);
    process.env.KUBECONFIG = cluster.kubeconfig;
  });
  // A leader without a sign of life is looked at twice, three seconds apart.
  beforeEach(() => renewLeases(cluster));
  after(() => cluster.stop());

  it('changes nothing, whatever is asked', async () => {
    const before = versions(cluster.api);
    const whatIf = [
      '--with-taint=a:NoExecute',
      '--without-taint=maintenance',
      '--compare',
      '--at=1h',
    ];
    for (const subject of ['node node-a1', 'pod db-0', 'zone zone-a', 'taint maintenance']) {
      const { code, err } = await run('explain', ...subject.split(' '), '-n', 'shop', ...whatIf);
      const isGone = subject === 'taint maintenance';
      assert.equal(code, isGone ? 1 : 0, `${subject}: ${err}`);
    }
    assert.deepEqual(versions(cluster.api), before);
  });

  it('knows from the annotation when the controller saw a taint', async () => {
    const seenAt = new Date(Date.now() - 3_600_000).toISOString();
    const annotations = {
      'taintmgr.dev/taint-starts': JSON.stringify({
        taintsWrittenAt: wholeSecond(seenAt),
        'bad:NoExecute': seenAt,
      }),
    };
    const one = node('seen', { spec: { taints: [{ key: 'bad', effect: 'NoExecute' }] } });
    const managedFields = taintsWritten(seenAt);
    const made = cluster.api.create('nodes', {
      ...one,
      metadata: { ...one.metadata, annotations },
    });
    cluster.api.update('nodes', { ...made, metadata: { ...made.metadata, managedFields } });
    const { code, out, err } = await run('explain', 'node', 'seen');
    assert.deepEqual([code, err], [0, '']);
    assert.match(out, /^Taints: {7}bad:NoExecute {3}seen 1h(\d+s)? ago$/m);
  });

  it('does not believe the annotation about a taint that was put on again since', async () => {
    const seenAt = new Date(Date.now() - 3_600_000).toISOString();
    const annotations = {
      'taintmgr.dev/taint-starts': JSON.stringify({
        taintsWrittenAt: wholeSecond(seenAt),
        'bad:NoExecute': seenAt,
      }),
    };
    const one = node('again', { spec: { taints: [{ key: 'bad', effect: 'NoExecute' }] } });
    const made = cluster.api.create('nodes', {
      ...one,
      metadata: { ...one.metadata, annotations },
    });
    const managedFields = taintsWritten(new Date(Date.now() - 600_000).toISOString());
    cluster.api.update('nodes', { ...made, metadata: { ...made.metadata, managedFields } });
    const { code, out, err } = await run('explain', 'node', 'again');
    assert.deepEqual([code, err], [0, '']);
    assert.match(out, /^Taints: {7}bad:NoExecute {3}seen (9m|10m)(\d+s)? ago$/m);
  });

  it('a pod whose node is gone, and one that has none yet', async () => {
    const { api } = cluster;
    const bound = api.get('pods', 'shop', 'bare');
    assert.ok(bound);
    const { nodeName: _, ...spec } = bound.spec;
    const { uid, resourceVersion, ...metadata } = bound.metadata;
    api.create('pods', { ...bound, metadata: { ...metadata, name: 'unbound' }, spec });
    const elsewhere = { ...spec, nodeName: 'nowhere' };
    api.create('pods', { ...bound, metadata: { ...metadata, name: 'lost' }, spec: elsewhere });
    const because = async (name: string): Promise<string> =>
      (await run('explain', 'pod', name, '-n', 'shop', '-o', 'jsonpath={.because[0].text}')).out;
    assert.equal(await because('unbound'), 'not bound to a node: no taint evicts it');
    assert.equal(await because('lost'), 'node nowhere is unknown');
  });

  it('which volumes a dead machine holds, where a pod of it has one', async () => {
    const { api, answers } = cluster;
    const asked = (): boolean => answers.some((line) => line.includes('volumeattachments'));
    await run('explain', 'node', 'node-a2');
    assert.equal(asked(), false, 'no pod has a volume');
    const source = { persistentVolumeName: 'pv-1' };
    api.create('volumeattachments', {
      metadata: { name: 'csi-1' },
      spec: { attacher: 'csi.example', nodeName: 'node-a2', source },
    });
    const volumes = [{ name: 'data', persistentVolumeClaim: { claimName: 'data-q-0' } }];
    api.create('pods', pod('shop', 'q-0', { spec: { nodeName: 'node-a2', volumes } }));
    const { out } = await run('explain', 'pod', 'q-0', '-n', 'shop');
    assert.match(out, /a second shop\/q-0 \(volume data-q-0\) would write beside the first$/m);
    assert.match(out, /VolumeAttachments that hold volumes there: csi-1 \(pv-1\)$/m);
    assert.equal(asked(), true);
    api.delete('pods', 'shop', 'q-0', { gracePeriodSeconds: 0 });
  });

  it('why a pod has no node, and which eviction came before it', async () => {
    const { api } = cluster;
    const made = api.create('pods', {
      ...pod('shop', 'web-9', {}),
      metadata: {
        ...{ namespace: 'shop', name: 'web-9' },
        ownerReferences: [
          {
            apiVersion: 'apps/v1',
            kind: 'ReplicaSet',
            name: 'web',
            uid: 'u-web',
            controller: true,
          },
        ],
      },
    });
    const show = async (): Promise<string> =>
      (await run('explain', 'pod', 'web-9', '-n', 'shop')).out.replace(/ for \d+s,/, ' for 0s,');
    assert.equal(
      await show(),
      lines(`
        Name:        web-9
        Namespace:   shop
        Decision:    Keep
        Because:     not bound to a node: no taint evicts it
        Pending:     no scheduler has said why: it has no condition PodScheduled
        Node:        <none>
        Owner:       ReplicaSet/web`),
    );
    const created = Date.parse(made.metadata.creationTimestamp ?? '');
    const time = (at: number): string => wholeSecond(new Date(at).toISOString());
    const message =
      '0/5 nodes are available: 2 Insufficient cpu, 3 node(s) had untolerated taint(s).';
    const conditions = [
      {
        ...{ type: 'PodScheduled', status: 'False', reason: 'Unschedulable', message },
        lastTransitionTime: time(Date.now()),
      },
    ];
    api.update('pods', { ...made, status: { phase: 'Pending', conditions } }, 'status');
    const evicted = (name: string, at: number, opening = 'Marking for deletion'): void => {
      api.create('events', {
        metadata: { name: `${name}.${at}`, namespace: 'shop' },
        involvedObject: { kind: 'Pod', namespace: 'shop', name, uid: `uid-${name}` },
        ...{
          reason: 'TaintManagerEviction',
          type: 'Normal',
          message: `${opening} Pod shop/${name}`,
        },
        source: { component: 'taint-eviction-controller' },
        lastTimestamp: time(at),
      });
    };
    evicted('api-1', created);
    evicted('web-4', created - 600_000);
    evicted('web-5', created, 'Cancelling deletion of');
    evicted('web-6', created + 60_000);
    assert.doesNotMatch(await show(), /Before it/);
    evicted('web-7', created - 3000);
    assert.equal(
      await show(),
      lines(`
        Name:        web-9
        Namespace:   shop
        Decision:    Keep
        Because:     not bound to a node: no taint evicts it
        Pending:     Unschedulable for 0s, by its condition PodScheduled: ${message}
        Before it:   created 3s after web-7 of ReplicaSet/web was evicted, by an Event of taint-eviction-controller
        Node:        <none>
        Owner:       ReplicaSet/web`),
    );
    const { out } = await run('explain', 'pod', 'web-9', '-n', 'shop', '-o', 'json');
    const set = {
      apiVersion: 'apps/v1',
      kind: 'StatefulSet',
      name: 'db',
      uid: 'u',
      controller: true,
    };
    for (const name of ['db-8', 'db-9']) {
      const metadata = { namespace: 'shop', name, ownerReferences: [set] };
      api.create('pods', { ...pod('shop', name, {}), metadata });
    }
    evicted('db-8', created);
    const before = async (name: string): Promise<string | undefined> =>
      /^Before it: +(.*)$/m.exec((await run('explain', 'pod', name, '-n', 'shop')).out)?.[1];
    assert.match((await before('db-8')) ?? '', /^created \d+s after db-8 of StatefulSet\/db was /);
    assert.equal(await before('db-9'), undefined);
    const hints = async (name: string, ...flags: readonly string[]): Promise<string> =>
      (await run('explain', 'pod', name, '-n', 'shop', ...flags)).err
        .split('\n')
        .filter((line) => line.startsWith('hint'))
        .join('\n');
    const events = (name: string): string =>
      `hint: which scheduler has to place it, and its Events: kubectl describe pod ${name} -n shop`;
    assert.equal(
      await hints('db-8'),
      `${events('db-8')}\nhint: why the pod of this name before it left: kubectl taintmgr history pod db-8 -n shop`,
    );
    assert.equal(await hints('db-9'), events('db-9'));
    assert.equal(await hints('db-9', '-o', 'name'), '');
    assert.equal(
      await hints('web-9'),
      "hint: which nodes keep it out: kubectl get nodes -o custom-columns='NAME:.metadata.name,CORDONED:.spec.unschedulable,TAINTS:.spec.taints[*].key'",
    );
    const { pending, precededBy } = JSON.parse(out);
    assert.deepEqual([pending.reason, pending.message], ['Unschedulable', message]);
    assert.match(precededBy, /^created 3s after web-7 /);
  });
});

describe('explain pod, where kube-controller-manager was refused', () => {
  let cluster: TestCluster;
  before(async () => {
    const reader = [
      {
        verbs: ['get', 'list'],
        apiGroups: ['', 'coordination.k8s.io', 'policy'],
        resources: ['*'],
      },
    ];
    cluster = await startTestCluster(null, { reader });
    const { api } = cluster;
    api.create('namespaces', { metadata: { name: 'shop' } });
    showManager(api, []);
    const [timeAdded, earlier] = [ago(9030), ago(86_400)];
    const taints = [{ key: 'maint', value: 'x', effect: 'NoExecute', timeAdded }];
    const old = { uid: 'u', creationTimestamp: earlier };
    const one = node('n1', { spec: { taints } });
    const mark = { type: 'DisruptionTarget', status: 'True', reason: 'DeletionByTaintManager' };
    const conditions = [{ ...mark, lastTransitionTime: timeAdded }];
    const web = pod('shop', 'web', { spec: { nodeName: 'n1' } });
    api.load([
      { ...one, metadata: { ...one.metadata, ...old } },
      {
        ...web,
        metadata: { ...web.metadata, ...old },
        status: { phase: 'Running', startTime: earlier, conditions },
      },
    ]);
  });
  after(() => cluster.stop());

  const head = `
        Name:         web
        Namespace:    shop
        Decision:     Blocked
        Because:      gave up until its tolerations or the taints of its node change`;
  const rest = `
        To do:        ask who refuses: kubectl delete pod web -n shop --dry-run=server (runs as you; a rule may exempt kube-controller-manager or you)
                      once the refusal ends: kubectl delete pod web -n shop, or remove the taint and add it again: kube-controller-manager does not retry
        Node:         n1 (Ready: True)
        Owner:        <none>, not recreated

        TAINT               COUNTS FROM              TOLERATION   DEADLINE
        maint=x:NoExecute   2h30m ago (first seen)   <none>       overdue by 2h30m`;
  const shown = async (): Promise<string> =>
    (await run('explain', 'pod', 'web', '-n', 'shop')).out.replace(/True for \S+\)/, 'True)');

  it('names those whose rules cover deletions of pods', async () => {
    const { api } = cluster;
    process.env.KUBECONFIG = cluster.kubeconfig;
    const log = 'only the log of kube-controller-manager says who refused the deletion';
    const nobody = `${log}; no policy or webhook covers deletions of pods: look for missing rights or a broken API server`;
    assert.equal(await shown(), lines(`${head}\n        Refused by:   ${nobody}${rest}`));
    for (const [name, operations] of [
      ['freeze', ['DELETE']],
      ['other', ['CREATE']],
    ] as const) {
      const rule = { apiGroups: [''], apiVersions: ['v1'], resources: ['pods'], operations };
      api.create('validatingadmissionpolicies', {
        metadata: { name },
        spec: {
          matchConstraints: { resourceRules: [rule] },
          validations: [{ expression: 'false' }],
        },
      });
    }
    const named = `${log}; by their rules ValidatingAdmissionPolicy freeze may have`;
    assert.equal(await shown(), lines(`${head}\n        Refused by:   ${named}${rest}`));
    const { out } = await run('explain', 'pod', 'web', '-n', 'shop', '-o', 'json');
    const { decision, givenUp } = JSON.parse(out);
    assert.equal(decision, 'Blocked');
    assert.deepEqual(givenUp.mayRefuse, { policies: ['freeze'], webhooks: [] });
    assert.equal(givenUp.commands.ask, 'kubectl delete pod web -n shop --dry-run=server');
    const { out: ofNode } = await run('explain', 'node', 'n1');
    assert.match(ofNode, /^Empty: +unknown: held by a refusal, and no controller tries again$/m);
    assert.match(ofNode, /^Pods: +0 of 1 to evict, 1 blocked$/m);
  });

  it('says what may not be read', async () => {
    comeAs(cluster, 'reader');
    const hidden =
      'only the log of kube-controller-manager says who refused the deletion; no permission to list validatingadmissionpolicies, validatingwebhookconfigurations';
    assert.equal(await shown(), lines(`${head}\n        Refused by:   ${hidden}${rest}`));
  });
});
