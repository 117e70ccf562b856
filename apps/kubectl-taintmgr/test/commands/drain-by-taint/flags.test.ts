import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { after, before, describe, it } from 'node:test';
import { daemonSet, type KubeObject, pdb, pod } from '@taintmgr/sim-cluster';
import { drainCommand } from '../../../src/commands/drain-by-taint/flags.ts';
import { execute, withoutKubectl } from '../../world/plugin.ts';
import { type Result, run } from '../../world/run.ts';
import { app, inZone, Scenario } from '../../world/scenario.ts';
import { startTestCluster, type TestCluster } from '../../world/test-cluster.ts';

// docs/drain-flags.md says what the programs say, and both do the same: each flag is given to
// kubectl drain on one node and to drain-by-taint on its twin. The taint is one for which the
// DaemonSet controller takes no pods itself.

const page = readFileSync(new URL('../../../../../docs/drain-flags.md', import.meta.url), 'utf8');

/** The flags of a section of the page, with their defaults. */
function flagsOn(heading: string): ReadonlyMap<string, string> {
  const [, section = ''] = page.split(`## ${heading}\n`);
  const [table = ''] = section.split('\n## ');
  const rows = table.matchAll(/^\| `(--[\w-]+)`(?:, `-\w`)? \| `([^`]*)` \|/gm);
  return new Map(Array.from(rows, ([, flag = '', value = '']) => [flag, value]));
}

const shared = flagsOn('Flags of both');
const own = flagsOn('Flags of drain-by-taint');

/** Our flags with their defaults, as kubectl writes them. */
function ourFlags(): ReadonlyMap<string, string> {
  return new Map(
    drainCommand().options.map((option) => {
      const isSwitch = option.isBoolean() || option.negate;
      const unset = isSwitch ? 'false' : "''";
      const value = option.defaultValueDescription ?? option.defaultValue;
      return [option.long ?? '', isSwitch ? unset : String(value ?? unset)];
    }),
  );
}

describe('docs/drain-flags.md', () => {
  it('names every flag that drain-by-taint has, with its default', () => {
    const expected = new Map([...shared, ...own, ['--pdb-policy', "''"]]);
    assert.deepEqual([...ourFlags()].sort(), [...expected].sort());
  });

  it('names every flag that kubectl drain has, with its default', {
    skip: withoutKubectl,
  }, async () => {
    const { out } = await execute('kubectl', ['drain', '--help']);
    const theirs = Array.from(
      out.matchAll(/^ {4}(?:-\w, )?(--[\w-]+)=(.*):$/gm),
      ([, flag = '', value = '']) => [
        flag,
        flag === '--dry-run' ? value.replaceAll("'", '') : value,
      ],
    );
    assert.deepEqual(theirs.sort(), [...shared].sort());
  });

  it('has a case below for every flag of both', () => {
    const covered = new Set(cases.flatMap(({ flags }) => flags.map((flag) => flag.split('=')[0])));
    const missing = [...shared.keys()].filter((flag) => !covered.has(flag));
    assert.deepEqual(missing, []);
  });
});

interface Case {
  readonly name: string;
  readonly flags: readonly string[];
  /** What is in the zone, and so on its only node. */
  readonly objects: (zone: string) => readonly KubeObject[];
  readonly budget?: true;
  /** The apps whose pods go, and whether the drain succeeds. */
  readonly evicted: readonly string[];
  readonly succeeds: boolean;
}

const scratch = { volumes: [{ name: 'scratch', emptyDir: {} }] };
const bare = (zone: string, spec: object = {}): KubeObject =>
  pod(zone, 'bare', { spec: { ...inZone(zone).podSpec, ...spec } });
const web = (zone: string): readonly KubeObject[] => [app(zone, 'web')];

const cases: readonly Case[] = [
  { name: 'none', flags: [], objects: web, evicted: ['web'], succeeds: true },
  {
    name: 'bare',
    flags: [],
    objects: (zone) => [app(zone, 'web'), bare(zone)],
    evicted: [],
    succeeds: false,
  },
  {
    name: 'force',
    flags: ['--force'],
    objects: (zone) => [app(zone, 'web'), bare(zone)],
    evicted: ['bare', 'web'],
    succeeds: true,
  },
  {
    name: 'daemon',
    flags: [],
    objects: (zone) => [app(zone, 'web'), daemonSet(zone, 'agent', inZone(zone))],
    evicted: [],
    succeeds: false,
  },
  {
    name: 'daemons',
    flags: ['--ignore-daemonsets'],
    objects: (zone) => [app(zone, 'web'), daemonSet(zone, 'agent', inZone(zone))],
    evicted: ['web'],
    succeeds: true,
  },
  {
    name: 'scratch',
    flags: [],
    objects: (zone) => [app(zone, 'web', { podSpec: scratch })],
    evicted: [],
    succeeds: false,
  },
  {
    name: 'scratches',
    flags: ['--delete-emptydir-data'],
    objects: (zone) => [app(zone, 'web', { podSpec: scratch })],
    evicted: ['web'],
    succeeds: true,
  },
  { name: 'grace', flags: ['--grace-period=7'], objects: web, evicted: ['web'], succeeds: true },
  {
    name: 'timeout',
    flags: ['--timeout=5s'],
    objects: (zone) => [app(zone, 'web'), app(zone, 'api')],
    budget: true,
    evicted: ['api'],
    succeeds: false,
  },
  {
    name: 'selector',
    flags: ['--pod-selector=app=web'],
    objects: (zone) => [app(zone, 'web'), app(zone, 'api')],
    evicted: ['web'],
    succeeds: true,
  },
  {
    name: 'disable',
    flags: ['--disable-eviction'],
    objects: web,
    budget: true,
    evicted: ['web'],
    succeeds: true,
  },
  {
    name: 'skip',
    flags: ['--skip-wait-for-delete-timeout=1'],
    objects: web,
    evicted: ['web'],
    succeeds: true,
  },
  {
    name: 'chunks',
    flags: ['--chunk-size=1'],
    objects: (zone) => [app(zone, 'web'), app(zone, 'api')],
    evicted: ['api', 'web'],
    succeeds: true,
  },
  { name: 'dry', flags: ['--dry-run=client'], objects: web, evicted: [], succeeds: true },
  { name: 'asked', flags: ['--dry-run=server'], objects: web, evicted: [], succeeds: true },
  { name: 'nodes', flags: ['--selector'], objects: web, evicted: ['web'], succeeds: true },
];

const sides = ['theirs', 'ours'] as const;
type Side = (typeof sides)[number];

describe('on twin nodes', { skip: withoutKubectl, concurrency: 2 }, () => {
  let cluster: TestCluster;
  let env: NodeJS.ProcessEnv;
  before(async () => {
    const zones = cases.flatMap((each) => sides.map((side) => zoneOf(each, side)));
    cluster = await startTestCluster({
      region: 'r',
      zones,
      nodesPerZone: 1,
      workloads: cases.flatMap((each) => sides.flatMap((side) => each.objects(zoneOf(each, side)))),
      budgets: cases
        .filter(({ budget }) => budget)
        .flatMap((each) =>
          sides.map((side) => pdb(zoneOf(each, side), 'web', { minAvailable: 1 })),
        ),
    });
    process.env.KUBECONFIG = cluster.kubeconfig;
    env = { PATH: process.env.PATH, HOME: cluster.directory, KUBECONFIG: cluster.kubeconfig };
    stuckPod(zoneOf({ name: 'skip' }, 'theirs'));
    stuckPod(zoneOf({ name: 'skip' }, 'ours'));
  });
  after(() => cluster.stop());

  /** A pod that a finalizer has kept from ending for a minute. */
  function stuckPod(zone: string): void {
    const stuck = pod(zone, 'stuck', { spec: { nodeName: `${zone}-1` } });
    const reference = { apiVersion: 'apps/v1', kind: 'ReplicaSet', name: 'x', uid: 'x' };
    const metadata = {
      ...stuck.metadata,
      finalizers: ['example.com/never'],
      ownerReferences: [{ ...reference, controller: true }],
    };
    const { api } = cluster;
    api.create('pods', { ...stuck, metadata });
    api.delete('pods', zone, 'stuck', { gracePeriodSeconds: 0 });
  }

  async function drain({ flags }: Case, side: Side, zone: string): Promise<Result> {
    const isSelected = flags.includes('--selector');
    const target = isSelected ? ['-l', new Scenario(cluster, zone).selector] : [`${zone}-1`];
    const rest = flags.filter((flag) => flag !== '--selector');
    if (side === 'theirs') return await execute('kubectl', ['drain', ...target, ...rest], env);
    return await run('drain-by-taint', 'maintenance=kernel:NoSchedule', ...target, ...rest);
  }

  for (const each of cases) {
    it(`${each.name}: ${each.flags.join(' ') || 'without a flag'}`, async () => {
      for (const side of sides) {
        const zone = zoneOf(each, side);
        const evicted = new Set<string>();
        const graces = new Set<number>();
        const forget = cluster.api.subscribe(({ resource, object: { metadata } }) => {
          if (resource !== 'pods' || metadata.namespace !== zone) return;
          if (!metadata.deletionTimestamp || metadata.name === 'stuck') return;
          evicted.add(metadata.labels?.app ?? '');
          graces.add(metadata.deletionGracePeriodSeconds ?? -1);
        });
        const { code, out, err } = await drain(each, side, zone);
        forget();
        const seen = `${side}\n${out}${err}`;
        assert.deepEqual([...evicted].sort(), each.evicted, seen);
        assert.equal(code === 0, each.succeeds, seen);
        if (each.name === 'grace') assert.ok(graces.has(7) && !graces.has(30), seen);
        const isCordoned = cluster.api.get('nodes', '', `${zone}-1`)?.spec.unschedulable === true;
        const isRefused = !each.succeeds && each.evicted.length === 0;
        const isDry = each.flags.some((flag) => flag.startsWith('--dry-run'));
        // A refused drain of kubectl leaves the node cordoned; ours changes nothing.
        const expected = !isDry && (side === 'theirs' || !isRefused);
        assert.equal(isCordoned, expected, seen);
      }
    });
  }
});

function zoneOf({ name }: Pick<Case, 'name'>, side: Side): string {
  return `${name}-${side}`;
}
