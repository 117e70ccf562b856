// Evictions are held by `pause` and go on by `resume pause/NAME`, against an API server over HTTPS.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { after, before, describe, it } from 'node:test';
import { formatTime } from '@taintmgr/core/time';
import { namespace, node } from '@taintmgr/sim-cluster';
import { parse } from 'yaml';
import { run } from '../world/run.ts';
import { leaveTaints, startTestCluster, type TestCluster } from '../world/test-cluster.ts';

let cluster: TestCluster;
before(async () => {
  const file = new URL('../../../../deploy/kustomize/base/pauser.yaml', import.meta.url);
  const { rules } = parse(readFileSync(file, 'utf8'));
  cluster = await startTestCluster(null, { nobody: [], pauser: rules });
  process.env.KUBECONFIG = cluster.kubeconfig;
  leaveTaints(cluster.api);
  const plain = node('n1');
  const labels = { 'topology.kubernetes.io/zone': 'a', pool: 'blue' };
  cluster.api.create('nodes', { ...plain, metadata: { ...plain.metadata, labels } });
  cluster.api.create('nodes', node('n2', { labels: { pool: 'red' } }));
  cluster.api.create('namespaces', namespace('shop'));
});
after(() => cluster.stop());

const pauseOf = (name: string) => cluster.api.get('evictionpauses.taintmgr.dev', '', name);
const warning =
  'Warning: no controller here evicts for NoExecute taints (--controllers=*,-taint-eviction-controller,-node-lifecycle-controller of pod kube-system/kube-controller-manager); only taintmgr-controller follows pauses\n';

describe('pause, where the kinds are not installed', () => {
  it('says how to install them', async () => {
    const { code, out, err } = await run('pause', 'web');
    assert.deepEqual([code, out], [1, '']);
    assert.equal(
      err,
      'error: this cluster does not know the kind EvictionPause; install it with: kubectl taintmgr install crds\n',
    );
    assert.match((await run('resume', 'pause/web')).err, /there is no pause 'web'/);
  });
});

