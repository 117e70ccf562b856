import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { run } from '../../world/run.ts';
import { temporaryFiles, topology } from '../../world/simulate-files.ts';

const { write: file } = temporaryFiles();

const apiVersion = 'taintmgr.dev/v1alpha1';
const keepAll = {
  apiVersion,
  kind: 'EvictionPolicy',
  metadata: { name: 'patient' },
  spec: { match: { taints: [{ key: 'node.kubernetes.io/unreachable' }] }, action: 'Keep' },
};
const outage = {
  events: [{ at: '2m', stopKubelet: { zone: 'zone-b' }, lasts: '15m' }],
};

/** Evictions and tainted nodes when zone-b is lost, by what the script and files say. */
async function lost(script: object, ...more: readonly string[]): Promise<readonly number[]> {
  const source = file('topology.yaml', topology);
  const events = file('outage.yaml', JSON.stringify({ ...outage, ...script }));
  const { code, out, err } = await run(
    ...['simulate', '-f', source, '--script', events, ...more, '-o', 'json'],
  );
  assert.equal(code, 0, err);
  const { summary } = JSON.parse(out).runs[0];
  return [summary.evictions, summary.nodesTainted];
}

describe('policies of a simulation', () => {
  it('are those of files', async () => {
    assert.deepEqual(await lost({}), [2, 2]);
    const policies = file('policies.json', JSON.stringify(keepAll));
    assert.deepEqual(await lost({}, '--policy', policies), [0, 2]);
  });

  it('are those of the script', async () => {
    assert.deepEqual(await lost({ policies: [keepAll] }), [0, 2]);
  });

  it('are pauses, from the beginning on, and taint rules too', async () => {
    const pause = { apiVersion, kind: 'EvictionPause', metadata: { name: 'work' }, spec: {} };
    assert.deepEqual(await lost({ policies: [pause] }), [0, 2]);
    const rule = {
      ...{ apiVersion, kind: 'NodeTaintRule', metadata: { name: 'full' } },
      spec: {
        condition: { type: 'DiskPressure' },
        taint: { key: 'example.com/full', effect: 'NoExecute' },
      },
    };
    const full = {
      at: '1m',
      setCondition: { node: 'zone-a-1', condition: 'DiskPressure', status: true },
    };
    const evicted = await lost({ policies: [rule], events: [full] });
    assert.ok((evicted[0] ?? 0) > 0, String(evicted));
    assert.equal(evicted[1], 1);
  });

  it('that request evictions find no controller that answers, and say so', async () => {
    const asking = { ...keepAll, spec: { ...keepAll.spec, action: 'Request' } };
    const script = { ...outage, policies: [asking] };
    const evicting = { ...keepAll, spec: { ...keepAll.spec, action: 'Evict' } };
    assert.deepEqual(await lost(script), await lost({ policies: [evicting] }));
    const source = file('topology.yaml', topology.replace(/, budget: {.*}}/g, '}'));
    const { out } = await run(
      ...['simulate', '-f', source, '--script', file('asks.json', JSON.stringify(script))],
    );
    assert.match(
      out,
      /^assumed of EvictionRequests: no controller answers, and pods are evicted by\s+pods\/eviction$/m,
    );
  });

  it('may not be said twice', async () => {
    const policies = file('policies.json', JSON.stringify(keepAll));
    const script = file('twice.json', JSON.stringify({ policies: [keepAll], events: [] }));
    const source = file('topology.yaml', topology);
    const { code, err } = await run(
      ...['simulate', '-f', source, '--script', script, '--policy', policies],
    );
    assert.equal(code, 1);
    assert.match(
      err,
      /^error: .*policies\.json:1:\d+: metadata\.name: EvictionPolicy "patient" is in .*twice\.json:1:\d+ already\n$/,
    );
  });

  it('are refused with what is wrong, and where', async () => {
    const policies = file('wrong.yaml', 'apiVersion: taintmgr.dev/v1alpha1\nkind: Policy\n');
    const source = file('topology.yaml', topology);
    const wrong = await run('simulate', '-f', source, '--policy', policies);
    assert.equal(wrong.code, 1);
    assert.match(wrong.err, /^error: \/.*\/wrong\.yaml:2:7: got kind "Policy" of "taintmgr/);
    const missing = await run('simulate', '-f', source, '--policy', '/nowhere');
    assert.equal(missing.err, 'error: --policy /nowhere: no such file\n');
  });
});

