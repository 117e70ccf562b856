import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Event, Outcome, Pod } from '@taintmgr/core';
import {
  type Budget,
  type DrainCommand,
  type DrainConfig,
  DrainMachine,
  resolveDrainConfig,
} from '@taintmgr/core/drain';
import type { EvictionPause } from '@taintmgr/core/policy';
import { renderLeft, verdictsOf } from '../../../src/commands/drain-by-taint/failure-report.ts';
import { resultOf } from '../../../src/commands/drain-by-taint/outcome.ts';
import { Progress } from '../../../src/commands/drain-by-taint/progress.ts';
import { progressLine } from '../../../src/commands/drain-by-taint/progress-line.ts';
import { CapturedOutput } from '../../world/captured-output.ts';
import { node, now, pod, taint, tolerates } from '../../world/values.ts';

const maintenance = taint('maintenance=kernel:NoExecute');
const refusal = 'The disruption budget web needs 2 healthy pods and has 2 currently';
const blocked: Outcome = { kind: 'blocked', message: refusal, retryAfter: null };

/** A drain that has begun, whose requests a test answers. */
class Drain {
  readonly machine: DrainMachine;
  readonly output: CapturedOutput;
  readonly progress: Progress;
  readonly #ids = new Map<string, string>();

  constructor(pods: readonly Pod[], options: Partial<DrainConfig> = {}, isWatched = false) {
    const names = [...new Set(pods.map(({ nodeName }) => nodeName))];
    const targets = names.map((name) => ({ name, zone: '' }));
    this.machine = new DrainMachine(
      resolveDrainConfig({ taint: maintenance, targets, nodesAtOnceMax: 0, ...options }),
    );
    this.output = new CapturedOutput(isWatched);
    const { output } = this;
    const live = isWatched
      ? { show: (text: string) => output.shown.push(text), clear: () => {} }
      : null;
    this.progress = new Progress({ output, say: output.out, live }, now);
    const tainted = { ...(options.taint ?? maintenance), timeAdded: now };
    for (const name of names) this.feed({ kind: 'nodeUpsert', node: node(name, tainted) });
    for (const one of pods) this.feed({ kind: 'podUpsert', pod: one });
    this.feed({ kind: 'synced' });
  }

  feed(event: Event, at: number = now): void {
    for (const each of [event, { kind: 'tick' } as const, { kind: 'tick' } as const]) {
      for (const command of this.machine.handle(at, each)) this.#remember(command);
    }
    for (const note of this.machine.takeNotes()) this.progress.note(note, this.machine);
  }

