import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { describe, it } from 'node:test';
import { fileURLToPath } from 'node:url';
import { gzipSync } from 'node:zlib';
import { deployment, pdb, statefulSet } from '@taintmgr/sim-cluster';
import { run } from '../../../world/run.ts';
import { temporaryFiles } from '../../../world/simulate-files.ts';
import { VirtualCluster } from '../../../world/virtual-cluster.ts';

const files = temporaryFiles();

interface Check {
  readonly from: string;
  readonly played: readonly string[];
  readonly unknown: readonly string[];
  readonly runs: readonly {
    readonly evictions: number;
    readonly foretold: number;
    readonly error: { readonly medianSeconds: number; readonly worstSeconds: number } | null;
    readonly errorInOrder: { readonly p90Seconds: number } | null;
    readonly closeSeeds: number;
    readonly causes: readonly string[];
    readonly pods: readonly {
      readonly pod: string;
      readonly by: string | null;
      readonly outcome: string;
      readonly errorSeconds: number | null;
    }[];
    readonly placements: { readonly real: number; readonly sameNode: number } | null;
    readonly workloads: readonly {
      readonly name: string;
      readonly podMinutesLost: number;
      readonly simulatedPodMinutesLost: number;
    }[];
  }[];
}

async function verified(
  ...args: readonly string[]
): Promise<Check & { readonly run: Check['runs'][number] }> {
  const { code, out, err } = await run('simulate', ...args, '-o', 'json');
  assert.equal(code, 0, err);
  const check: Check = JSON.parse(out);
  return { ...check, run: check.runs[0] ?? assert.fail('no run') };
}

const forAMinute = ['not-ready', 'unreachable'].map((name) => ({
  ...{ key: `node.kubernetes.io/${name}`, operator: 'Exists', effect: 'NoExecute' },
  tolerationSeconds: 60,
}));
const podSpec = { tolerations: forAMinute };

function shop(timing: ConstructorParameters<typeof VirtualCluster>[1] = {}): VirtualCluster {
  return new VirtualCluster(
    {
      ...{ region: 'r', zones: ['a', 'b', 'c'], nodesPerZone: 2 },
      workloads: [
        deployment('shop', 'web', { replicas: 9, podSpec }),
        statefulSet('shop', 'db', { replicas: 3, podSpec }),
      ],
      budgets: [pdb('shop', 'web', { maxUnavailable: 1 })],
    },
    timing,
  );
}

function written(name: string, items: readonly object[]): string {
  return files.write(name, JSON.stringify({ apiVersion: 'v1', kind: 'List', items }));
}

/** Plays something in a cluster between two snapshots; the flags that name them. */
function between(world: VirtualCluster, happen: () => void): readonly string[] {
  const before = written('before.json', world.snapshot());
  happen();
  return ['-f', before, '--verify', written('after.json', world.snapshot())];
}

/** A zone dies, and its pods are evicted. */
function loseZone(world: VirtualCluster): void {
  world.run(7_000);
  for (const name of ['a-1', 'a-2']) world.cluster.node(name).stop();
  world.run(293_000);
}

describe('a recording of a real control plane that lost a zone', () => {
  const recording = fileURLToPath(
    new URL('../../../../../../docs/scenarios/real-zone-outage.jsonl.gz', import.meta.url),
  );

  it('shows the error in seconds, and names what it comes from', async () => {
    const { run: one } = await verified('--verify', recording, '--seeds', '5');
    assert.equal(one.evictions, 12);
    assert.equal(one.foretold, 12);
    assert.ok(one.closeSeeds >= 1, `within 3s with ${one.closeSeeds} of 5 seeds`);
    const causes = one.causes.join('\n');
    assert.match(causes, /which chance decides: za-0 14.1s late/);
    assert.match(causes, /12 of 12 pods left inside the band of 5 seeds/);
    assert.match(causes, /kubelets ended 12 terminating pods 20.9s later than simulated/);
    assert.match(causes, /4 pods never became ready again on nodes that came back/);
  });

  it('is a snapshot to -f', async () => {
    const { code, out, err } = await run('simulate', '-f', recording, '--until', '1m');
    assert.equal(code, 0, err);
    assert.match(out, /\(8 nodes, 9 workloads\)/);
    assert.match(out, /lines of what happened later, which --verify plays/);
    const { run: one } = await verified('-f', recording, '--verify', recording);
    assert.equal(one.foretold, 12);
  });

  it('shows both rules with --compare', async () => {
    const { code, out } = await run('simulate', '--verify', recording, '--compare');
    assert.equal(code, 0);
    assert.match(out, /^kube-controller-manager: 12 of 12 evictions predicted;/m);
    assert.match(out, /^taintmgr: \d+ of 12 evictions predicted;/m);
  });

  it('may be said by a script', async () => {
    const script = files.write('dead.yaml', 'events:\n- {at: 0s, stopKubelet: {zone: za}}\n');
    const { played, run: one } = await verified('--verify', recording, '--script', script);
    assert.deepEqual(played, [script]);
    assert.equal(one.foretold, 12);
  });
});

