import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import * as core from '@taintmgr/core';
import { allPodsNeeds, type Config, concernsPods, type Node } from '../src/index.ts';

describe('options', () => {
  const faults: readonly [Parameters<typeof core.createEngine>[0], string][] = [
    [{ evictionsInFlightMax: 0 }, 'config.evictionsInFlightMax: got 0, want a whole number from 1'],
    [{ retryWaitMsMin: 1.5 }, 'config.retryWaitMsMin: got 1.5, want a whole number from 1'],
    [
      { retryWaitMsMin: 500, retryWaitMsMax: 100 },
      'config.retryWaitMsMax: got 100, want a whole number from 500',
    ],
    [{ minTaintAgeMs: -1 }, 'config.minTaintAgeMs: got -1, want a whole number from 0'],
    [{ gracePeriodSeconds: 0 }, 'config.gracePeriodSeconds: got 0, want a whole number from 1'],
    [
      { limits: [{ per: 'zone', onLimit: 'queue' }] },
      'config.limits[0].podsPerSecond: got undefined, want a rate here, or a percent, or pods',
    ],
    [
      { limits: [{ per: 'zone', percent: 101, onLimit: 'queue' }] },
      'config.limits[0].percent: got 101, want a number above 0, at most 100',
    ],
    [
      { takeover: true, semantics: 'upstream-1.36' },
      'config.semantics: got "upstream-1.36", want precise',
    ],
    [
      { takeover: true, taintEviction: false },
      'config.taintEviction: got false, want true beside takeover',
    ],
    [
      { deviceTaints: true, semantics: 'upstream-1.36' },
      'config.semantics: got "upstream-1.36", want precise',
    ],
    [
      { deviceTaints: true, taintEviction: false },
      'config.taintEviction: got false, want true beside deviceTaints',
    ],
    [
      JSON.parse('{"mode":"drop"}'),
      'config.mode: got "drop", want delete or evict or evict-then-delete',
    ],
    [
      JSON.parse('{"mode":"evictThenDelete"}'),
      'config.mode: got "evictThenDelete", want delete or evict or evict-then-delete',
    ],
    [JSON.parse('{"leader":"yes"}'), 'config.leader: got "yes", want true or false'],
    [
      JSON.parse('{"lifecycle":{"observes":"no"}}'),
      'config.lifecycle.observes: got "no", want true or false',
    ],
  ];
  for (const [options, message] of faults) {
    it(message, () => {
      assert.throws(() => core.createEngine(options), { name: 'RangeError', message });
    });
  }
});

it('an option that is there and undefined is left out', () => {
  const names = Object.keys(core.defaultConfig);
  const engine = core.createEngine(Object.fromEntries(names.map((name) => [name, undefined])));
  const node = core.makeNode({ name: 'n1', taints: ['bad:NoExecute'] });
  engine.handle(0, { kind: 'nodeUpsert', node });
  const pod = core.makePod({ name: 'web-0', nodeName: 'n1' });
  engine.handle(0, { kind: 'podUpsert', pod });
  engine.handle(0, { kind: 'synced' });
  const sent = engine.handle(0, { kind: 'tick' }).map(({ kind }) => kind);
  assert.deepEqual(sent, ['recordEvent', 'deletePod']);
});

const bad = { key: 'bad', value: '', effect: 'NoExecute', timeAdded: 0 };

const node = (more: Partial<Node> = {}): Node => ({ name: 'n1', uid: 'u', taints: [], ...more });

const ready = (status: string): Partial<Node> => ({
  conditions: [
    { type: 'Ready', status, reason: '', message: '', heartbeatAt: null, transitionAt: null },
  ],
});

describe('pods of a node concern us', () => {
  const cases: readonly [string, Node, boolean][] = [
    ['not where it is well', node(ready('True')), false],
    ['where it has a taint NoExecute', node({ taints: [bad] }), true],
    ['not for any other taint', node({ taints: [{ ...bad, effect: 'NoSchedule' }] }), false],
    ['where it is silent', node(ready('Unknown')), true],
    ['not where its kubelet says that it is not ready', node(ready('False')), false],
  ];
  for (const [name, given, expected] of cases) {
    it(name, () => assert.equal(concernsPods(given), expected));
  }
});

describe('all pods are needed', () => {
  const cases: readonly [string, Partial<Config>, readonly string[]][] = [
    ['by nothing that is there by default', {}, []],
    ['not for a rate', { limits: [{ per: 'total', podsPerSecond: 1, onLimit: 'queue' }] }, []],
    ['for a share', { limits: [{ per: 'node', percent: 50, onLimit: 'trip' }] }, ['limits']],
    ['for the semantics of upstream', { semantics: 'upstream-1.36' }, ['semantics']],
    ['to compare with upstream', { compare: true }, ['compare']],
    ['for taints of devices', { deviceTaints: true }, ['deviceTaints']],
  ];
  for (const [name, config, expected] of cases) {
    it(name, () => assert.deepEqual(allPodsNeeds(config), expected));
  }
});