  answer(name: string, outcome: Outcome, at: number = now): void {
    this.feed({ kind: 'result', id: this.#ids.get(name) ?? 'unknown', outcome }, at);
  }

  gone(one: Pod, at: number = now): void {
    this.feed({ kind: 'podDelete', uid: one.uid }, at);
  }

  #remember(command: DrainCommand): void {
    if ('id' in command && 'pod' in command) this.#ids.set(command.pod.name, command.id);
  }
}

const web = pod('web-0');
const db = pod('db-0');
const night: EvictionPause = {
  ...{ name: 'night', uid: '', reason: '', until: null, since: now },
  ...{ readiness: false, deadlines: true },
  scope: { zones: [], nodes: null, taintKeys: [], namespaces: ['shop'] },
};

describe('the progress of a drain', () => {
  it('gives a line for each pod that went and each node that is done', () => {
    const drain = new Drain([web]);
    drain.answer('web-0', { kind: 'done' });
    drain.gone(web, now + 3210);
    assert.equal(
      drain.output.outText,
      'node/n1 already tainted\npod/web-0 evicted (shop, n1, 3.2s)\nnode/n1 drained (1 pod, 3s)\n',
    );
  });

  it('says when a pod was deleted, and when it went by itself', () => {
    const other = pod('db-0', { deletionTimestamp: now });
    const drain = new Drain([web, other], {
      budgets: { kind: 'ignore' },
      leaving: new Set([other.uid]),
    });
    drain.answer('web-0', { kind: 'done' }, now + 50);
    drain.gone(web, now + 100);
    drain.gone(other, now + 200);
    assert.equal(
      drain.output.outText,
      'node/n1 already tainted\npod/web-0 deleted (shop, n1, 0.1s)\npod/db-0 gone (shop, n1)\n' +
        'node/n1 drained (2 pods, 0s)\n',
    );
  });

  it('says who deleted a pod where that was not our doing, and how many those were', () => {
    const mark = { reason: 'DeletionByTaintManager', manager: null };
    const [api, db] = [pod('api-0'), pod('db-0', tolerates('maintenance', 60))];
    const drain = new Drain([web, api, db], { taint: taint('maintenance=kernel:NoSchedule') });
    drain.answer('web-0', { kind: 'done' });
    drain.answer('api-0', blocked);
    drain.gone(web, now + 1000);
    drain.gone(api, now + 1000);
    drain.feed({ kind: 'podUpsert', pod: { ...db, disruption: mark } }, now + 2000);
    drain.gone(db, now + 3000);
    assert.equal(
      drain.output.outText,
      'node/n1 already tainted\npod/web-0 evicted (shop, n1, 1.0s)\n' +
        'pod/api-0 gone (deleted by somebody else; shop, n1)\n' +
        'pod/db-0 gone (deleted by kube-controller-manager; shop, n1)\n' +
        'node/n1 drained (3 pods, 2 of them deleted by somebody else, 3s)\n',
    );
  });

  it('says for each pod once what holds it, and again when that changes', () => {
    const drain = new Drain([web]);
    drain.answer('web-0', blocked);
    drain.feed({ kind: 'tick' }, now + 5000);
    drain.answer('web-0', blocked, now + 5000);
    drain.feed({ kind: 'tick' }, now + 10_000);
    const message = 'boom\n';
    drain.answer('web-0', { kind: 'failed', status: 500, message, retryAfter: null }, now + 10_000);
    assert.equal(
      drain.output.errText,
      `Warning: shop/web-0 on n1 is blocked: ${refusal}\n` +
        'Warning: shop/web-0 on n1 could not be evicted: boom^J\n',
    );
  });

  it('warns of no pod that a pause holds: the counts name the pause', () => {
    const drain = new Drain([web]);
    drain.answer('web-0', blocked);
    drain.feed({ kind: 'pauseUpsert', pause: night });
    drain.feed({ kind: 'tick' }, now + 5000);
    drain.progress.holds(new Map(), drain.machine);
    assert.equal(drain.output.errText, `Warning: shop/web-0 on n1 is blocked: ${refusal}\n`);
    assert.match(progressLine(now, drain.machine), /1 held by pause night/);
  });

  it('says once that the connection is lost, however many pods that concerns', () => {
    const message = 'connect ECONNREFUSED 127.0.0.1:6443';
    const drain = new Drain([web]);
    drain.progress.reconnected();
    drain.progress.disconnected(message);
    drain.answer('web-0', { kind: 'failed', status: null, message, retryAfter: null });
    drain.progress.reconnected();
    drain.progress.reconnected();
    assert.equal(
      drain.output.errText,
      `Warning: lost connection to the API server, retrying: ${message}\n` +
        'reconnected to the API server\n',
    );
  });

  it('says what came late and stays, what vanished, and what is not waited for', () => {
    const old = pod('old', { deletionTimestamp: now - 60_000 });
    const drain = new Drain([web, old, pod('x', { nodeName: 'n2' })], { skipTerminatingMs: 1000 });
    drain.feed({ kind: 'podUpsert', pod: pod('bare', { owner: null }) });
    drain.feed({ kind: 'nodeDelete', name: 'n2' });
    assert.equal(
      drain.output.outText,
      'pod/old skipped (shop, n1, terminating for too long)\n' +
        'node/n1 already tainted\nnode/n2 already tainted\n',
    );
    assert.equal(
      drain.output.errText,
      'Warning: shop/bare on n1 arrived after the drain started and stays: is not managed by a controller (--force)\n' +
        'Warning: node n2 was deleted\n',
    );
  });

  const many = [
    pod('a', tolerates('maintenance', 90)),
    pod('b', tolerates('maintenance', 30)),
    pod('c'),
    pod('d'),
    pod('e', { nodeName: 'n2', deletionTimestamp: now }),
  ];

  it('counts pods, node by node', () => {
    const drain = new Drain(many);
    drain.answer('c', blocked);
    assert.equal(
      progressLine(now + 2000, drain.machine),
      '[n1 0/4] [n2 0/1] 0 of 5 gone; 2 waiting for tolerations to expire (next in 29s), ' +
        '1 being evicted, 1 terminating, 1 blocked by PDB web (for 2s)',
    );
    const one = new Drain([web]);
    one.answer('web-0', { kind: 'done' });
    one.gone(web);
    assert.equal(progressLine(now, one.machine), '1 of 1 gone');
  });

  it('says so every 30 s, or live where somebody watches', () => {
    const drain = new Drain([web]);
    for (let second = 1; second <= 61; second++) {
      drain.progress.showCounts(now + second * 1000, drain.machine);
    }
    assert.equal(drain.output.errText, '0 of 1 gone; 1 being evicted\n'.repeat(2));
    const watched = new Drain([web], {}, true);
    watched.progress.showCounts(now, watched.machine);
    assert.deepEqual(watched.output.shown, ['0 of 1 gone; 1 being evicted']);
    assert.equal(watched.output.errText, '');
  });
});

describe('what a drain leaves behind', () => {
  const lines = (text: string): string => text.replace(/^\n/, '').replace(/^ {6}/gm, '').trimEnd();
  const budget: Budget = {
    namespace: 'shop',
    name: 'web',
    selector: {},
    allowed: 0,
    healthy: 2,
    desired: 2,
    expected: 3,
    upToDate: true,
    alwaysEvictUnhealthy: false,
    refusal: null,
  };
  const hint =
    'hint: PDB shop/web: scale up or relax the PDB, or use --pdb-policy=delete-after:DURATION';
  const ceph = { apiVersion: 'ceph.rook.io/v1', kind: 'CephCluster', name: 'rook-ceph' };

  const cases: readonly (readonly [
    name: string,
    begin: () => Drain,
    budgets: readonly Budget[] | null,
    expected: string,
  ])[] = [
    [
      'pods held by a budget',
      () => {
        const going = pod('api-0', { deletionTimestamp: now });
        const drain = new Drain([web, going], { nodeTimeoutMs: 5000 });
        drain.answer('web-0', blocked);
        drain.feed({ kind: 'tick' }, now + 5000);
        drain.answer('web-0', blocked, now + 5000);
        return drain;
      },
      [budget],
      `
      error: not drained because pods are blocked, 0 of 2 pods gone
        POD          NODE   STATE
        shop/web-0   n1     ${refusal} (1 try)
        shop/api-0   n1     terminating
      ${hint}`,
    ],
    [
      'pods held by a budget that would let nobody go',
      () => {
        const drain = new Drain([web], { once: true });
        drain.answer('web-0', blocked);
        return drain;
      },
      [{ ...budget, desired: 3 }],
      `
      error: not drained because pods are blocked, 0 of 1 pod gone
        POD          NODE   STATE
        shop/web-0   n1     ${refusal} (1 try; will not resolve by itself)
      ${hint}`,
    ],
    [
      // longhorn/longhorn#3481, rook: to relax the budget of an operator may cost the data behind it.
      'pods held by the budget of an operator, which nobody else is to relax',
      () => {
        const drain = new Drain([web], { once: true });
        drain.answer('web-0', blocked);
        return drain;
      },
      [{ ...budget, desired: 3, owners: [ceph] }],
      `
      error: not drained because pods are blocked, 0 of 1 pod gone
        POD          NODE   STATE
        shop/web-0   n1     ${refusal} (1 try; its operator acts)`,
    ],
    [
      // longhorn/longhorn#4838: the budget of an instance manager has no owner.
      'pods held by budgets of people and by one that an operator may have made',
      () => {
        const drain = new Drain([web, db], { once: true });
        drain.answer('web-0', blocked);
        drain.answer('db-0', blocked);
        return drain;
      },
      [
        { ...budget, desired: 3, selector: { matchLabels: { app: 'web' } } },
        {
          ...{ ...budget, desired: 3, name: 'im', selector: { matchLabels: { app: 'db' } } },
          writers: ['longhorn-manager'],
        },
      ],
      `
      error: not drained because pods are blocked, 0 of 2 pods gone
        POD          NODE   STATE
        shop/web-0   n1     ${refusal} (1 try; will not resolve by itself)
        shop/db-0    n1     ${refusal} (1 try; may be its operator's)
      hint: PDB shop/web: scale up or relax the PDB
      hint: PDB shop/im may be its operator's (longhorn-manager wrote it): ask it before you change the PDB`,
    ],
    [
      'pods that take their time',
      () => {
        const drain = new Drain([pod('db-0', tolerates('maintenance', 60))], {
          nodeTimeoutMs: 5000,
        });
        drain.feed({ kind: 'tick' }, now + 5000);
        return drain;
      },
      null,
      `
      error: not drained within --timeout, 0 of 1 pod gone
        POD         NODE   STATE
        shop/db-0   n1     tolerates the taint until 2026-01-02T03:05:06Z`,
    ],
    [
      'pods that somebody else takes for the taint',
      () => {
        const drain = new Drain([web, pod('db-0', tolerates('maintenance', 60))]);
        drain.answer('web-0', blocked);
        const disruption = { reason: 'DeletionByTaintManager', manager: 'kube-controller-manager' };
        drain.feed({ kind: 'podUpsert', pod: { ...web, disruption } });
        return drain;
      },
      [budget],
      `
      error: stopped because kube-controller-manager evicts for the taint and ignores PDBs, 0 of 2 pods gone
        POD          NODE   STATE
        shop/web-0   n1     deleted by kube-controller-manager
        shop/db-0    n1     tolerates the taint until 2026-01-02T03:05:06Z`,
    ],
    [
      'rights that are missing',
      () => {
        const drain = new Drain([web]);
        const message = 'no\u001b[2J';
        drain.answer('web-0', { kind: 'failed', status: 403, message, retryAfter: null });
        return drain;
      },
      [],
      `
      error: the drain cannot continue, 0 of 1 pod gone
        POD          NODE   STATE
        shop/web-0   n1     no^[[2J (1 try)`,
    ],
    [
      'a taint that somebody took off, and zones not begun',
      () => {
        const targets = ['n1', 'n2'].map((name) => {
          return { name, zone: `zone-${name}`, wave: { name, nodesAtOnceMax: null } };
        });
        const drain = new Drain([web, pod('x', { nodeName: 'n2' })], {
          targets,
        });
        drain.feed({ kind: 'nodeUpsert', node: node('n1') });
        return drain;
      },
      [],
      `
      error: the drain cannot continue, 0 of 2 pods gone
        node n1: the taint was removed by somebody else
        node n2: not started, because an earlier zone failed
        POD          NODE   STATE
        shop/web-0   n1     being evicted
        shop/x       n2     not its turn yet`,
    ],
  ];
  for (const [name, begin, budgets, expected] of cases) {
    it(name, () => {
      const { machine } = begin();
      const result = resultOf(machine);
      const podOf = (uid: string): Pod =>
        uid === db.uid ? { ...db, labels: { app: 'db' } } : { ...web, labels: { app: 'web' } };
      const verdicts = verdictsOf(machine, budgets, podOf);
      assert.equal(renderLeft({ result, machine, refusal: null }, verdicts), lines(expected));
    });
  }

  it('an end before anything was read', () => {
    const targets = [{ name: 'n1', zone: '' }];
    const machine = new DrainMachine(resolveDrainConfig({ taint: maintenance, targets }));
    const end = { result: 'Interrupted', machine, refusal: null } as const;
    assert.equal(
      renderLeft(end, new Map()),
      'error: interrupted before the pods were known; run the same command again to continue',
    );
    const refused = { result: 'Failed', machine, refusal: 'pods is forbidden' } as const;
    assert.equal(
      renderLeft(refused, new Map()),
      'error: the drain cannot continue before the pods were known: pods is forbidden',
    );
  });
});
