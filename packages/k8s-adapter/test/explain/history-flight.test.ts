import assert from 'node:assert/strict';
import { it } from 'node:test';
import { type Command, createEngine, type Event } from '@taintmgr/core';
import { FlightDepartures } from '../../src/explain/history-flight.ts';
import { mergeStories } from '../../src/explain/history-story.ts';
import { storyText } from '../../src/explain/history-words.ts';
import { node, now, pod, taint, tolerates } from '../world/values.ts';

// The steps are those of an engine that a recorder writes down; the second request is refused by a budget.

const ahead = 2000;

const told = `shop/web-0 was evicted from n1 at 03:04:17Z (47s ago) by taintmgr-controller, for taint maint=x:NoExecute. It was gone at 03:04:18Z, within a second.

Times (UTC):
  03:04:05Z  decided: it was to leave at 03:04:11Z [flight record]
  03:04:06Z  taint maint=x:NoExecute on n1 [flight record]
  03:04:12Z  asked to leave by pods/eviction [flight record]
  03:04:12Z  refused 1 time: needs 2 pods and has 2 [flight record]
  03:04:17Z  accepted: it leaves by pods/eviction [flight record]
  03:04:18Z  gone [flight record]

Instead: no source names a later pod of ReplicaSet rs.

Not known:
  who put maint=x:NoExecute on n1`;

function flight(): FlightDepartures {
  const engine = createEngine({ mode: 'evict' });
  const departures = new FlightDepartures();
  let step = 0;
  const hear = (at: number, event: Event): readonly Command[] => {
    const commands = engine.handle(at, event);
    departures.take({ step: ++step, at, event, ...(commands.length > 0 && { commands }) });
    return commands;
  };
  const start = now - ahead;
  const tainted = node('n1', { ...taint('maint=x:NoExecute'), timeAdded: now });
  hear(start, { kind: 'leadership', held: true });
  hear(start, { kind: 'clock', ahead });
  hear(start, { kind: 'nodeUpsert', node: tainted });
  hear(start, { kind: 'podUpsert', pod: pod('web-0', tolerates('maint', 5)) });
  hear(start, { kind: 'synced' });
  const ask = (at: number): string => {
    const commands = hear(at, { kind: 'tick' });
    const asked = commands.find((command) => command.kind === 'evictPod');
    return asked && 'id' in asked ? asked.id : assert.fail(`no pod is asked at ${at}`);
  };
  const refused = { kind: 'blocked', message: 'needs 2 pods and has 2', retryAfter: null } as const;
  hear(start + 7100, { kind: 'result', id: ask(start + 7000), outcome: refused });
  const next = engine.nextWake() ?? assert.fail('nothing is tried again');
  hear(next + 50, { kind: 'result', id: ask(next), outcome: { kind: 'done' } });
  hear(next + 900, { kind: 'podDelete', uid: 'uid-web-0' });
  return departures;
}

it('tells who left as the flight record has it, by the cluster’s clock', () => {
  const at = now + 60_000;
  const sources = { departures: flight().departures(at), gaps: [], pods: [], events: [] };
  const [story, ...others] = mergeStories({ ...sources, at, nodes: new Map(), requests: [] });
  assert.deepEqual(others, []);
  assert.ok(story);
  assert.equal(storyText(story, at), told);
});
