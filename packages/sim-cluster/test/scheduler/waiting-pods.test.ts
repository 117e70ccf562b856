import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { pod } from '../../src/builders.ts';
import { ActivePods, signatureOf, UnschedulablePods } from '../../src/scheduler/waiting-pods.ts';

describe('active pods', () => {
  it('are tried by priority, then as they came, each once', () => {
    const active = new ActivePods();
    active.add('a', 0);
    active.add('b', 10);
    active.add('c', 0);
    active.add('d', 10);
    active.add('a', 0);
    active.add('c', 20);
    active.delete('d');
    assert.equal(active.size, 3);
    const order = [active.take(), active.take(), active.take(), active.take()];
    assert.deepEqual(order, ['c', 'b', 'a', null]);
  });
});

describe('pods that fitted nowhere', () => {
  const web = signatureOf(pod('default', 'web'));
  const resources = new Set(['resources'] as const);
  const spread = new Set(['spread'] as const);

  it('are tried one of each kind, when a change is about what they lack', () => {
    const waiting = new UnschedulablePods();
    waiting.add('web-1', web, resources);
    waiting.add('web-2', web, resources);
    waiting.add('db-1', 'other', spread);
    assert.deepEqual(waiting.helpedBy(['resources', 'ports']), ['web-1']);
    assert.deepEqual(waiting.helpedBy(['spread']), ['db-1']);
    assert.deepEqual(waiting.helpedBy([]), []);
    assert.deepEqual(waiting.helpedBy(null), ['web-1', 'db-1']);
  });

  it('stay in their order when they fail again, and name the next when they leave', () => {
    const waiting = new UnschedulablePods();
    waiting.add('web-1', web, resources);
    waiting.add('web-2', web, resources);
    waiting.add('web-1', web, resources);
    assert.deepEqual(waiting.helpedBy(null), ['web-1']);
    assert.equal(waiting.delete('web-1'), 'web-2');
    assert.equal(waiting.delete('web-2'), null);
    assert.equal(waiting.has('web-2'), false);
    assert.deepEqual(waiting.helpedBy(null), []);
  });

  it('are alike by all that they are placed by, and by nothing else', () => {
    const named = (name: string, spec: object = {}): string =>
      signatureOf({ ...pod('default', name, { labels: { app: 'web' } }), spec });
    assert.equal(named('a'), named('b'));
    assert.notEqual(named('a'), named('a', { nodeSelector: { disk: 'ssd' } }));
    assert.notEqual(signatureOf(pod('one', 'a')), signatureOf(pod('two', 'a')));
  });
});
