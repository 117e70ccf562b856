import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { nodeFacts } from '@taintmgr/k8s-adapter/survey';
import { readEvents } from '../../../../src/commands/simulate/script/script.ts';
import { type Asked, simulateArguments, whatIfOf } from '../../../../src/commands/web/what-if.ts';

// What the form asks, as a command line; and what is said of a question that is wrong.

function node(name: string, region: string, zone: string): Asked['nodes'][number] {
  const labels = {
    ...(region && { 'topology.kubernetes.io/region': region }),
    ...(zone && { 'topology.kubernetes.io/zone': zone }),
  };
  return nodeFacts({ metadata: { name, labels, uid: name }, spec: {}, status: {} });
}

const asked: Asked = {
  nodes: [
    ...[node('a-1', 'r1', 'a'), node('b-1', 'r1', 'b'), node('b-2', 'r2', 'b')],
    ...[node('c-1', '', 'c'), node('d-1', 'r3', '')],
  ],
  rules: 'taintmgr-controller',
  policies: [],
};

const usual = 'event=down&where=zone+r1/a&until=30m';

/** The command line of a question; what it does not say is as usual. */
function words(query: string, of: Partial<Asked> = {}): readonly string[] {
  const params = new URLSearchParams(usual);
  for (const [name, value] of new URLSearchParams(query)) params.set(name, value);
  return simulateArguments(whatIfOf(params), { ...asked, ...of });
}

const events: readonly (readonly [query: string, event: string])[] = [
  ['lasts=10m', '{at: 1m, stopKubelet: {zone: r1/a}, lasts: 10m}'],
  ['lasts=', '{at: 1m, stopKubelet: {zone: r1/a}}'],
  ['event=cut-off&lasts=5m', '{at: 1m, loseNetwork: {zone: r1/a}, lasts: 5m}'],
  ['event=drain&where=node b-2', '{at: 1m, drain: {node: b-2}}'],
  [
    'event=taint&taint=x=y:NoExecute&lasts=90s',
    '{at: 1m, taint: {zone: r1/a, taint: x=y:NoExecute}, lasts: 90s}',
  ],
  ['event=restart&where=nowhere', '{at: 1m, restartController: {}}'],
  ['event=failover', '{at: 1m, failover: {}}'],
  ['where=zone c', '{at: 1m, stopKubelet: {zone: c}}'],
  // Two regions have a zone of this name.
  ['where=zone r2/b', '{at: 1m, stopKubelet: {zone: r2/b}}'],
  ['where=zone r3', '{at: 1m, stopKubelet: {zone: r3}}'],
];

const faults: readonly (readonly [query: string, fault: string])[] = [
  [
    'event=explode',
    'what happens: got "explode", want one of down, cut-off, taint, drain, restart, failover',
  ],
  [
    'where=zone r1/aa',
    'zone or node: got "zone r1/aa", want one of zone r1/a, zone r1/b, zone r2/b, zone c, zone r3, did you mean r1/a?',
  ],
  [
    'where=node b1',
    'zone or node: got "node b1", want one of node a-1, node b-1, node b-2, node c-1, node d-1, did you mean b-1?',
  ],
  ['where=', 'zone or node: got "", want one of zone r1/a, zone r1/b, zone r2/b, zone c, zone r3'],
  [
    'event=taint&taint=x',
    'taint: got "x", want key=value:NoExecute, :NoSchedule or :PreferNoSchedule',
  ],
  ['lasts=ever', 'for: got "ever", want a time from 1m to 30m'],
  ['lasts=31m', 'for: got "31m", want a time from 1m to 30m'],
  ['until=25h', 'look ahead: got "25h", want a time from 1m to 24h'],
  ['until=', 'look ahead: got "", want a time from 1m to 24h'],
  ['both=maybe', 'compare: got "maybe", want on, or nothing'],
  ['where=each zone&lasts=10m', 'for: got "10m", want nothing: with each zone it is for good'],
  ['where=each node&both=on', 'compare: got "on", want nothing: each node is not compared'],
  [
    'where=each node&event=taint&taint=x=y:NoSchedule',
    'taint: got "x=y:NoSchedule", want key=value:NoExecute',
  ],
  [
    'where=each node&event=taint&taint=x',
    'taint: got "x", want key=value:NoExecute, :NoSchedule or :PreferNoSchedule',
  ],
];