describe('policies of a snapshot', () => {
  const created = '2026-03-01T10:00:00Z';
  const metadata = { namespace: 'shop', name: 'web-0', uid: 'p1', creationTimestamp: created };
  const condition = { type: 'Ready', status: 'True', lastTransitionTime: created };
  const cluster: readonly object[] = [
    {
      ...{ apiVersion: 'v1', kind: 'Node', metadata: { name: 'n1', creationTimestamp: created } },
      spec: { taints: [{ key: 'bad', effect: 'NoExecute', timeAdded: created }] },
      status: { conditions: [{ ...condition, lastHeartbeatTime: created }] },
    },
    {
      ...{ apiVersion: 'v1', kind: 'Pod', metadata },
      spec: { nodeName: 'n1', containers: [{ name: 'web', image: 'web' }] },
      status: { phase: 'Running', startTime: created, conditions: [condition] },
    },
  ];
  const policy = (spec: object, name = 'all'): object => ({
    ...{ apiVersion, kind: 'EvictionPolicy', metadata: { name, uid: name }, spec },
  });
  const inForce = (what: string): string => `Note: in force as in the cluster: ${what}\n`;

  /** Exit code, evictions, and what is said on the way. */
  async function played(
    objects: readonly object[],
    ...more: readonly string[]
  ): Promise<readonly unknown[]> {
    const items = [...cluster, ...objects];
    const snapshot = file(
      'snapshot.json',
      JSON.stringify({ apiVersion: 'v1', kind: 'List', items }),
    );
    const { code, out, err } = await run(
      ...['simulate', '-f', snapshot, '--until', '2m', '-o', 'json', ...more],
    );
    const evictions = out === '' ? null : JSON.parse(out).runs[0].summary.evictions;
    return [code, evictions, err.replaceAll(snapshot, 'FILE')];
  }

  it('are in force in its simulation', async () => {
    const byManager =
      'Note: kube-controller-manager is played: nothing says who evicts here, and it usually does; ' +
      '--compare plays taintmgr beside it\n';
    assert.deepEqual(await played([]), [0, 1, byManager]);
    const said = inForce('EvictionPolicy 1');
    assert.deepEqual(await played([policy({ action: 'Keep' })]), [0, 0, said]);
  });

  it('are found in lists of their kind, whose items name none', async () => {
    const list = {
      ...{ apiVersion, kind: 'EvictionPauseList' },
      items: [{ metadata: { name: 'work', uid: 'p', creationTimestamp: created }, spec: {} }],
    };
    assert.deepEqual(await played([list]), [0, 0, inForce('EvictionPause 1')]);
  });

  it('come after those of files with their names', async () => {
    const files = ['--policy', file('all.json', JSON.stringify(policy({ action: 'Delete' })))];
    const said = inForce('EvictionPolicy 1');
    assert.deepEqual(await played([policy({ action: 'Keep' })], ...files), [0, 1, said]);
  });

  it('hold all evictions where they cannot be followed, as with the controller', async () => {
    assert.deepEqual(await played([policy({ action: 'Keep', newer: true })]), [
      0,
      0,
      'Note: EvictionPolicy "all" cannot be followed, all evictions are held: unknown field "spec.newer"\n',
    ]);
  });

  it('need the namespaces whose labels they ask for', async () => {
    const spec = { match: { namespaceSelector: { matchLabels: { a: 'b' } } }, action: 'Keep' };
    const [code, , err] = await played([policy(spec)]);
    assert.deepEqual(
      [code, err],
      [
        1,
        'error: FILE: EvictionPolicy "all" asks for labels of namespaces, and there is no Namespace shop in it\n' +
          'Part of the cluster could not be taken; --partial simulates the rest.\n',
      ],
    );
    const namespace = {
      apiVersion: 'v1',
      kind: 'Namespace',
      metadata: { name: 'shop', labels: { a: 'b' } },
      spec: {},
    };
    const said = inForce('EvictionPolicy 1');
    assert.deepEqual(await played([namespace, policy(spec)]), [0, 0, said]);
  });
});
