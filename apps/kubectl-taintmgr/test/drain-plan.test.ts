import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { DrainOptions, Node, Pod } from '@taintmgr/core';
import { planDrain } from '../src/commands/drain-by-taint/plan.ts';
import { refusalLine, renderLeft, renderPlan } from '../src/commands/drain-by-taint/report.ts';
import type { DrainResult } from '../src/commands/drain-by-taint/run.ts';
import { undoHint } from '../src/commands/drain-by-taint/targets.ts';
import { exitCode } from '../src/exit.ts';
import { node, now, ofDaemonSet, pod, taint, tolerates } from './values.ts';

const maintenance = taint('maintenance=kernel:NoExecute');
const noFlags: DrainOptions = { force: false, ignoreDaemonSets: false, deleteEmptyDirData: false };
const allFlags: DrainOptions = { force: true, ignoreDaemonSets: true, deleteEmptyDirData: true };

const plan = (options: DrainOptions, nodes: readonly Node[], ...pods: readonly Pod[]) =>
  planDrain(now, maintenance, nodes, pods, options);
const lines = (text: string): string => text.replace(/^\n/, '').replace(/^ {6}/gm, '').trimEnd();

describe('the plan of a drain', () => {
  const n1 = node('n1');
  const agent = pod('agent', ofDaemonSet);
  const bare = pod('bare', { owner: null, hasEmptyDir: true });
  const cases: readonly (readonly [
    name: string,
    options: DrainOptions,
    nodes: readonly Node[],
    pods: readonly Pod[],
    plan: string,
    refusal: string | null,
  ])[] = [
    [
      'a pod without toleration goes at once, another when its time is over',
      noFlags,
      [n1],
      [pod('db', tolerates('maintenance', 63)), pod('web')],
      `
      NODE   NAMESPACE   POD   ACTION   AT      BECAUSE
      n1     shop        web   evict    +0s     no toleration for maintenance=kernel:NoExecute
      n1     shop        db    evict    +1m3s   tolerates maintenance=kernel:NoExecute for 1m3s`,
      null,
    ],
    [
      'every missing flag is named, with how many pods need it',
      noFlags,
      [n1],
      [agent, bare, pod('web', { hasEmptyDir: true })],
      `
      NODE   NAMESPACE   POD     ACTION   AT    BECAUSE
      n1     shop        agent   refuse   -     managed by a DaemonSet, which would start it again (--ignore-daemonsets)
      n1     shop        bare    refuse   -     has local storage (emptyDir), whose data would be lost (--delete-emptydir-data); declares no controller, nothing would start it again (--force)
      n1     shop        web     refuse   -     has local storage (emptyDir), whose data would be lost (--delete-emptydir-data)`,
      '1 pod needs --ignore-daemonsets, 2 pods need --delete-emptydir-data, 1 pod needs --force; nothing was changed',
    ],
    [
      'the flags override the refusals',
      allFlags,
      [n1],
      [agent, bare],
      `
      NODE   NAMESPACE   POD    ACTION   AT    BECAUSE
      n1     shop        bare   evict    +0s   no toleration for maintenance=kernel:NoExecute
      1 pod stays: 1 of a DaemonSet`,
      null,
    ],
    [
      'what stays is counted by its reason, and need not be allowed to go',
      { ...noFlags, ignoreDaemonSets: true },
      [n1, node('n2')],
      [
        agent,
        pod('static', { mirror: true, owner: null }),
        pod('going', { deletionTimestamp: now, owner: null }),
        pod('cache', { ...tolerates('maintenance'), owner: null }),
        pod('log', { ...tolerates(''), nodeName: 'n2' }),
      ],
      `
      No pods to evict.
      4 pods stay: 1 of a DaemonSet, 1 static, 2 tolerating the taint without limit
      1 pod already terminating`,
      null,
    ],
    ['a node without pods', noFlags, [n1], [], 'No pods to evict.', null],
    [
      'a finished pod is taken whatever it is',
      noFlags,
      [n1],
      [pod('job', { phase: 'Succeeded', owner: null, hasEmptyDir: true })],
      `
      NODE   NAMESPACE   POD   ACTION   AT    BECAUSE
      n1     shop        job   evict    +0s   no toleration for maintenance=kernel:NoExecute`,
      null,
    ],
    [
      'the time of a taint that is there already goes on',
      noFlags,
      [node('n1', taint('maintenance=kernel:NoExecute', 60))],
      [pod('db', tolerates('maintenance', 63))],
      `
      NODE   NAMESPACE   POD   ACTION   AT    BECAUSE
      n1     shop        db    evict    +3s   tolerates maintenance=kernel:NoExecute for 1m3s`,
      null,
    ],
    [
      'a taint of the same key with another value gives way, others count as well',
      noFlags,
      [node('n1', taint('maintenance=disk:NoExecute', 60), taint('old:NoExecute', 10))],
      [pod('db', tolerates('maintenance', 63))],
      `
      NODE   NAMESPACE   POD   ACTION   AT    BECAUSE
      n1     shop        db    evict    +0s   no toleration for old:NoExecute; tolerates maintenance=kernel:NoExecute for 1m3s`,
      null,
    ],
  ];
  for (const [name, options, nodes, pods, expected, refusal] of cases) {
    it(name, () => {
      const planned = plan(options, nodes, ...pods);
      assert.equal(renderPlan(planned, now), lines(expected));
      assert.equal(refusalLine(planned), refusal);
    });
  }
});

