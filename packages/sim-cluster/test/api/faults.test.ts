import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { FaultRule } from '../../src/api/faults.ts';
import { seededRandom } from '../../src/kernel/prng.ts';
import { fixture, nodes, podNamed, pods, summary } from '../world/api-fixture.ts';

describe('a fault', () => {
  it('can refuse the connection, after which nothing was done', () => {
    const { api, client } = fixture();
    api.faults.add({ fault: { kind: 'refuse' }, verbs: ['create'], resource: 'pods' });
    const { wasReset, status } = client.post(pods, podNamed('a'));
    assert.deepEqual([wasReset, status], [true, 0]);
    assert.equal(api.get('pods', 'default', 'a'), null);
  });

  it('can lose the answer to what was done', () => {
    const { api, client } = fixture();
    api.faults.add({ fault: { kind: 'lose' }, verbs: ['create'], times: 1 });
    const { wasReset, status } = client.post(pods, podNamed('a'));
    assert.deepEqual([wasReset, status], [true, 0]);
    assert.equal(client.post(pods, podNamed('a')).body.reason, 'AlreadyExists');
  });

  it('can delay a request, which arrives late', () => {
    const { api, client, pass } = fixture();
    api.faults.add({ fault: { kind: 'delay', ms: 500 }, times: 1 });
    const answer = client.send('POST', pods, { body: podNamed('a') });
    assert.equal(api.get('pods', 'default', 'a'), null);
    pass(500);
    assert.equal(answer().status, 201);
  });

  it('does not strike a delayed request whose client left', () => {
    const { api, clock } = fixture();
    api.faults.add({ fault: { kind: 'delay', ms: 500 } });
    const sink = { head() {}, data() {}, end() {}, reset() {} };
    const request = { method: 'DELETE', path: `${nodes}/n`, headers: {}, body: null };
    api.exchange(request, sink)();
    assert.equal(clock.nextWake(), null);
  });

  const answers: readonly (readonly [number, RegExp, string | undefined])[] = [
    [409, /fulfilled on nodes \\"n1\\": the object has been modified/, undefined],
    [410, /"reason":"Expired"/, undefined],
    [429, /^Too many requests, please try again later\.\n$/, '1'],
    [500, /Internal error occurred/, undefined],
  ];
  for (const [code, text, retryAfter] of answers) {
    it(`can answer ${code} instead of doing anything`, () => {
      const { api, client } = fixture();
      api.create('nodes', { metadata: { name: 'n1' } });
      api.faults.add({
        fault: { kind: 'answer', code: code as 409 },
        resource: 'nodes',
        name: 'n1',
      });
      const answer = client.patch(`${nodes}/n1`, { spec: { unschedulable: true } });
      assert.equal(answer.status, code);
      assert.match(answer.text, text);
      assert.equal(answer.headers['retry-after'], retryAfter);
      assert.equal(api.get('nodes', '', 'n1')?.spec.unschedulable, undefined);
    });
  }

  for (const [message, said] of [
    ['it is being moved', 'denied the request: it is being moved'],
    ['', 'denied the request without explanation'],
  ] as const) {
    it(`can refuse as an admission webhook does: ${said}`, () => {
      const { api, client } = fixture();
      const fault = { kind: 'deny', webhook: 'w.example.com', code: 429, message } as const;
      api.faults.add({ fault, resource: 'nodes', name: 'n1' });
      const answer = client.patch(`${nodes}/n1`, { spec: { unschedulable: true } });
      const { status, message: text, code } = JSON.parse(answer.text);
      assert.deepEqual(
        [answer.status, status, code, text],
        [429, 'Failure', 429, `admission webhook "w.example.com" ${said}`],
      );
    });
  }

  it('tells a watch of its expiry in the stream', () => {
    const { api, client } = fixture();
    api.faults.add({ fault: { kind: 'answer', code: 410 }, verbs: ['watch'], times: 1 });
    const watch = client.watch(pods);
    assert.equal(watch.response().status, 200);
    assert.deepEqual(
      watch.events.map(({ type, object }) => [type, object.code]),
      [['ERROR', 410]],
    );
    assert.equal(watch.response().ended, true);
  });

  for (const how of ['end', 'reset'] as const) {
    it(`can cut a watch by ${how}, which then hears no more`, () => {
      const { api, client, pass, clock } = fixture();
      api.faults.add({ fault: { kind: 'cut', afterMs: 1000, how } });
      const watch = client.watch(pods);
      api.create('pods', podNamed('a'));
      pass(1000);
      api.create('pods', podNamed('b'));
      assert.deepEqual(summary(watch.events), ['ADDED a']);
      assert.equal(watch.response()[how === 'end' ? 'ended' : 'wasReset'], true);
      assert.equal(clock.nextWake(), null);
    });
  }

  it('can leave a request without an answer to what was done, until the client gives up', () => {
    const { api, client, pass, clock } = fixture();
    api.faults.add({ fault: { kind: 'halfOpen', afterMs: 0 }, verbs: ['create'], times: 2 });
    const answers = ['a', 'b'].map((name) => client.send('POST', pods, { body: podNamed(name) }));
    pass(3_600_000);
    assert.ok(api.get('pods', 'default', 'a'));
    for (const answer of answers) {
      assert.deepEqual([answer().status, answer().ended, answer().wasReset], [0, false, false]);
    }
    assert.equal(clock.nextWake(), null);
    api.faults.breakStreams();
    assert.equal(answers[1]?.().wasReset, true);
    assert.equal(client.get(`${pods}/a`).status, 200);
  });

  for (const afterMs of [0, 1000]) {
    it(`can leave a watch open that sends nothing more after ${afterMs} ms`, () => {
      const { api, client, pass, clock } = fixture();
      api.faults.add({ fault: { kind: 'halfOpen', afterMs }, verbs: ['watch'] });
      const watch = client.watch(pods, { query: { timeoutSeconds: 60 } });
      api.create('pods', podNamed('a'));
      pass(1000);
      api.create('pods', podNamed('b'));
      pass(3_600_000);
      assert.deepEqual(summary(watch.events), afterMs === 0 ? [] : ['ADDED a']);
      assert.equal(watch.response().status, afterMs === 0 ? 0 : 200);
      assert.equal(watch.response().ended, false);
      watch.stop();
      assert.equal(clock.nextWake(), null);
      api.faults.breakStreams();
      assert.equal(watch.response().wasReset, false);
    });
  }

  it('can tell the events of a watch twice, all or some', () => {
    const run = (chance: number): readonly string[] => {
      const { api, client } = fixture();
      api.faults.add({ fault: { kind: 'duplicate', chance }, resource: 'pods' });
      const watch = client.watch(pods);
      for (const name of ['a', 'b', 'c', 'd', 'e', 'f', 'g', 'h'])
        api.create('pods', podNamed(name));
      assert.equal(client.get(pods).body.items.length, 8);
      return summary(watch.events);
    };
    assert.deepEqual(run(1).slice(0, 4), ['ADDED a', 'ADDED a', 'ADDED b', 'ADDED b']);
    assert.equal(run(1).length, 16);
    assert.ok(run(0.5).length > 8 && run(0.5).length < 16, `${run(0.5).length} events`);
    assert.equal(new Set(run(0.5)).size, 8);
    assert.deepEqual(run(0.5), run(0.5));
  });

  it('strikes as often as it says, in the order in which it was added, until it is disarmed', () => {
    const { api, client } = fixture();
    api.faults.add({ fault: { kind: 'answer', code: 500 }, times: 2 });
    const disarm = api.faults.add({ fault: { kind: 'answer', code: 429 } });
    const codes = () => client.get(pods).status;
    assert.deepEqual([codes(), codes(), codes(), codes()], [500, 500, 429, 429]);
    disarm();
    disarm();
    assert.equal(codes(), 200);
  });

  it('by chance strikes alike for equal seeds', () => {
    const rule: FaultRule = { fault: { kind: 'answer', code: 500 }, probability: 0.3 };
    const run = (seed: number): string => {
      const { api, client } = fixture({ random: seededRandom(seed) });
      api.faults.add(rule);
      return Array.from({ length: 200 }, () => (client.get(nodes).status === 500 ? 'x' : '.')).join(
        '',
      );
    };
    assert.equal(run(7), run(7));
    assert.notEqual(run(7), run(8));
    const struck = run(7).replaceAll('.', '').length;
    assert.ok(struck > 30 && struck < 90, `${struck} of 200`);
  });
});

describe('a server that is down', () => {
  it('breaks its watches, refuses everybody, and comes back as it was', () => {
    const { api, client } = fixture();
    api.create('pods', podNamed('a'));
    const watch = client.watch(pods);
    api.faults.down = true;
    assert.equal(watch.response().wasReset, true);
    assert.equal(client.get(pods).wasReset, true);
    assert.equal(client.watch(pods).response().wasReset, true);
    api.faults.down = false;
    assert.equal(client.get(pods).body.items.length, 1);
  });
});