describe('pause', () => {
  before(async () => assert.equal((await run('install', 'crds')).code, 0));

  it('holds evictions in a place for a time', async () => {
    const begunAt = Date.now();
    const { code, out, err } = await run(
      ...['pause', 'web', '--zones', 'a', '--for', '2h', '--reason', 'new switches'],
      ...['--node-selector', 'pool=blue,tier notin (db, cache)', '--taint-keys=maintenance,spot'],
      ...['--namespaces', 'shop', '--readiness'],
    );
    assert.equal(code, 0, err);
    assert.match(
      out,
      /^evictionpause\.taintmgr\.dev\/web created: evictions and node health in zone a, on nodes with pool=blue,tier notin \(db,cache\), for taints maintenance and spot, of pods in namespace shop are held until [-\d]+T[:\d]+Z, in 2h\n$/,
    );
    assert.equal(err, warning);
    const { spec, metadata } = pauseOf('web') ?? assert.fail('no pause');
    const { until, ...rest } = spec as { readonly until: string };
    assert.deepEqual(rest, {
      deadlines: true,
      readiness: true,
      reason: 'new switches',
      scope: {
        zones: ['a'],
        nodeSelector: {
          matchExpressions: [
            { key: 'pool', operator: 'In', values: ['blue'] },
            { key: 'tier', operator: 'NotIn', values: ['db', 'cache'] },
          ],
        },
        taintKeys: ['maintenance', 'spot'],
        namespaces: ['shop'],
      },
    });
    const end = Date.parse(until) - 7_200_000;
    assert.ok(end > begunAt - 1000 && end <= Date.now() + 1000, until);
    assert.equal(metadata.managedFields?.[0]?.manager, 'taintmgr');
  });
  it('is in the status, where it is not over and where what is meant cannot be read', async () => {
    const broken = {
      apiVersion: 'taintmgr.dev/v1alpha1',
      kind: 'EvictionPolicy',
      metadata: { name: 'b' },
    };
    cluster.api.load([{ ...broken, spec: { actoin: 'Keep' } }]);
    const { out } = await run('status');
    assert.match(out, /^PAUSE +SINCE +UNTIL +HOLDS +REASON\n/m);
    assert.match(
      out,
      /^web +\d+s ago +[-\d]+T[:\d]+Z +evictions and node health in zone a, .* +new switches$/m,
    );
    assert.match(
      out,
      /^EvictionPolicy\/b +- +- +all evictions for taints +EvictionPolicy "b" cannot be followed: /m,
    );
    assert.match(out, /^To end a pause: kubectl taintmgr resume pause\/NAME$/m);
    const { pauses } = JSON.parse((await run('status', '-o', 'json')).out);
    assert.deepEqual(pauses.map(({ name }: { readonly name: string }) => name).sort(), [
      'EvictionPolicy/b',
      'web',
    ]);
    cluster.api.delete('evictionpolicies.taintmgr.dev', '', 'b');
  });
  it('refuses a name that there is, as kubectl create does', async () => {
    const { code, err } = await run('pause', 'web');
    assert.equal(code, 1);
    assert.equal(
      err,
      'Error from server (AlreadyExists): evictionpauses.taintmgr.dev "web" already exists\n',
    );
  });
  it('holds everything until it is resumed, and tells how long it did', async () => {
    const { out } = await run('pause', 'all');
    assert.equal(
      out,
      'evictionpause.taintmgr.dev/all created: all evictions for taints are held until you run: kubectl taintmgr resume pause/all\n',
    );
    const wrong = await run('resume', 'pause/all', 'pause/none');
    assert.equal(wrong.code, 1);
    assert.match(wrong.err, /there is no pause 'none'; kubectl get evictionpauses lists them/);
    assert.ok(pauseOf('all'), 'nothing is ended where one name is wrong');
    const { code, out: ended } = await run('resume', 'pause/all', 'evictionpause.taintmgr.dev/web');
    assert.equal(code, 0);
    const [first = '', second = ''] = ended.split('\n');
    assert.match(
      first,
      /^evictionpause\.taintmgr\.dev\/all deleted: all evictions for taints were held for \d+s$/,
    );
    assert.match(
      second,
      /^evictionpause\.taintmgr\.dev\/web deleted: evictions and node health in zone a, .* were held for \d+s$/,
    );
    assert.deepEqual([pauseOf('all'), pauseOf('web')], [null, null]);
  });
  it('holds node health alone, and says so', async () => {
    const { out } = await run('pause', 'health', '--readiness', '--deadlines=false', '--zones=a');
    assert.equal(
      out,
      'evictionpause.taintmgr.dev/health created: node health in zone a is held until you run: kubectl taintmgr resume pause/health\n',
    );
    assert.deepEqual(pauseOf('health')?.spec, {
      deadlines: false,
      readiness: true,
      reason: '',
      scope: { zones: ['a'] },
    });
    const { out: ended } = await run('resume', 'pause/health');
    assert.match(ended, /health deleted: node health in zone a was held for \d+s\n$/);
  });
  it('takes no other rights than the role that deploy/ has for it', async () => {
    const as = '--token=pauser';
    assert.equal((await run('pause', 'mine', as)).code, 0);
    const { code, out, err } = await run('resume', 'pause/mine', as);
    assert.deepEqual([code, err], [0, '']);
    assert.match(out, /mine deleted: all evictions for taints were held for/);
  });
  it('takes no name of a pause for that of a limit: nothing is done', async () => {
    await run('pause', 'first');
    await run('pause', 'second');
    const { code, out, err } = await run('resume', 'first', 'pause/second');
    assert.deepEqual([code, out], [1, '']);
    assert.equal(
      err,
      "error: limit 'first' has not tripped; nor has any other; to end a pause: resume pause/first\n",
    );
    assert.equal((await run('resume', 'pause/first', 'pause/second')).code, 0);
  });

  it('leaves pauses alone where resume is given no name', async () => {
    await run('pause', 'stays');
    assert.equal((await run('resume')).out, 'No limit has tripped.\n');
    assert.ok(pauseOf('stays'));
  });
  it('says when a pause was over before it is ended', async () => {
    const since = Date.now() - 7_200_000;
    const status = { since: formatTime(since) };
    const spec = { until: formatTime(since + 3_600_000) };
    const over = { apiVersion: 'taintmgr.dev/v1alpha1', kind: 'EvictionPause' };
    const made = cluster.api.create('evictionpauses.taintmgr.dev', {
      ...over,
      metadata: { name: 'over' },
      spec,
    });
    cluster.api.update('evictionpauses.taintmgr.dev', { ...made, status }, 'status');
    assert.doesNotMatch((await run('status')).out, /^over /m);
    const { out } = await run('resume', 'pause/over');
    assert.match(
      out,
      /all evictions for taints were held for 1h; it was over at [-\d]+T[:\d]+Z\n$/,
    );
  });
  const nothings: readonly [flags: readonly string[], warnings: readonly string[]][] = [
    [['--zones=a', '--node-selector=pool=blue', '--namespaces=shop,kube-*'], []],
    [
      ['--namespaces=shop,shpo,team-*'],
      ['there is no namespace shpo, did you mean shop?', 'there is no namespace team-*'],
    ],
  ];
  for (const [flags, warnings] of nothings) {
    it(`${warnings.length > 0 ? 'warns of a scope that holds nothing' : 'is silent'}: ${flags.join(' ')}`, async () => {
      const { code, out, err } = await run('pause', 'nothing', ...flags, '--dry-run=server');
      assert.equal(code, 0);
      assert.match(out, /created \(server dry run\): .* would be held until/);
      const lines = warnings.map((text) => `Warning: ${text}\n`);
      assert.equal(err, [...lines, warning].join(''));
      assert.equal(pauseOf('nothing'), null);
    });
  }
  const nowhere: readonly [flags: readonly string[], error: string][] = [
    [['--zones=a,b'], '--zones: no node is in zone b; zones of this cluster: a'],
    [['--node-selector=pool=green'], 'no node has the labels of --node-selector'],
    [
      ['--zones=a', '--node-selector=pool=red'],
      'no node of --zones has the labels of --node-selector',
    ],
  ];
  for (const [flags, error] of nowhere) {
    it(`is refused where it is for no node: ${flags.join(' ')}`, async () => {
      const { code, out, err } = await run('pause', 'nothing', ...flags);
      assert.deepEqual([code, out, err], [1, '', `error: ${error}\n`]);
      assert.equal(pauseOf('nothing'), null);
    });
  }
  it('is made all the same where its namespace is not there yet', async () => {
    const { code, err } = await run('pause', 'early', '--namespaces=later');
    assert.deepEqual([code, err], [0, `Warning: there is no namespace later\n${warning}`]);
    assert.ok(pauseOf('early'));
  });
  it('says which right is missing', async () => {
    const { code, err } = await run('pause', 'mine', '--token=nobody');
    assert.equal(code, 1);
    assert.match(err, /\(Forbidden\)[\s\S]*hint: kubectl auth can-i --list/);
  });
});

