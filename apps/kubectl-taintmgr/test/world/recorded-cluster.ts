// Clusters whose objects were read from real programs of Kubernetes, at a moment of a story.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { mock } from 'node:test';
import type { TestCluster } from './test-cluster.ts';

/** A story as it was recorded. */
interface Recording {
  /** When objects were read. */
  readonly moments: Readonly<Record<string, string>>;
  /** With the moments at which each was there. */
  readonly objects: readonly { readonly at: readonly string[]; readonly object: RecordedObject }[];
}

interface RecordedObject {
  readonly kind: string;
  readonly lastTimestamp?: string | null;
  readonly eventTime?: string | null;
}

const folder = new URL('../../../../packages/k8s-adapter/test/testdata/history/', import.meta.url);
/** API servers keep Events for an hour. */
const eventMsMax = 3_600_000;

/** Loads what could be read at a moment of a story, and lets it be so many milliseconds later. */
export function loadRecorded(
  { api }: TestCluster,
  story: string,
  moment: string,
  laterMs: number,
): void {
  const text = readFileSync(new URL(`${story}.json`, folder), 'utf8');
  const { moments, objects }: Recording = JSON.parse(text);
  const at = moments[moment];
  assert.ok(at, `${story} has the moments ${Object.keys(moments)}`);
  const now = Date.parse(at) + laterMs;
  mock.timers.reset();
  mock.timers.enable({ apis: ['Date'], now });
  const isKept = ({ kind, lastTimestamp, eventTime }: RecordedObject): boolean =>
    kind !== 'Event' || Date.parse(lastTimestamp ?? eventTime ?? '') > now - eventMsMax;
  const there = objects.filter((one) => one.at.includes(moment)).map(({ object }) => object);
  assert.deepEqual(api.load(there.filter(isKept)).unloaded, []);
}
