// The summary of a simulation for a pull request, for documents as `simulate -o json` prints them.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type {
  AppliedObject,
  BudgetSummary,
  Differences,
  RunDocument,
  SimulationDocument,
  WorkloadSummary,
} from '@taintmgr/page';
import { readingsText, summaryOf } from '../../../action/summary.ts';

const web = { kind: 'Deployment', namespace: 'shop', name: 'web' };

function workload(given: Partial<WorkloadSummary>): WorkloadSummary {
  return {
    ...{ ...web, wanted: 4, evictions: 0 },
    ...{ unavailableMax: 0, unavailablePercentMax: 0, worstAt: null, unavailableSeconds: 0 },
    ...{ downMax: 1, downPercentMax: 25, downWorstAt: 60, downWorstWanted: 4, downSeconds: 100 },
    ...{ outageSeconds: 0, podMinutesLost: 10, longestGap: null, overAt: null, downAtEnd: 0 },
    ...given,
  };
}

type Difference = Differences['workloads'][number];

interface Given {
  readonly workloads?: readonly WorkloadSummary[];
  readonly budgets?: readonly BudgetSummary[];
  /** The differences of the only workload; left out: none. */
  readonly differences?: Partial<Difference>;
  readonly rollout?: Partial<RunDocument['rollout']>;
}

function runOf(name: string, given: Given): RunDocument {
  const { workloads = [workload({})], budgets = [], differences, rollout } = given;
  const totals = { workloads: 1, downMax: 1, podMinutesLost: 10, evictions: 1, unplaced: 0 };
  const same = { evictions: 0, refusals: 0, nodesTainted: 0, budgets: [], totals };
  const none: Difference = {
    ...{ ...web, downMax: 0, downPercentMax: 0, downSeconds: 0, outageSeconds: 0 },
    ...{ podMinutesLost: 0, unavailableMax: 0, unavailableSeconds: 0, evictions: 0 },
    longestGapSeconds: 0,
  };
  return {
    ...{ name, semantics: 'taintmgr', events: [] },
    summary: {
      ...{ evictions: 1, loops: [], causes: [], failures: 0, refusals: 0, nodesTainted: 0 },
      ...{ unplaced: { pods: 0, atOnceMax: 0, atEnd: 0 }, workloads, budgets, jobs: [] },
      ...{ totals, namespaces: [], zones: [] },
    },
    differences: differences ? { ...same, workloads: [{ ...none, ...differences }] } : null,
    rollout: { seconds: 0, unfinished: [], closedBudgets: [], ...rollout },
    ...{ zones: [], nodes: [], workloads: [], budgets: [], jobs: [], pods: [], deadlines: [] },
    ...{ evictions: [], holds: [], refusals: [], failures: [], unplaced: [] },
  };
}

function documentOf(
  before: Given,
  after: Given,
  given: Partial<SimulationDocument> = {},
): SimulationDocument {
  return {
    ...{ apiVersion: 'taintmgr.dev/v1alpha1', kind: 'Simulation', source: 'cluster.json' },
    ...{ seed: 1, seeds: 5, startsAt: '2026-01-01T00:00:00Z', untilSeconds: 1800 },
    ...{ complete: true, missing: [], notes: [], assumptions: [], limits: [] },
    runs: [runOf('before', before), runOf('after', { differences: {}, ...after })],
    ...given,
  };
}

function said(simulation: SimulationDocument): string {
  return summaryOf({ findings: null, simulation, faults: [] });
}

it('names what decides about evictions, though nothing that was played differs', () => {
  const of = (kind: string, change: AppliedObject['change']): AppliedObject => {
    return {
      file: 'deploy/a.yaml',
      line: 1,
      ...{ kind, change },
      namespace: '',
      name: 'a',
      fields: [],
    };
  };
  const applied = [of('Node', 'changed'), of('EvictionPolicy', 'created'), of('Node', 'unchanged')];
  assert.match(
    said(documentOf({}, {}, { applied: [...applied, of('Deployment', 'changed')] })),
    /makes no difference for 1 workload and 0 budgets\. It changes what decides about evictions: Node a, EvictionPolicy a\.\*\*/,
  );
});

