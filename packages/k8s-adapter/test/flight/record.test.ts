import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { ServedCluster } from '@taintmgr/api-server';
import { type Config, createEngine, type Event } from '@taintmgr/core';
import type { EvictionPolicy, NodeTaintRule } from '@taintmgr/core/policy';
import { seededRandom, threeZones, VirtualClock } from '@taintmgr/sim-cluster';
import {
  type FlightStep,
  flightApiVersion,
  flightHeadFrom,
  flightLine,
  Loop,
  VirtualDriver,
} from '../../src/index.ts';
import { listened, replayed } from './listened.ts';

// Whatever happens in a cluster: an engine that is told what a flight record says does what it says.

const minuteMs = 60_000;
const startedAt = '2026-01-01T00:00:00.000Z';

/** Half an hour in which nodes are tainted and fall silent, and the API server is away for a while. */
function record(seed: number, config: Partial<Config>): readonly string[] {
  const clock = new VirtualClock(Date.parse(startedAt));
  const without = ['conditionTaints'] as const;
  const cluster = new ServedCluster({ clock, seed, topology: threeZones, without });
  const { machine, lines } = listened(createEngine(config));
  const random = seededRandom(seed);
  const loop = new Loop({ machine, random, leases: true });
  const driver = new VirtualDriver({
    loop,
    exchange: cluster.exchange,
    clock,
    onNotice: () => {},
  });
  cluster.start();
  driver.feed({ kind: 'start' });
  const { api } = cluster;
  for (let minute = 2; minute < 30; minute++) {
    driver.runUntil(Date.parse(startedAt) + (minute - 1) * minuteMs);
    for (const event of policyEvents(minute, clock.now())) driver.feed({ kind: 'event', event });
    const names = api.list('nodes').map(({ metadata }) => metadata.name);
    const name = names[Math.floor(random() * names.length)] ?? '';
    clock.after(random() * minuteMs, () => {
      const node = api.get('nodes', '', name);
      const kubelet = cluster.node(name);
      const choice = Math.floor(random() * 4);
      if (choice === 0 && node) {
        const taints = [{ key: 'maintenance', value: String(minute), effect: 'NoExecute' }];
        api.update('nodes', { ...node, spec: { ...node.spec, taints } });
      } else if (choice === 1) kubelet.stop();
      else if (choice === 2) kubelet.resume();
      else api.faults.down = !api.faults.down;
    });
  }
  driver.runUntil(Date.parse(startedAt) + 30 * minuteMs);
  return lines;
}

/** What people want done while it goes on; a pause has a reason that is nobody's business. */
function policyEvents(minute: number, now: number): readonly Event[] {
  const scope = { zones: [], nodes: null, taintKeys: ['maintenance'], namespaces: [] };
  const holds = { readiness: true, deadlines: true, until: now + 2 * minuteMs, since: now };
  const pause = { name: 'night', uid: '', scope, ...holds, reason: 'a secret of ours' };
  switch (minute % 6) {
    case 0:
      return [{ kind: 'policyUpsert', policy }];
    case 1:
      return [{ kind: 'pauseUpsert', pause }];
    case 2:
      return [{ kind: 'namespaceUpsert', namespace: { name: 'default', labels: { a: 'b' } } }];
    case 3:
      return [{ kind: 'taintRuleUpsert', rule }];
    case 4:
      return [
        { kind: 'pauseDelete', name: 'night' },
        { kind: 'taintRuleDelete', name: 'sad' },
      ];
    default:
      return [{ kind: 'policyDelete', name: 'slow' }];
  }
}

const policy: EvictionPolicy = {
  name: 'slow',
  uid: '',
  generation: 1,
  priority: 0,
  match: {
    taints: [{ key: 'maint*' }],
    nodes: null,
    namespaces: { names: [], selector: { matchLabels: { a: 'b' } } },
    pods: null,
    podPriority: null,
  },
  action: 'EvictThenDelete',
  minTaintAgeMs: null,
  deleteAfterMs: 10_000,
  gracePeriodSeconds: null,
  defaultTolerationSeconds: 20,
  limits: [{ per: 'node', pods: 2, windowMs: minuteMs, onLimit: 'queue' }],
};
const rule: NodeTaintRule = {
  name: 'sad',
  uid: '',
  generation: 1,
  condition: 'Ready',
  status: 'Unknown',
  holdsMs: 0,
  clearMs: 0,
  taint: { key: 'sad', value: '', effect: 'NoSchedule' },
  nodes: {},
  nodesMax: null,
  dryRun: false,
};

describe('a flight record', () => {
  const configs: readonly (readonly [name: string, config: Partial<Config>])[] = [
    ['precise', { lifecycle: {} }],
    [
      'precise, with budgets and limits',
      {
        mode: 'evict',
        lifecycle: { massUnreachable: null },
        limits: [{ per: 'zone', podsPerSecond: 0.1, percent: 20, onLimit: 'queue' }],
      },
    ],
    ['upstream-1.36', { semantics: 'upstream-1.36', lifecycle: {} }],
  ];
  for (const [name, engine] of configs) {
    it(`says all there is to know of a run (${name})`, () => {
      const kind = 'FlightRecord';
      const first = {
        apiVersion: flightApiVersion,
        kind,
        version: '1',
        startedAt,
        engine,
      } as const;
      const head = flightHeadFrom(JSON.parse(flightLine(first)));
      const kinds = new Set<string>();
      for (let seed = 1; seed <= 5; seed++) {
        const lines = record(seed, engine);
        const again = replayed(head.engine, lines);
        const index = lines.findIndex((line, number) => line !== again[number]);
        assert.equal(again[index], lines[index], `seed ${seed}`);
        assert.ok(lines.some((line) => line.includes('"kind":"pauseUpsert"')));
        for (const line of lines) {
          assert.doesNotMatch(line, /kubelet is posting|connection reset|a secret of ours/);
          const { commands = [] }: FlightStep = JSON.parse(line);
          for (const command of commands) kinds.add(command.kind);
        }
      }
      const removal = engine.mode === 'evict' ? 'evictPod' : 'deletePod';
      for (const wanted of [removal, 'changeTaints', 'setNodeConditions', 'markPodNotReady']) {
        assert.ok(kinds.has(wanted), `${wanted} among ${[...kinds]}`);
      }
    });
  }
});
