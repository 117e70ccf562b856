import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { SummaryPoller } from '../../src/pressure/summary-poller.ts';

type Poller = InstanceType<typeof SummaryPoller>;

const options = {
  pollPeriodMs: 1000,
  pollsPerSecond: 10,
  pollsInFlightMax: 4,
  pollTimeoutMs: 1000,
};

/** Runs until `end`; nodes answer at once, but for the silent ones, who never do. */
function run(poller: Poller, end: number, silent: (nodeName: string) => boolean) {
  const asked: { readonly at: number; readonly nodeName: string; readonly underWay: number }[] = [];
  const open = new Set<string>();
  for (let now = 0; now <= end; now = Math.max(now, poller.nextWake() ?? end + 1)) {
    for (const effect of poller.tick(now)) {
      if (effect.kind === 'abort') open.delete(effect.id);
      if (effect.kind !== 'send') continue;
      const [, nodeName = ''] = /nodes\/([^/]+)\//.exec(effect.request.path) ?? [];
      open.add(effect.id);
      asked.push({ at: now, nodeName, underWay: open.size });
      if (silent(nodeName)) continue;
      answer(poller, now, effect.id, '{}');
      open.delete(effect.id);
    }
  }
  return asked;
}

function answer(poller: Poller, now: number, id: string, body: string) {
  poller.receive(now, { kind: 'head', id, status: 200, headers: {} });
  poller.receive(now, { kind: 'chunk', id, data: body });
  return poller.receive(now, { kind: 'end', id });
}

function nodes(prefix: string, count: number): readonly string[] {
  return Array.from({ length: count }, (_, index) => `${prefix}${index}`);
}

describe('summary poller', () => {
  it('asks every node once in a period, evenly spread', () => {
    const poller = new SummaryPoller(options);
    for (const name of nodes('n', 5)) poller.add(0, name);
    const asked = run(poller, 2000, () => false);
    const times = asked.filter(({ nodeName }) => nodeName === 'n3').map(({ at }) => at);
    assert.deepEqual(times, [300, 1300]);
    assert.deepEqual(
      asked.slice(0, 6).map(({ at }) => at),
      [0, 100, 200, 300, 400, 1000],
    );
  });

  it('keeps to its rate where there are more nodes than it allows for', () => {
    const poller = new SummaryPoller(options);
    for (const name of nodes('n', 50)) poller.add(0, name);
    const asked = run(poller, 10_000, () => false);
    assert.equal(asked.length, 101);
    assert.equal(new Set(asked.slice(0, 50).map(({ nodeName }) => nodeName)).size, 50);
  });

  it('lets those that answer not wait for those that do not', () => {
    const poller = new SummaryPoller(options);
    for (const name of [...nodes('dead', 30), ...nodes('n', 3)]) poller.add(0, name);
    const asked = run(poller, 60_000, (name) => name.startsWith('dead'));
    assert.ok(asked.every(({ underWay }) => underWay <= 4));
    const later = asked.filter(({ at, nodeName }) => at > 10_000 && nodeName === 'n1');
    assert.ok(later.length >= 45, `asked ${later.length} times in 50 s`);
    const dead = asked.filter(({ nodeName }) => nodeName === 'dead7');
    assert.ok(dead.length >= 3, 'and those are not forgotten');
  });

  it('asks nobody whom it was told to leave alone', () => {
    const poller = new SummaryPoller(options);
    poller.add(0, 'n1');
    const [sent] = poller.tick(0);
    assert.equal(sent?.kind, 'send');
    poller.delete('n1');
    assert.deepEqual(answer(poller, 10, 'summary/1', '{}'), []);
    assert.equal(poller.nextWake(), null);
  });

  it('asks nobody twice at once', () => {
    const poller = new SummaryPoller(options);
    poller.add(0, 'n1');
    poller.tick(0);
    poller.delete('n1');
    poller.add(10, 'n1');
    assert.deepEqual(poller.tick(200), []);
    assert.deepEqual(answer(poller, 210, 'summary/1', '{}').length, 1);
  });

  const answers: readonly (readonly [body: string, message: string | null])[] = [
    ['{}', null],
    ['{"node":{"nodeName":"n1"}}', null],
    ['{"node":{"nodeName":"n2"}}', 'the answer is about node n2'],
    ['{"node":', 'what answers at /api/v1/nodes/n1/proxy/stats/summary does not speak JSON'],
    ['', 'what answers at /api/v1/nodes/n1/proxy/stats/summary does not speak JSON'],
  ];
  for (const [body, message] of answers) {
    it(`takes ${JSON.stringify(body)} for ${message ?? 'an answer'}`, () => {
      const poller = new SummaryPoller(options);
      poller.add(0, 'n1');
      poller.tick(0);
      const [effect] = answer(poller, 10, 'summary/1', body);
      assert.equal(effect?.kind === 'unanswered' ? effect.message : null, message);
    });
  }

  it('gives up what takes too long, and says so', () => {
    const poller = new SummaryPoller(options);
    poller.add(0, 'n1');
    poller.tick(0);
    assert.equal(poller.nextWake(), 1000);
    assert.deepEqual(poller.tick(1000), [
      { kind: 'abort', id: 'summary/1' },
      { kind: 'unanswered', nodeName: 'n1', message: 'no answer within 1s' },
    ]);
    assert.equal(poller.nextWake(), 4000);
  });

  it('hangs up on a node that says too much, and lets it be for a while', () => {
    const poller = new SummaryPoller(options);
    poller.add(0, 'n1');
    poller.tick(0);
    const data = new Uint8Array(1024 * 1024);
    poller.receive(1, { kind: 'head', id: 'summary/1', status: 200, headers: {} });
    const chunk = { kind: 'chunk', id: 'summary/1', data } as const;
    for (let mib = 1; mib <= 4; mib++) assert.deepEqual(poller.receive(mib, chunk), []);
    assert.deepEqual(poller.receive(5, chunk), [
      { kind: 'abort', id: 'summary/1' },
      { kind: 'unanswered', nodeName: 'n1', message: 'the answer is longer than 4 MiB' },
    ]);
    assert.equal(poller.nextWake(), 3005);
  });

  it('hangs up when it stops', () => {
    const poller = new SummaryPoller(options);
    poller.add(0, 'n1');
    poller.tick(0);
    assert.deepEqual(poller.stop(), [{ kind: 'abort', id: 'summary/1' }]);
    assert.ok(poller.idle);
    assert.equal(poller.nextWake(), null);
  });
});