describe('a workload is', () => {
  const two = workload({ wanted: 2 });
  for (const [what, after, verdict, difference] of [
    ['no other', {}, 'makes no difference for 1 workload and 0 budgets', 'no difference'],
    [
      'worse where more of it is down at once',
      { differences: { downPercentMax: 25 } },
      'is worse for Deployment shop/web',
      '+25% down at once',
    ],
    [
      'worse where all of it is down',
      { differences: { outageSeconds: 90 } },
      'is worse for Deployment shop/web',
      '+1m30s all down',
    ],
    [
      'better where less is lost',
      { differences: { podMinutesLost: -4 } },
      'is better for Deployment shop/web',
      '-4 pod-minutes',
    ],
    [
      'worse where part of it is',
      { differences: { downSeconds: 50, podMinutesLost: -4 } },
      'is worse for Deployment shop/web',
      '+50s some down, -4 pod-minutes',
    ],
    [
      'neither where it is by less than a tenth',
      { differences: { downSeconds: 9, podMinutesLost: 0.9 } },
      'makes no difference for 1 workload and 0 budgets',
      '+9s some down, +0.9 pod-minutes',
    ],
    [
      'not better for being smaller',
      { workloads: [two], differences: { downSeconds: -50, podMinutesLost: -5 } },
      'makes no difference for 1 workload and 0 budgets',
      '-50s some down, -5 pod-minutes, -2 pods',
    ],
  ] as const) {
    it(what, () => {
      const summary = said(documentOf({}, after));
      assert.ok(summary.includes(`**This pull request ${verdict}.**`), summary);
      assert.ok(summary.includes(` | ${difference} |\n`), summary);
    });
  }
});

it('a workload that comes is new', () => {
  const quiet = { downMax: 0, podMinutesLost: 0, downSeconds: 0, wanted: 3 };
  const summary = said(
    documentOf({}, { workloads: [workload({}), workload({ ...quiet, name: 'new' })] }),
  );
  assert.match(summary, /^\| Deployment shop\/new \| - \| never down, asks for 3 \| new \|$/m);
});

it('a budget that is impossible before is not made so', () => {
  const budget = { namespace: 'shop', name: 'web', refusals: 3, belowMax: 0, belowSeconds: 0 };
  const closed = { rollout: { closedBudgets: [{ namespace: 'shop', name: 'web', pods: 4 }] } };
  const budgets = [budget];
  const made = said(documentOf({ budgets }, { budgets, ...closed }));
  assert.match(made, /\*\*This pull request makes a budget impossible: shop\/web\.\*\*/);
  const kept = said(documentOf({ budgets, ...closed }, { budgets, ...closed }));
  assert.match(kept, /\*\*This pull request makes no difference for 1 workload and 1 budget\.\*\*/);
  assert.match(kept, /^\| shop\/web \| never allows an eviction, 3 refused \| never/m);
});

it('a budget is not better for having fewer pods, and may be worse', () => {
  const budget = { namespace: 'shop', name: 'web', refusals: 3, belowMax: 2, belowSeconds: 60 };
  const budgets = [budget];
  const tracks = [
    { namespace: 'shop', name: 'web', workloads: ['Deployment shop/web'], states: [] },
  ];
  const verdictOf = (wanted: number, belowSeconds: number): string => {
    const { runs, ...simulation } = documentOf(
      { budgets },
      { budgets, workloads: [workload({ wanted })] },
    );
    const difference = { ...{ namespace: 'shop', name: 'web', refusals: 0, belowMax: 0 } };
    const [before, after] = runs.map((run) => ({ ...run, budgets: tracks }));
    assert.ok(before && after?.differences);
    const differences = { ...after.differences, budgets: [{ ...difference, belowSeconds }] };
    const summary = said({ ...simulation, runs: [before, { ...after, differences }] });
    return /\*\*This pull request (.*)\.\*\*/.exec(summary)?.[1] ?? summary;
  };
  assert.equal(verdictOf(4, -30), 'is better for budget shop/web');
  assert.equal(verdictOf(2, -30), 'makes no difference for 1 workload and 1 budget');
  assert.equal(verdictOf(2, 30), 'is worse for budget shop/web');
});

