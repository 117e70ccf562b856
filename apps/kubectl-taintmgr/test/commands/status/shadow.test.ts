import assert from 'node:assert/strict';
import { describe, it, type TestContext } from 'node:test';
import type { PublishedShadow } from '@taintmgr/k8s-adapter/kinds';
import { run } from '../../world/run.ts';
import { ago } from '../../world/shop-cluster.ts';
import { startWithDefinitions, type TestCluster } from '../../world/test-cluster.ts';

const none = { same: 0, earlier: 0, later: 0, kept: 0, onlyTaintmgr: 0, budgetsAsked: 0 };
const spot = { taint: 'spot', policy: '', node: 'n1', namespace: 'shop', budgetsAsked: true };

/** 7 pods that kube-controller-manager deleted, and one that it left alone. */
const shadow: PublishedShadow = {
  since: ago(2 * 86_400),
  ...{ same: 3, earlier: 1, later: 1, kept: 2, onlyTaintmgr: 1, budgetsAsked: 4 },
  earlierSeconds: { mean: 4, most: 4 },
  laterSeconds: { mean: 60, most: 296 },
  ...{ following: 1, notDeleted: 1, leftOtherwise: 0, givenUp: 0 },
  taints: [
    {
      name: 'spot',
      ...none,
      same: 3,
      earlier: 1,
      later: 1,
      kept: 1,
      onlyTaintmgr: 1,
      budgetsAsked: 4,
    },
    { name: 'flap', ...none, kept: 1 },
  ],
  namespaces: [{ name: 'shop', ...none, same: 3, earlier: 1, later: 1, kept: 2, budgetsAsked: 4 }],
  policies: [
    { name: '(none)', ...none, same: 3, kept: 1 },
    { name: 'patient', ...none, kept: 1 },
  ],
  reasons: [
    { verdict: 'kept', reason: 'NoTaint', pods: 2 },
    { verdict: 'later', reason: 'OfTheFuture', pods: 1 },
  ],
  recent: [
    {
      ...spot,
      at: ago(90),
      pod: 'late',
      verdict: 'later',
      seconds: 296,
      message: 'tolerates spot',
    },
    { ...spot, at: ago(95), pod: 'web', verdict: 'earlier', seconds: -4, message: 'no toleration' },
    { at: ago(99), verdict: 'onlyTaintmgr', namespace: 'shop', pod: 'stuck' },
  ],
};

async function startCluster(t: TestContext): Promise<TestCluster> {
  const cluster = await startWithDefinitions();
  t.after(() => cluster.stop());
  process.env.KUBECONFIG = cluster.kubeconfig;
  return cluster;
}

function publish({ api }: TestCluster, name: string, seconds: number, more: object): void {
  const time = ago(seconds);
  const settings = { mode: 'evict', 'dry-run': 'client' };
  const status = { leader: 'cp_1', version: '1.2.3', renewTime: time, startedAt: time, settings };
  const head = {
    apiVersion: 'taintmgr.dev/v1alpha1',
    kind: 'TaintManager',
    metadata: { name, uid: name },
  };
  api.load([{ ...head, status: { ...status, ...more } }]);
}

/** Seconds go on while the test runs. */
function masked(text: string): string {
  return text
    .replace(/\b(?:\d+m)?(?:\d+s)? ago/g, 'AGO')
    .replace(/since \S+Z/g, 'since TIME')
    .replace(/ +$/gm, '')
    .replace(/ {2,}/g, '  ');
}

