// Every flag of drain-by-taint sets a field of a NodeDrain, or says why it has none; every field has a
// flag, or stands among those that only a file has.
import assert from 'node:assert/strict';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, describe, it } from 'node:test';
import { customResourceDefinitions, policyApiVersion } from '@taintmgr/k8s-adapter/kinds';
import {
  type DrainFlag,
  type DrainFlags,
  drainCommand,
  drainFlags,
  flagText,
} from '../../../src/commands/drain-by-taint/flags.ts';
import { type DrainRequest, readRequest } from '../../../src/commands/drain-by-taint/settings.ts';
import { CapturedOutput } from '../../world/captured-output.ts';

const page = readFileSync(new URL('../../../../../docs/drain-flags.md', import.meta.url), 'utf8');

/** A command line with each flag that has a field, and what it makes of that field. */
const cases: readonly (readonly [flag: DrainFlag, line: string, value: unknown])[] = [
  [
    'selector',
    '-l pool=blue --server-side',
    { matchExpressions: [{ key: 'pool', operator: 'In', values: ['blue'] }] },
  ],
  ['force', '--force', true],
  ['deleteEmptydirData', '--delete-emptydir-data', true],
  ['gracePeriod', '--grace-period=7', 7],
  ['byPriority', '--by-priority', 'ByPriority'],
  [
    'lastPods',
    '--last-pods logging --last-pods db-*/tier=storage --last-pods /app=cni',
    [
      { namespaces: ['logging'] },
      {
        namespaces: ['db-*'],
        podSelector: { matchExpressions: [{ key: 'tier', operator: 'In', values: ['storage'] }] },
      },
      { podSelector: { matchExpressions: [{ key: 'app', operator: 'In', values: ['cni'] }] } },
    ],
  ],
  ['waitCompleted', '--wait-completed=90m', '90m'],
  ['waitDetached', '--wait-detached=2m', '2m'],
  ['restartSingleReplicas', '--restart-single-replicas', 'RolloutRestart'],
  ['now', '--now', 'NoWait'],
  ['ignoreTolerations', '--ignore-tolerations', 'Ignore'],
  ['pdbPolicy', '--pdb-policy=delete-after:1h', { policy: 'DeleteAfter', deleteAfter: '1h' }],
  ['disableEviction', '--disable-eviction', { policy: 'Ignore' }],
  ['maxParallelNodes', '--max-parallel-nodes=25%', '25%'],
  ['heldUpNodes', '--held-up-nodes=0', 0],
  ['maxParallelPods', '--max-parallel-pods=50', 50],
  ['maxUnavailable', '--max-unavailable=1', 1],
  ['zoneSerial', '--zone-serial', 'ByZone'],
  [
    'wave',
    '--wave ring=canary --wave !spot',
    [
      {
        name: 'ring=canary',
        nodeSelector: { matchExpressions: [{ key: 'ring', operator: 'In', values: ['canary'] }] },
      },
      {
        name: '!spot',
        nodeSelector: { matchExpressions: [{ key: 'spot', operator: 'DoesNotExist' }] },
      },
    ],
  ],
  ['heed', '--heed karpenter.sh/do-not-disrupt', ['karpenter.sh/do-not-disrupt']],
  ['pauseLabel', '--pause-label example.com/keep', 'example.com/keep'],
  ['timeout', '--timeout=10m', '10m'],
  ['skipWaitForDeleteTimeout', '--skip-wait-for-delete-timeout=30', '30s'],
  ['rollbackOnFailure', '--rollback-on-failure', 'RollBack'],
  ['cordon', '--no-cordon', 'Never'],
  ['name', '--name kernel', 'kernel'],
];

/** What a command line asks for. */
async function requestOf(line: string): Promise<{ readonly manifest: object }> {
  const command = drainCommand().exitOverride();
  command.parse(
    line.split(' ').filter((word) => word !== ''),
    { from: 'user' },
  );
  const names = command.options.map((option) => option.attributeName());
  const given = new Set(names.filter((name) => command.getOptionValueSource(name) === 'cli'));
  const flags = command.opts() as DrainFlags & Parameters<typeof readRequest>[0]['flags'];
  const [taint, ...nodes] = command.args;
  return await readRequest({ flags, given, output: new CapturedOutput() }, taint, nodes);
}

