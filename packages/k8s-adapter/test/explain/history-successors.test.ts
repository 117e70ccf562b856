import assert from 'node:assert/strict';
import { it } from 'node:test';
import { mergeStories } from '../../src/explain/history-story.ts';
import { podTrace } from '../../src/explain/history-traces.ts';
import type { Departure } from '../../src/history/departure.ts';

const minute = 60_000;
const left = Date.UTC(2026, 10, 30, 2);
const owner = { kind: 'StatefulSet', name: 'db' } as const;

function pod(name: string, createdAt: number) {
  const creationTimestamp = new Date(createdAt).toISOString();
  const ownerReferences = [{ ...owner, controller: true }];
  return podTrace({
    metadata: { namespace: 'shop', name, uid: `new ${name}`, creationTimestamp, ownerReferences },
    status: { phase: 'Pending' },
  });
}

it('is the pod of the same name in a StatefulSet, however late it comes', () => {
  const departure: Departure = {
    ...{ namespace: 'shop', pod: 'db-0', uid: 'old', node: 'n1', owner, seenAt: left },
    ...{ by: { kind: 'taintmgr', source: 'ownAct' }, askedAt: left, answeredAt: left },
  };
  const pods = [pod('db-1', left + 1000), pod('db-0', left + 25 * minute)];
  const [story] = mergeStories({
    ...{ at: left + 30 * minute, departures: [departure], gaps: [], pods, events: [] },
    ...{ requests: [], nodes: new Map() },
  });
  assert.deepEqual([story?.pod, story?.successor?.uid], ['db-0', 'new db-0']);
});