const expected = `TaintManager taintmgr-shadow: since TIME (2d); cp_1 1.2.3 reported AGO

kube-controller-manager deleted 7 pods for taints. taintmgr would have
  evicted 3 within 2s of that
  evicted 1 earlier, by 4s
  evicted 1 later, by 1m on average and 4m56s at most
  kept    2
PodDisruptionBudgets were asked about none of them; taintmgr would have asked about 4 of the 5 it evicts, and kept back those that one refuses.
taintmgr would also have evicted 1 pod that kube-controller-manager left alone for 15m or longer.
No verdict yet: 1 pod.
Not judged: 1 pod marked for deletion and not deleted.

TAINT   DELETED   SAME   EARLIER   LATER   KEPT   BUDGETS ASKED   ONLY TAINTMGR
spot    6         3      1         1       1      4               1
flap    1         0      0         0       1      0               0

NAMESPACE   DELETED   SAME   EARLIER   LATER   KEPT   BUDGETS ASKED   ONLY TAINTMGR
shop        7         3      1         1       2      4               0

POLICY    DELETED   SAME   EARLIER   LATER   KEPT   BUDGETS ASKED   ONLY TAINTMGR
(none)    4         3      0         0       1      0               0
patient   1         0      0         0       1      0               0

VERDICT   PODS   REASON        MEANS
kept      2      NoTaint       the taint was gone before its time came
later     1      OfTheFuture   <none>

WHEN        POD          VERDICT          TAINT    POLICY   BECAUSE
AGO   shop/late    later by 4m56s   spot     <none>   tolerates spot
AGO   shop/web     earlier by 4s    spot     <none>   no toleration
AGO   shop/stuck   only taintmgr    <none>   <none>   <none>
`;

describe('status --shadow', () => {
  it('says what kube-controller-manager did, and what taintmgr would have done', async (t) => {
    const cluster = await startCluster(t);
    publish(cluster, 'taintmgr', 4, { settings: { mode: 'evict' } });
    publish(cluster, 'taintmgr-shadow', 4, { shadow });
    const { code, out } = await run('status', '--shadow');
    assert.equal(code, 0);
    assert.equal(masked(out), masked(expected));
    const rows = await run('status', '--shadow', '--no-headers');
    assert.match(rows.out, /^spot {3}6 {5}3 .*\nflap {3}1 .*\n$/);
    const wide = await run('status', '--shadow', '-o', 'wide');
    assert.match(wide.out, /shop\/late +n1 +later by 4m56s/);
  });

  it('is a document too', async (t) => {
    const cluster = await startCluster(t);
    publish(cluster, 'taintmgr-shadow', 42, { shadow });
    const { items, kind } = JSON.parse((await run('status', '--shadow', '-o', 'json')).out);
    assert.equal(kind, 'ShadowReportList');
    const [{ name, isCurrent, deleted, earlier, recent }] = items;
    assert.deepEqual([name, isCurrent, deleted, earlier], ['taintmgr-shadow', false, 7, 1]);
    assert.equal(recent[0].seconds, 296);
    assert.match((await run('status', '--shadow', '-o', 'yaml')).out, /^- name: taintmgr-shadow$/m);
    assert.equal(
      (await run('status', '--shadow', '-o', 'name')).out,
      'taintmanager/taintmgr-shadow\n',
    );
    const jsonpath = 'jsonpath={.items[0].kept}';
    assert.equal((await run('status', '--shadow', '-o', jsonpath)).out, '2');
    const columns = 'custom-columns=TAINT:.name,KEPT:.kept';
    assert.equal(
      (await run('status', '--shadow', '-o', columns)).out,
      'TAINT   KEPT\nspot    1\nflap    1\n',
    );
    assert.match((await run('status', '--shadow')).out, /reported [45]\ds ago, and not since\n/);
  });

  it('says how to get one where there is none', async (t) => {
    const cluster = await startCluster(t);
    publish(cluster, 'taintmgr', 4, {});
    const { code, out } = await run('status', '--shadow');
    assert.equal(code, 0);
    assert.match(out, /^No report of a shadow was found, .*\nA controller with --dry-run=client/);
    assert.equal((await run('status', '--shadow', '--no-headers')).out, '');
  });

  it('says so where nothing has happened yet', async (t) => {
    const cluster = await startCluster(t);
    publish(cluster, 'taintmgr-shadow', 4, { shadow: { since: ago(60), ...none } });
    const { out } = await run('status', '--shadow');
    assert.match(out, /^TaintManager taintmgr-shadow: since .*\n\nNothing to compare yet: /);
  });

  it('status without it says that somebody keeps score', async (t) => {
    const cluster = await startCluster(t);
    publish(cluster, 'taintmgr-shadow', 4, { shadow });
    const { out } = await run('status');
    assert.match(out, /^TaintManager taintmgr-shadow: *cp_1 1\.2\.3 keeps score since /m);
    assert.match(out, /^ +see: kubectl taintmgr status --shadow$/m);
  });
});
