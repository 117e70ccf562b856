import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { parseTaint } from '@taintmgr/core';
import type { DutyVerdict, Evictors } from '@taintmgr/k8s-adapter';
import { readManifest } from '@taintmgr/k8s-adapter/kinds';
import type { Evictor } from '@taintmgr/k8s-adapter/survey';
import { overlapFault } from '../../src/commands/drain-by-taint/refusals.ts';
import { evictorWarnings, leavesOut } from '../../src/commands/pause.ts';
import { may } from '../world/explained.ts';
import { evictorWhere, leads } from '../world/values.ts';

// taintmgr-controller acts, asks budgets, and leaves pods to drains. Somebody else may take them all the same.

const none: DutyVerdict = { kind: 'doesNotAct', evidence: [] };
const acts: DutyVerdict = { kind: 'acts', who: 'kcm', evidence: [] };

function evictorsWith(upstream: DutyVerdict): Evictors {
  return {
    upstream: {
      'taint-eviction-controller': upstream,
      'node-lifecycle-controller': none,
      'device-taint-eviction-controller': none,
    },
    taintmgr: leads(Date.now()),
  };
}

/** How our controller runs, by what its leader publishes. */
function ownWith(evictors: Evictors, settings: Record<string, string>): Promise<Evictor> {
  const features = ['drain-marks'];
  const published = { features, settings: { mode: 'evict', ...settings } };
  return evictorWhere(evictors, published, Date.now());
}

const takeover = { takeover: 'true' };
const overlap = { 'allow-overlap': 'true' };
/** What tells whether kube-controller-manager evicts. */
const wayToKnow =
  'start it with --controllers=*,-taint-eviction-controller and declare that to taintmgr-controller: ' +
  '--kube-controller-manager-runs=node-lifecycle-controller';

describe('a NoExecute drain beside taintmgr-controller', () => {
  const taint = parseTaint('maintenance=kernel:NoExecute');
  const theirs =
    /^kube-controller-manager .*; use maintenance=kernel:NoSchedule, for which no other controller/;
  const elsewhere = /^in namespaces that are not taken over kube-controller-manager \(.*; use /;
  const cases: readonly (readonly [
    settings: Record<string, string>,
    upstream: DutyVerdict,
    fault: RegExp | null,
  ])[] = [
    [{}, none, null],
    // It would stand by beside one that does the same.
    [{}, may, null],
    [takeover, none, null],
    [takeover, may, elsewhere],
    [takeover, acts, elsewhere],
    [overlap, none, null],
    [overlap, may, theirs],
    [overlap, acts, theirs],
  ];
  for (const [settings, upstream, fault] of cases) {
    const name = `${JSON.stringify(settings)} and kube-controller-manager: ${upstream.kind}`;
    it(`${fault ? 'is refused' : 'begins'} with ${name}`, async () => {
      const evictors = evictorsWith(upstream);
      const evictor = await ownWith(evictors, settings);
      const found = overlapFault(taint, { evictors, evictor }, { kind: 'respect' });
      if (fault) assert.match(found ?? '', fault);
      else assert.equal(found, null);
    });
  }
});

describe('the advice of a refusal, beside another effect and --allow-overlap', () => {
  const taint = parseTaint('maintenance=kernel:NoExecute');
  const cases: readonly (readonly [
    settings: Record<string, string>,
    upstream: DutyVerdict,
    advice: string | undefined,
  ])[] = [
    // It is there to stay.
    [takeover, acts, undefined],
    [takeover, may, wayToKnow],
    [overlap, acts, 'start it with --controllers=*,-taint-eviction-controller'],
    [overlap, may, wayToKnow],
  ];
  for (const [settings, upstream, advice] of cases) {
    const name = `${JSON.stringify(settings)} and kube-controller-manager: ${upstream.kind}`;
    it(`is ${advice ?? 'nothing'} with ${name}`, async () => {
      const evictors = evictorsWith(upstream);
      const evictor = await ownWith(evictors, settings);
      const found = overlapFault(taint, { evictors, evictor }, { kind: 'respect' }) ?? '';
      const [said, more] =
        /for which no other controller evicts, (?:or (.*), )?or accept it with --allow-overlap:/.exec(
          found,
        ) ?? [];
      assert.ok(said, found);
      assert.equal(more, advice);
    });
  }
});

describe('a pause', () => {
  const namespaces = [
    { name: 'shop', labels: { 'taintmgr.dev/takeover': 'enabled' } },
    { name: 'cart', labels: {} },
  ];
  const elsewhere =
    /^in namespaces that are not taken over kube-controller-manager \(x\) may evict .*; only taintmgr-controller follows pauses$/;
  const theirs = /^kube-controller-manager \(x\) may evict .*; only taintmgr-controller follows/;
  const held = { scope: {} };
  const cases: readonly (readonly [
    settings: Record<string, string>,
    spec: object,
    warning: RegExp | null,
  ])[] = [
    [{}, held, null],
    [takeover, held, elsewhere],
    [takeover, { scope: { namespaces: ['cart'] } }, elsewhere],
    [takeover, { scope: { namespaces: ['shop'] } }, null],
    [takeover, { readiness: true, deadlines: false }, null],
    [overlap, held, theirs],
    [
      { 'cluster-policies': 'false' },
      held,
      /^taintmgr-controller runs with --cluster-policies=false, and follows no pauses of the cluster$/,
    ],
    [
      { semantics: 'upstream-1.36' },
      held,
      /^taintmgr-controller runs with --semantics=kube-controller-manager, and follows no pauses/,
    ],
  ];
  for (const [settings, spec, warning] of cases) {
    it(`${warning ? 'warns' : 'does not warn'}: ${JSON.stringify({ settings, spec })}`, async () => {
      const evictors = evictorsWith(may);
      const evictor = await ownWith(evictors, settings);
      const manifest = { apiVersion: 'taintmgr.dev/v1alpha1', kind: 'EvictionPause', spec };
      const judged = readManifest({ ...manifest, metadata: { name: 'p' } }, 0);
      assert.ok(judged.kind !== 'refused' && judged.value.kind === 'EvictionPause');
      const pause = judged.value.value;
      const isLeftOut = leavesOut(pause, namespaces);
      const [first, ...others] = evictorWarnings(pause, evictors, evictor, isLeftOut);
      if (warning) assert.match(first ?? '', warning);
      else assert.equal(first, undefined);
      assert.deepEqual(others, []);
    });
  }
});