function valueAt(object: unknown, path: string): unknown {
  return path.split('.').reduce((value: unknown, key) => {
    return value instanceof Object && key in value ? value[key as keyof typeof value] : undefined;
  }, object);
}

interface Schema {
  readonly properties?: Readonly<Record<string, Schema>>;
}

/** The paths of all fields that hold no others; what a list or a selector holds does not count. */
function fieldsOf(schema: Schema, path: string): readonly string[] {
  const members = Object.entries(schema.properties ?? {});
  if (members.length === 0 || 'matchLabels' in (schema.properties ?? {})) return [path];
  return members.flatMap(([name, member]) => fieldsOf(member, `${path}.${name}`));
}

interface Definition {
  readonly names: { readonly kind: string };
  readonly versions: readonly { readonly schema: { readonly openAPIV3Schema: Schema } }[];
}

function allFields(): readonly string[] {
  const definitions = customResourceDefinitions().map(({ spec }): Definition => {
    return JSON.parse(JSON.stringify(spec));
  });
  const definition = definitions.find(({ names }) => names.kind === 'NodeDrain');
  const schema = definition?.versions[0]?.schema.openAPIV3Schema;
  return fieldsOf(schema?.properties?.spec ?? assert.fail(), 'spec');
}

/** The fields that the page names as those that only a file has. */
function fileOnly(): readonly string[] {
  const [, section = ''] = page.split('## Fields that only a file has\n');
  const [text = ''] = section.split('\n## ');
  return Array.from(text.matchAll(/`(spec\.[^`]+)`/g), ([, name = '']) => name);
}

describe('the flags of drain-by-taint and the fields of a NodeDrain', () => {
  for (const [flag, line, value] of cases) {
    const field = drainFlags[flag].field ?? assert.fail();
    it(`${line}: ${field}`, async () => {
      const isSelector = flag === 'selector';
      const { manifest } = await requestOf(`maintenance=kernel ${isSelector ? '' : 'a-1 '}${line}`);
      assert.deepEqual(valueAt(manifest, field), value);
      const { manifest: plain } = await requestOf('maintenance=kernel a-1');
      assert.notDeepEqual(valueAt(plain, field), value);
    });
  }

  it('each flag with a field has a case above', () => {
    const flags = Object.entries(drainFlags).filter(([, { field }]) => field !== null);
    const names = flags.map(([flag]) => flag);
    assert.deepEqual(names.sort(), cases.map(([flag]) => flag as string).sort());
  });

  it('each flag that the help has is looked at', () => {
    const known = Object.keys(drainFlags);
    const own = drainCommand().options.map((option) => option.attributeName());
    const others = ['output', 'headers', 'policy'];
    assert.deepEqual(own.filter((flag) => !others.includes(flag)).sort(), known.sort());
  });

  it('each field has a flag, is an argument, or stands among those that only a file has', () => {
    const byFlags = Object.values(drainFlags).flatMap(({ field }) => field ?? []);
    const isSet = (path: string): boolean =>
      [...byFlags, 'spec.nodes', 'spec.taint'].some(
        (field) => path === field || path.startsWith(`${field}.`),
      );
    const missing = allFields().filter((path) => !isSet(path));
    assert.deepEqual([...fileOnly()].sort(), [...missing].sort());
  });
});

describe('what a flag of a drain refuses', () => {
  const faults: readonly (readonly [line: string, text: RegExp])[] = [
    [
      '--max-parallel-nodes=20000',
      /^--max-parallel-nodes: spec.limits.nodesAtOnce: Invalid value: 20000: want a whole number from 0 to 10000, or a part such as 10%$/,
    ],
    [
      '--max-unavailable=0',
      /^--max-unavailable: spec.limits.maxUnavailable: Invalid value: 0: want a whole number from 1 to 10000/,
    ],
    [
      '--last-pods app=web',
      /^--last-pods: got "app=web", want NAMESPACE, NAMESPACE\/SELECTOR such as logging\/app=shipper, or \/SELECTOR$/,
    ],
    [
      '--last-pods LOGS',
      /^--last-pods: spec.pods.last\[0\].namespaces\[0\]: Invalid value: "LOGS": want the name of a namespace/,
    ],
    ['--wave a=,=', /^--wave: got "a=,=", want a label selector such as pool=blue,tier!=db$/],
    ['--wave a=b --wave a=b', /^--wave: spec.waves: Invalid value: .*want each name once$/],
    [
      '--pause-label a=b',
      /^--pause-label: spec.heeds.pauseLabel: Invalid value: "a=b": want the key of a label such as example.com\/keep$/,
    ],
    ['--name Kernel', /^--name: metadata.name: Invalid value: "Kernel"/],
  ];
  for (const [line, text] of faults) {
    it(line, async () => {
      await assert.rejects(requestOf(`maintenance=kernel a-1 ${line}`), { message: text });
    });
  }
});

// What a drain by a file takes from it, and what it refuses beside it.
describe('a drain by a file', () => {
  const directory = mkdtempSync(join(tmpdir(), 'kubectl-taintmgr-test-'));
  after(() => rmSync(directory, { recursive: true }));

  /** What a file with such a spec asks for, with these words and flags on the command line beside it. */
  function requestOf(
    spec: object,
    words: readonly string[] = [],
    given: readonly string[] = [],
  ): Promise<DrainRequest> {
    const filename = join(directory, 'drain.json');
    const taint = { key: 'maintenance', effect: 'NoSchedule' };
    const manifest = { apiVersion: policyApiVersion, kind: 'NodeDrain', metadata: { name: 'd' } };
    writeFileSync(
      filename,
      JSON.stringify({ ...manifest, spec: { nodes: ['n1'], taint, ...spec } }),
    );
    const command = drainCommand().exitOverride();
    command.parse(['-f', filename, ...words], { from: 'user' });
    const flags = command.opts() as DrainFlags & Parameters<typeof readRequest>[0]['flags'];
    const invocation = { flags, given: new Set(given), output: new CapturedOutput() };
    return readRequest(invocation, undefined, []);
  }

  describe('a drain by a file', () => {
    const policies = [
      [{}, { kind: 'respect' }],
      [{ policy: 'Ignore' }, { kind: 'ignore' }],
      [
        { policy: 'DeleteAfter', deleteAfter: '1h' },
        { kind: 'deleteAfter', afterMs: 3_600_000 },
      ],
    ] as const;
    for (const [budgets, expected] of policies) {
      it(`asks budgets as it says: ${expected.kind}`, async () => {
        assert.deepEqual((await requestOf({ budgets })).budgets, expected);
      });
    }

    const selected = { nodes: undefined, nodeSelector: { matchLabels: { a: 'b' } } };
    const onServerOnly: readonly (readonly [text: string, spec: object])[] = [
      ['spec.laterNodes: Drain', { ...selected, laterNodes: 'Drain' }],
      ['spec.paused: true', { paused: true }],
      ['spec.nodeConditions: Publish', { nodeConditions: 'Publish' }],
      ['spec.maintenancePlanned: Require', { ...selected, maintenancePlanned: 'Require' }],
      ['spec.pods.evictBy: EvictionRequest', { pods: { evictBy: 'EvictionRequest' } }],
      ['spec.whileClosed: RollBack', { whileClosed: 'RollBack' }],
    ];
    for (const [text, spec] of onServerOnly) {
      it(`refuses what only a controller carries out: ${text}`, async () => {
        await assert.rejects(requestOf(spec), {
          message: `--filename: ${text} is only there with --server-side`,
        });
        await assert.doesNotReject(requestOf(spec, ['--server-side']));
      });
    }

    it('takes no flag beside it that sets a field, and no --pod-selector', async () => {
      const names = Object.keys(drainFlags) as DrainFlag[];
      const setting = names.filter((name) => drainFlags[name].field !== null);
      for (const flag of [...setting, 'podSelector'] as const) {
        const { message } = await requestOf({}, [], [flag]).then(
          () => assert.fail(`${flag} is taken`),
          (error: Error) => error,
        );
        assert.ok(
          message.startsWith(`--filename and ${flagText(flag)} exclude each other: `),
          message,
        );
      }
    });
  });
});