it('a workload of which no pods are left is no workload that loses nothing', () => {
  const summary = said(documentOf({}, { workloads: [] }));
  assert.match(summary, /\*\*This pull request leaves no pods of Deployment shop\/web\.\*\*/);
  assert.match(summary, /^\| Deployment shop\/web \| 1 of 4 down.* \| - \| no pods any more \|$/m);
});

it('what does not come to rest is said, and why', () => {
  const unfinished = [{ workload: 'Deployment shop/web', text: '1 of its pods fits on no node' }];
  const applied: readonly AppliedObject[] = [
    { ...web, file: 'a.yaml', line: 3, change: 'changed', fields: ['spec.replicas 4 -> 9'] },
  ];
  const summary = said(documentOf({}, { rollout: { unfinished } }, { applied }));
  assert.match(summary, /\*\*This pull request does not come to rest: Deployment shop\/web\.\*\*/);
  assert.match(summary, /^- Deployment shop\/web does not come to rest: 1 of its pods fits/m);
  assert.match(summary, /^- changed Deployment shop\/web \(a\.yaml:3\): spec\.replicas 4 -> 9$/m);
});

it('of a limit that nobody can tell it is said why', () => {
  const limit = { limit: 'down(shop/web, after) > 1', exceeded: false, readings: [] };
  const limits = [{ ...limit, unknown: 'shop/web: its pods fit on no node' }];
  const unknown = workload({ unknown: ['pods fit on no node'] });
  const summary = said(documentOf({}, { workloads: [unknown] }, { limits }));
  assert.match(summary, /\*\*This pull request leaves 1 limit unknown\.\*\*/);
  assert.match(summary, /^\| down.* \| \*\*unknown\*\* \| shop\/web: its pods fit on no node \|$/m);
  assert.match(summary, /^\| Deployment shop\/web &#63;|^\| Deployment shop\/web \? \|/m);
  assert.match(summary, /^- \? Deployment shop\/web: pods fit on no node$/m);
});

it('readings are of one workload each, with the run where there are several', () => {
  const of = { metric: 'lost', subject: 'shop/*', unit: 'number', worst: 'shop/web' } as const;
  const [after, before] = [
    { ...of, variant: 'after', value: 8 },
    { ...of, variant: 'before', value: 6.12 },
  ];
  assert.equal(readingsText([after, before]), 'shop/web: 8 after, 6.1 before');
  assert.equal(readingsText([after, after]), 'shop/web: 8');
  assert.equal(
    readingsText([after, { ...before, worst: 'shop/api' }]),
    'shop/web: 8 after; shop/api: 6.1 before',
  );
});

it('much of everything stays below what GitHub takes', () => {
  const long = '|<`'.repeat(100);
  const workloads = Array.from({ length: 2_000 }, (_, at) => workload({ name: `${long}${at}` }));
  const notes = workloads.map(({ name }) => name);
  const limits = notes.map((name) => {
    return { limit: name, exceeded: true, readings: [], exceededIn: 5 };
  });
  const findings = notes.map((text) => ({ level: 'error', file: text, line: 1, text }) as const);
  const simulation = documentOf({ workloads }, { workloads }, { notes, limits });
  const summary = summaryOf({ findings, simulation, faults: notes });
  assert.ok(Buffer.byteLength(summary) < 2 ** 20, String(Buffer.byteLength(summary)));
  assert.match(summary, /^And 1950 more\.$/m);
  assert.match(summary, /cut after 1000000 bytes/);
});