describe('what a drain leaves behind', () => {
  const message = 'The disruption budget web needs 2 healthy pods and has 2 currently';
  const budget = { code: 'Budget', verdict: 'needsTime', message } as const;
  const held = {
    pod: pod('web-0'),
    since: now,
    state: { kind: 'held', attempts: 3, blocker: budget },
  } as const;
  const waiting = {
    pod: pod('db-0'),
    since: now,
    state: { kind: 'waiting', until: now + 60_000 },
  } as const;
  const going = { pod: pod('api-0'), since: now, state: { kind: 'terminating' } } as const;
  const result: DrainResult = { code: exitCode.timeout, synced: true, leaving: [], gone: 1 };
  const cases: readonly (readonly [string, DrainResult, string])[] = [
    [
      'pods held by a budget',
      { ...result, code: exitCode.blocked, leaving: [held, going] },
      `
      error: not drained because pods are held back, 1 of 3 pods gone
        POD          NODE   STATE
        shop/web-0   n1     The disruption budget web needs 2 healthy pods and has 2 currently (3 tries)
        shop/api-0   n1     terminating
      hint: kubectl get pdb -n shop shows the budgets; with more replicas or a wider budget pods can go`,
    ],
    [
      'pods that take their time',
      { ...result, leaving: [waiting] },
      `
      error: not drained within --timeout, 1 of 2 pods gone
        POD         NODE   STATE
        shop/db-0   n1     tolerates the taint until 2026-01-02T03:05:05Z`,
    ],
    [
      'Ctrl-C',
      { ...result, code: exitCode.interrupted, gone: 0, leaving: [going] },
      `
      error: interrupted, 0 of 1 pod gone; the same command goes on from here
        POD          NODE   STATE
        shop/api-0   n1     terminating`,
    ],
    [
      'an end before anything was read',
      { ...result, code: exitCode.interrupted, synced: false },
      'error: interrupted before the pods were known; the same command goes on from here',
    ],
    [
      'rights missing',
      {
        ...result,
        code: exitCode.error,
        gone: 0,
        leaving: [
          {
            ...held,
            state: {
              kind: 'held',
              attempts: 1,
              blocker: { code: 'Denied', verdict: 'never', message: 'no\u001b[2J' },
            },
          },
        ],
      },
      `
      error: the drain cannot go on, 0 of 1 pod gone
        POD          NODE   STATE
        shop/web-0   n1     no^[[2J (1 try)`,
    ],
  ];
  for (const [name, left, expected] of cases) {
    it(name, () => assert.equal(renderLeft(left), lines(expected)));
  }

  it('and how to undo the taint', () => {
    assert.equal(
      undoHint(['n1', 'n2'], maintenance),
      'kubectl uncordon n1 n2 && kubectl taint nodes n1 n2 maintenance:NoExecute-',
    );
  });
});
