import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { type ForecastSurvey, taintManagersIn } from '@taintmgr/k8s-adapter/survey';
import { explain, survey } from '../../world/explained.ts';
import { node, now, pod, taint, tolerates } from '../../world/values.ts';

// Pods of a zone that is down as a whole, where the controller holds such zones.

/** What the leader publishes: zone b has been held for so long, or is not. */
function heldFor(seconds: number | null): ForecastSurvey {
  const heldSince =
    seconds === null ? {} : { heldSince: new Date(now - seconds * 1000).toISOString() };
  const [manager] = taintManagersIn([
    {
      ...{ apiVersion: 'taintmgr.dev/v1alpha1', kind: 'TaintManager' },
      metadata: { name: 'taintmgr', uid: 'u1' },
      status: { zones: [{ name: 'r/a' }, { name: 'r/b', ...heldSince }] },
    },
  ]);
  const { heldZones = assert.fail('it does not say') } = manager ?? {};
  const one = { ...node('n1', taint('bad=disk:NoExecute', 41)), zone: 'r/b' };
  const read = survey(one, pod('due'), pod('later', tolerates('bad', 63)));
  return { ...read, evictor: { ...read.evictor, heldZones } };
}

/** DECISION and IN of each pod, and why. */
function shown(from: ForecastSurvey): readonly string[] {
  const { text, document } = explain(from);
  const lines = text.split('\n').filter((line) => /^shop/.test(line));
  const { pods } = Object(document);
  return lines.map((line, index) => {
    const [, , decision, left] = line.split(/ {2,}/);
    return `${decision} ${left}: ${pods[index].because[0].text}`;
  });
}

describe('a zone that is held', () => {
  it('keeps its pods, with what ends it', () => {
    const why = 'deadlines are paused by the hold of zone r/b until one of its nodes is ready';
    const found = shown(heldFor(30));
    assert.equal(found.length, 2);
    for (const line of found) assert.match(line, new RegExp(`^Held .*: ${why}$`));
  });

  it('keeps none of its pods where it is not held', () => {
    assert.match(shown(heldFor(null)).join('\n'), /^Evict overdue.*\nEvict 2\ds/);
  });
});