const kcm = 'kube-controller-manager';

const each: readonly (readonly [query: string, words: readonly string[]])[] = [
  ['where=each zone', ['--each', 'zone', '--by', 'down']],
  ['where=each  node&event=cut-off', ['--each', 'node', '--by', 'cut-off']],
  ['where=each node&event=drain', ['--each', 'node', '--by', 'drain']],
  ['where=each node&event=taint', ['--each', 'node', '--by', 'taint']],
  [
    'where=each zone&event=taint&taint=x=y:NoExecute',
    ['--each', 'zone', '--by', 'taint=x=y:NoExecute'],
  ],
];

const variants: readonly (readonly [
  query: string,
  rules: Asked['rules'],
  words: readonly string[],
])[] = [
  ['both=', 'taintmgr-controller', []],
  ['both=on', 'taintmgr-controller', ['--compare']],
  ['both=', kcm, ['--variant', `${kcm}=${kcm}`]],
  ['both=on', kcm, ['--variant', `${kcm}=${kcm}`, '--variant', 'taintmgr-controller=unchanged']],
  ['both=', 'both', []],
];

describe('a question of the page', () => {
  for (const [query, event] of events) {
    it(`${query} is the event ${event}`, () => {
      assert.deepEqual(words(query), ['simulate', '--event', event, '--until', '30m']);
    });
  }

  for (const name of [
    '0',
    '1',
    '007',
    '1e3',
    '0x1f',
    'true',
    'null',
    'n',
    '1.5',
    '10-0-0-1.ec2',
    '1m',
  ]) {
    it(`names the zone and the node ${name} by what a script reads as that name`, () => {
      const nodes = [node(name, '', name)];
      const targetsOf = (kind: string): unknown => {
        const [, , event = ''] = words(`where=${kind} ${name}&lasts=`, { nodes });
        return readEvents('--event', event, 3_600_000)[0]?.action.targets;
      };
      assert.deepEqual(targetsOf('zone'), { kind: 'zone', zone: name });
      assert.deepEqual(targetsOf('node'), { kind: 'names', names: [name] });
    });
  }

  for (const [query, fault] of faults) {
    it(`${query} is refused with what is allowed`, () => {
      assert.throws(() => words(query), { name: 'UsageError', message: fault });
    });
  }

  for (const [query, expected] of each) {
    it(`${query} loses one after the other: ${expected.join(' ')}`, () => {
      assert.deepEqual(words(query), ['simulate', ...expected, '--until', '30m']);
    });
  }

  it('looks as far ahead as it is told, in words that the command reads', () => {
    for (const until of ['24h', '1h30m30s', '90s'])
      assert.deepEqual(words(`until=${until}&lasts=`).slice(-2), ['--until', until]);
  });

  it('takes no place of one that happens to none', () => {
    const event = '{at: 1m, failover: {}}';
    const expected = ['simulate', '--event', event, '--until', '30m'];
    assert.deepEqual(words('event=failover&where=each zone'), expected);
  });

  for (const [query, rules, expected] of variants) {
    it(`${query}, where ${rules} acts, is played with ${expected.join(' ') || 'no variant'}`, () => {
      assert.deepEqual(words(query, { rules }).slice(5), expected);
    });
  }

  it('goes with the policies that the page was started with', () => {
    const policies = ['a.yaml', 'folder'];
    assert.deepEqual(words('', { policies }).slice(5), [
      ...['--policy', 'a.yaml', '--policy', 'folder'],
    ]);
    const [, ...each] = words('where=each zone', { policies: ['a.yaml'] });
    assert.deepEqual(each.slice(4), ['--until', '30m', '--policy', 'a.yaml']);
    // By its rules nothing follows policies.
    const [, ...byManager] = words('where=each zone', { policies: ['a.yaml'], rules: kcm });
    assert.deepEqual(byManager.slice(4), ['--until', '30m']);
  });
});