describe('pause --dry-run=client', () => {
  const nowhere = ['--dry-run=client', '--server=https://127.0.0.1:1'];
  it('prints the object, without a cluster', async () => {
    const { code, out, err } = await run('pause', 'web', '--zones=r/a', ...nowhere, '-o', 'yaml');
    assert.deepEqual([code, err], [0, '']);
    assert.deepEqual(parse(out), {
      apiVersion: 'taintmgr.dev/v1alpha1',
      kind: 'EvictionPause',
      metadata: { name: 'web' },
      spec: { scope: { zones: ['r/a'] } },
    });
    const named = await run('pause', 'web', ...nowhere, '-o', 'name');
    assert.equal(named.out, 'evictionpause.taintmgr.dev/web\n');
    const text = await run('pause', 'web', ...nowhere);
    assert.match(text.out, /web created \(dry run\): all evictions for taints would be held until/);
  });
});

describe('pause refuses, before it asks anybody', () => {
  const refusals: readonly (readonly [args: readonly string[], want: RegExp])[] = [
    [['Web'], /^error: NAME: Invalid value: "Web": a lowercase RFC 1123 subdomain/],
    [['web', '--for=soon'], /Want a duration such as 30m or 2h/],
    [['web', '--for=0'], /Want a duration such as 30m or 2h/],
    [['web', '--until=tomorrow'], /Want a time such as 2026-01-31T18:00:00Z/],
    [
      ['web', '--until=2020-01-01T00:00:00Z', '--dry-run=client'],
      /^error: --until: got 2020-01-01T00:00:00Z, want a time after /,
    ],
    [['web', '--for=1h', '--until=2099-01-01T00:00:00Z'], /cannot be used with option/],
    [['web', '--zones='], /^error: --zones: Invalid value: "": should be at least 1/],
    [['web', '--taint-keys=a b'], /^error: --taint-keys: Invalid value: "a b": want a taint key/],
    [['web', '--node-selector=a=b=c'], /--node-selector: got "a=b=c", want a label selector/],
    [['web', '--node-selector='], /--node-selector: got "", want a label selector/],
    [['web', '--deadlines=maybe'], /Want true or false/],
    [
      ['web', '--deadlines=false'],
      /^error: --deadlines, --readiness: Invalid value: want deadlines, readiness, or both/,
    ],
    [['web', '--dry-run=maybe'], /Invalid dry-run value \(maybe\)/],
    [['web', '-n', 'shop'], /-n shop: a pause is in no namespace; .*--namespaces shop/],
    [[], /^error: a pause needs a name; did you mean: kubectl taintmgr pause maintenance /],
  ];
  for (const [args, want] of refusals) {
    it(args.join(' ') || 'nothing', async () => {
      const { code, out, err } = await run('pause', ...args, '--server=https://127.0.0.1:1');
      assert.deepEqual([code, out], [1, '']);
      assert.match(err, want);
    });
  }
});