describe('two snapshots', () => {
  it('of an outage: evictions foretold to the passes of kube-controller-manager', async () => {
    const world = shop();
    const args = between(world, () => loseZone(world));
    const { from, run: one } = await verified(...args, '--seeds', '10');
    assert.equal(from, 'snapshot');
    assert.equal(one.evictions, 4);
    assert.equal(one.foretold, 4);
    assert.ok(one.closeSeeds >= 1, JSON.stringify(one.pods));
  });

  it('with a taint by hand: foretold to the second', async () => {
    const world = shop();
    const args = between(world, () => {
      world.run(10_000);
      const node = world.api.get('nodes', '', 'b-1') ?? assert.fail();
      const timeAdded = new Date(world.clock.now()).toISOString().replace(/\.\d+/, '');
      const taints = [{ key: 'maintenance', effect: 'NoExecute', timeAdded }];
      world.api.update('nodes', { ...node, spec: { ...node.spec, taints } });
      world.run(60_000);
    });
    const { played, run: one } = await verified(...args);
    assert.match(played.join('\n'), /"taint":\{"node":"b-1","taint":"maintenance:NoExecute"\}/);
    assert.ok(one.evictions >= 1 && one.foretold === one.evictions);
    assert.ok(Math.abs(one.error?.worstSeconds ?? 9) <= 1, JSON.stringify(one.error));
  });

  it('of a node that was away and is back: Events beside it say since when', async () => {
    const world = shop();
    const before = written('before.json', world.snapshot());
    world.run(7_000);
    world.cluster.node('a-1').stop();
    world.run(100_000);
    world.cluster.node('a-1').resume();
    world.run(30_000);
    const alone = written('after.json', world.snapshot());
    const { unknown } = await verified('-f', before, '--verify', alone);
    assert.ok(unknown.includes('since when node a-1 was not ready'), unknown.join('\n'));
    const both = written('both.json', [...world.snapshot(), ...world.api.list('events')]);
    const { played } = await verified('-f', before, '--verify', both);
    assert.match(
      played.join('\n'),
      /"stopKubelet":\{"node":"a-1"\}[\s\S]*"resumeKubelet":\{"node":"a-1"\}/,
    );
  });

  it('in which nodes came and went', async () => {
    const world = shop();
    const args = between(world, () => {
      world.run(10_000);
      world.cluster.addNode({ name: 'c-3', zone: 'c', region: 'r' });
      world.cluster.removeNode('b-2');
      world.run(30_000);
    });
    const { played, unknown } = await verified(...args);
    assert.match(played.join('\n'), /"addNode":\{"name":"c-3","zone":"c"/);
    assert.match(unknown.join('\n'), /when node b-2 was deleted/);
  });

  it('without nodes: says what it does not show', async () => {
    const world = shop();
    const before = written('before.json', world.snapshot());
    world.run(60_000);
    world.api.delete('pods', 'shop', 'db-0');
    world.run(60_000);
    const pods = world.snapshot().filter((one) => 'kind' in one && one.kind === 'Pod');
    const { unknown } = await verified('-f', before, '--verify', written('after.json', pods));
    assert.match(unknown.join('\n'), /^what became of Nodes: there is none in \S+after\.json$/m);
  });

  it('in which nothing happened: nothing to say', async () => {
    const world = shop();
    const args = between(world, () => world.run(120_000));
    const { played, run: one } = await verified(...args);
    assert.deepEqual(played, []);
    assert.deepEqual([one.evictions, one.error], [0, null]);
    const { out } = await run('simulate', ...args);
    assert.match(out, /^no pod was evicted\n\n.*nothing\s+happened, seed 1\n(Note: .*\n)*$/);
  });
});

describe('what somebody did', () => {
  it('pods deleted are played, and not foretold', async () => {
    const world = shop();
    const args = between(world, () => {
      world.run(10_000);
      world.api.delete('pods', 'shop', 'db-0');
      world.run(60_000);
    });
    const { run: one, unknown } = await verified(...args);
    assert.deepEqual([one.evictions, one.foretold], [0, 0]);
    assert.ok(
      unknown.some((text) => /^1 pod left, and nothing says when$/.test(text)),
      unknown.join(),
    );
  });

  it('scaling and new templates are played where something says when', async () => {
    const world = shop();
    const args = between(world, () => {
      world.run(10_000);
      const web = world.api.get('deployments', 'shop', 'web') ?? assert.fail();
      world.api.update('deployments', { ...web, spec: { ...web.spec, replicas: 4 } });
      world.run(60_000);
    });
    const { unknown } = await verified(...args);
    const text = 'Deployment shop/web was changed, and nothing says when: not played';
    assert.ok(unknown.includes(text), unknown.join('\n'));
  });
});

/** Records what happens in a cluster; the flag that names the recording. */
function recorded(
  world: VirtualCluster,
  happen: (recording: ReturnType<VirtualCluster['record']>) => void,
  aheadMs: number = 0,
): readonly string[] {
  const recording = world.record({ aheadMs });
  happen(recording);
  return ['--verify', files.write('recording.jsonl', recording.end())];
}

describe('a recording of a simulated cluster', () => {
  it('of an outage: an error of about zero', async () => {
    const world = shop();
    const args = recorded(world, () => {
      loseZone(world);
      for (const name of ['a-1', 'a-2']) world.cluster.node(name).resume();
      world.run(60_000);
    });
    const { from, unknown, run: one } = await verified(...args, '--seeds', '10');
    assert.equal(from, 'recording');
    assert.deepEqual(unknown, []);
    assert.deepEqual([one.evictions, one.foretold], [4, 4]);
    assert.ok(one.closeSeeds >= 1, JSON.stringify(one.pods));
    assert.ok(one.placements && one.placements.real >= 4);
    assert.ok(one.errorInOrder && one.errorInOrder.p90Seconds <= 5, JSON.stringify(one.pods));
    for (const { name, podMinutesLost, simulatedPodMinutesLost: foretold } of one.workloads) {
      assert.ok(Math.abs(podMinutesLost - foretold) < 0.6, name);
    }
  });

  it('names pods that somebody deleted', async () => {
    const world = shop();
    const args = recorded(world, () => {
      world.run(10_000);
      world.api.delete('pods', 'shop', 'db-0');
      world.run(60_000);
    });
    const { played, run: one } = await verified(...args);
    assert.deepEqual(played, ['{"at":"18.227s","deletePod":{"pod":"shop/db-0"}}']);
    assert.deepEqual([one.evictions, one.foretold], [0, 0]);
    const db = one.pods.find(({ pod }) => pod === 'db-0');
    assert.deepEqual([db?.by, db?.outcome], ['somebody', 'not foretold']);
    const { out } = await run('simulate', ...args);
    assert.match(out, /not predicted: 1\s+deletion by other clients, played as it was/);
    const { run: drawn } = await verified(...args, '--seeds', '3');
    assert.ok(drawn.causes.every((cause) => !cause.includes('inside the band')));
  });

  it('plays scaling, cordons and new templates', async () => {
    const world = shop();
    const args = recorded(world, () => {
      world.run(10_000);
      const node = world.api.get('nodes', '', 'b-1') ?? assert.fail();
      world.api.update('nodes', { ...node, spec: { ...node.spec, unschedulable: true } });
      const web = world.api.get('deployments', 'shop', 'web') ?? assert.fail();
      world.api.update('deployments', { ...web, spec: { ...web.spec, replicas: 4 } });
      world.run(30_000);
      const smaller = world.api.get('deployments', 'shop', 'web') ?? assert.fail();
      const { template } = smaller.spec;
      const metadata = { ...template.metadata, annotations: { version: '2' } };
      const spec = { ...smaller.spec, template: { ...template, metadata } };
      world.api.update('deployments', { ...smaller, spec });
      world.run(60_000);
    });
    const { played, run: one } = await verified(...args);
    const text = played.join('\n');
    assert.match(text, /"cordon":\{"node":"b-1"\}/);
    assert.match(text, /"scale":\{"workload":"shop\/web","replicas":4\}/);
    assert.match(text, /"rollOut":\{"resource":"deployments","workload":"shop\/web"/);
    assert.doesNotMatch(text, /deletePod/);
    const web = one.pods.filter(({ pod, by }) => pod.startsWith('web-') && by === 'controller');
    assert.equal(web.length, 9);
    assert.ok(web.every(({ outcome }) => outcome === 'foretold'));
  });

  it('names kubelets that end pods late', async () => {
    const world = shop({ podStopMs: [29_000, 29_000] });
    const args = recorded(world, () => {
      loseZone(world);
      for (const name of ['a-1', 'a-2']) world.cluster.node(name).resume();
      world.run(60_000);
    });
    const { run: one } = await verified(...args);
    assert.match(one.causes.join('\n'), /kubelets ended 4 terminating pods 2\d(\.\d)?s later/);
  });

  it('names a gap, and takes what it hides for unknown', async () => {
    const world = shop();
    const args = recorded(world, ({ link }) => {
      world.run(20_000);
      link.cut();
      for (const name of ['a-1', 'a-2']) world.cluster.node(name).stop();
      world.run(300_000);
      link.mend();
      world.run(60_000);
    });
    const { unknown, run: one } = await verified(...args);
    assert.ok(
      unknown.some((text) => /^nothing is known of Pods for \dm\d+s from/.test(text)),
      unknown.join('\n'),
    );
    const gone = one.pods.filter(({ by }) => by !== null);
    assert.ok(gone.length > 0 && gone.every(({ errorSeconds }) => errorSeconds === null));
  });

  it('sets a clock right that is off, and says so', async () => {
    const world = shop();
    const args = recorded(world, () => loseZone(world), 137_000);
    const { unknown, run: one } = await verified(...args, '--seeds', '10');
    assert.match(
      unknown.join('\n'),
      /the clock of the recorder was 2m1\ds ahead of the API server's/,
    );
    assert.deepEqual([one.evictions, one.foretold], [4, 4]);
    assert.ok(one.closeSeeds >= 1, JSON.stringify(one.pods));
  });

  it('without an end, and with a line that is none, says so', async () => {
    const world = shop();
    const recording = world.record();
    world.run(30_000);
    const text = recording
      .end()
      .replace(/\{[^\n]*"END"[^\n]*\n$/, '{"at":"2026-06-01T08:02:30.000Z","typ');
    const { unknown } = await verified('--verify', files.write('cut.jsonl', text));
    assert.match(unknown.join('\n'), /the recording has no end: its writer was killed/);
    assert.match(unknown.join('\n'), /1 line of the recording cannot be read, line 3 first/);
  });

  it('with objects that no API server makes: takes them for lines that are none', async () => {
    const world = shop();
    const recording = world.record();
    world.run(30_000);
    const odd = [
      { kind: 'Pod', apiVersion: 'v1', metadata: { name: 'q', uid: 'r' }, spec: 7 },
      { kind: 'Pod', apiVersion: 'v1', metadata: { name: 5, namespace: {}, uid: [] } },
      { kind: 'Node', apiVersion: 'v1', metadata: { name: 'a-1', uid: 'q' }, spec: { taints: 5 } },
      { kind: 'Lease', metadata: { name: 'a-1' } },
    ].map((object) => JSON.stringify({ at: '2026-06-01T08:02:20.000Z', type: 'MODIFIED', object }));
    const text = recording.end().replace(/(?=\{[^\n]*"END")/, `${odd.join('\n')}\n`);
    const { unknown } = await verified('--verify', files.write('odd.jsonl', text));
    assert.match(unknown.join('\n'), /4 lines of the recording cannot be read, line 3 first/);
  });
});

describe('Events', () => {
  it('say when pods were evicted, and not which stayed', async () => {
    const world = shop();
    const before = written('before.json', world.snapshot());
    loseZone(world);
    const after = written('events.json', world.api.list('events'));
    const {
      from,
      unknown,
      run: one,
    } = await verified('-f', before, '--verify', after, '--seeds', '10');
    assert.equal(from, 'Events');
    assert.deepEqual(unknown, ['Events do not show pods that stayed']);
    assert.deepEqual([one.evictions, one.foretold], [4, 4]);
    assert.ok(one.closeSeeds >= 1, JSON.stringify(one.pods));
    assert.equal(one.placements, null);
    assert.deepEqual(one.workloads, []);
    assert.deepEqual(
      new Set(one.pods.map(({ outcome }) => outcome)),
      new Set(['foretold', 'unknown']),
    );
  });
});

describe('what cannot be checked is refused, and says what to do', () => {
  const topology = 'apiVersion: taintmgr.dev/v1alpha1\nkind: Topology\nnodes: [{zone: a}]\n';
  const cases: readonly (readonly [string, () => readonly string[], RegExp])[] = [
    [
      'a file that is not there',
      () => ['--verify', files.path('none.json')],
      /--verify \S+none\.json: no such file/,
    ],
    [
      'an empty one',
      () => ['--verify', files.write('empty.json', '')],
      /empty\.json:1:1: want a second snapshot, Events/,
    ],
    [
      'one that is no more than cut off',
      () => {
        const path = files.path('cut.jsonl.gz');
        writeFileSync(path, Uint8Array.of(0x1f, 0x8b, 8, 0, 0));
        return ['--verify', path];
      },
      /cut\.jsonl\.gz: it is not whole/,
    ],
    [
      'one that unpacks to more than a text can be',
      () => {
        const path = files.path('large.jsonl.gz');
        // Members of a gzip file follow one another.
        const member = gzipSync(Buffer.alloc(2 ** 25));
        writeFileSync(path, Buffer.concat(Array.from({ length: 16 }, () => member)));
        return ['--verify', path];
      },
      /large\.jsonl\.gz: it unpacks to more than 512 MiB/,
    ],
    [
      'nothing before',
      () => ['--verify', written('after.json', shop().snapshot())],
      /it does not say what was before; want -f BEFORE/,
    ],
    [
      'a topology before',
      () => {
        const after = written('after.json', shop().snapshot());
        return ['-f', files.write('t.yaml', topology), '--verify', after];
      },
      /t\.yaml is a topology, want what a cluster was like: -f BEFORE/,
    ],
    [
      'the two the wrong way round',
      () => {
        const world = shop();
        const first = written('first.json', world.snapshot());
        world.run(60_000);
        return ['-f', written('second.json', world.snapshot()), '--verify', first];
      },
      /first\.json: it is not after \S+second\.json/,
    ],
    [
      'a snapshot of another cluster',
      () => {
        const [one, other] = ['1', '2'].map((uid) => {
          const world = shop();
          if (uid === '2') world.run(60_000);
          const objects = world
            .snapshot()
            .filter((object) => !JSON.stringify(object).includes('"kind":"Namespace"'));
          const metadata = { name: 'kube-system', uid };
          return [...objects, { apiVersion: 'v1', kind: 'Namespace', metadata, spec: {} }];
        });
        assert.ok(one && other);
        return ['-f', written('one.json', one), '--verify', written('other.json', other)];
      },
      /other\.json: it is of another cluster: namespace kube-system has uid 2, before 1/,
    ],
    [
      'with flags of another question',
      () => ['--verify', 'x', '--fail-if', 'down(shop/web) > 1'],
      /'--verify <file>' cannot be used with option '--fail-if <limit>'/,
    ],
    [
      'with how something would be lost',
      () => ['--verify', 'x', '--by', 'drain'],
      /'--verify <file>' cannot be used with option '--by <how>'/,
    ],
  ];
  for (const [name, args, message] of cases) {
    it(name, async () => {
      const { code, out, err } = await run('simulate', ...args());
      assert.equal(code, 1);
      assert.equal(out, '');
      assert.match(err, message);
    });
  }
});
