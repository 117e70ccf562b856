import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Blocker, Command, Event, PodRef } from '@taintmgr/core';
import { type LeavingPod, LeavingPods } from '../src/commands/drain-by-taint/leaving.ts';
import { Progress } from '../src/commands/drain-by-taint/progress.ts';
import { CapturedOutput } from './captured-output.ts';
import { now, pod } from './values.ts';

const web = pod('web-0');
const budget: Blocker = {
  code: 'Budget',
  verdict: 'needsTime',
  message: 'The budget is tight',
};

function deadline(to: number | null): Command {
  const cause = 'NodeChanged';
  const report = { kind: 'deadline', pod: web, from: null, to, cause, because: [] } as const;
  return { kind: 'report', report };
}

function retry(blocker: Blocker): Command {
  const setback = { kind: 'blocked', message: blocker.message, retryAfter: null } as const;
  const report = { kind: 'retry', pod: web, attempt: 2, at: now + 5000, setback, blocker } as const;
  return { kind: 'report', report };
}

describe('LeavingPods', () => {
  const evict: Command = {
    kind: 'evictPod',
    id: '1',
    pod: web,
    confirm: false,
    gracePeriodSeconds: null,
    because: [],
  };
  const terminating: Event = { kind: 'podUpsert', pod: { ...web, deletionTimestamp: now } };
  const steps: readonly (readonly [
    name: string,
    steps: readonly (Command | Event)[],
    state: LeavingPod['state'] | null,
  ])[] = [
    ['a pod that nobody wants gone', [{ kind: 'podUpsert', pod: web }], null],
    ['a deadline', [deadline(now + 1000)], { kind: 'waiting', until: now + 1000 }],
    ['a deadline that is called off', [deadline(now + 1000), deadline(null)], null],
    ['an eviction', [deadline(now), evict], { kind: 'evicting' }],
    [
      'a refusal',
      [deadline(now), evict, retry(budget)],
      { kind: 'held', attempts: 2, blocker: budget },
    ],
    ['a pod that terminates', [evict, terminating], { kind: 'terminating' }],
    [
      'a call-off for a pod that terminates, which does not come back',
      [evict, terminating, deadline(null)],
      { kind: 'terminating' },
    ],
    ['a pod that is gone', [evict, terminating, { kind: 'podDelete', uid: web.uid }], null],
  ];
  for (const [name, inputs, state] of steps) {
    it(name, () => {
      const pods = new LeavingPods();
      for (const input of inputs) give(pods, now, input);
      assert.deepEqual(
        pods.list().map((leaving) => leaving.state),
        state ? [state] : [],
      );
    });
  }

  it('counts the pods that went, and how long each was on the list', () => {
    const pods = new LeavingPods();
    give(pods, now, deadline(now + 1000));
    give(pods, now + 1000, evict);
    assert.equal(pods.event(now, { kind: 'podDelete', uid: 'another' }), null);
    const gone = pods.event(now + 2500, { kind: 'podDelete', uid: web.uid });
    assert.deepEqual([gone?.pod.name, gone?.took, pods.gone], ['web-0', 2500, 1]);
  });

  function give(pods: LeavingPods, at: number, input: Command | Event): void {
    if (input.kind === 'evictPod' || input.kind === 'report') pods.command(at, input as Command);
    else pods.event(at, input as Event);
  }
});

describe('Progress', () => {
  const leaving = (state: LeavingPod['state'], of: PodRef = web): LeavingPod => {
    return { pod: of, since: now, state };
  };
  const held = (blocker: Blocker): LeavingPod => leaving({ kind: 'held', attempts: 1, blocker });
  const all = [
    leaving({ kind: 'waiting', until: now + 90_000 }),
    leaving({ kind: 'waiting', until: now + 30_000 }),
    leaving({ kind: 'evicting' }),
    leaving({ kind: 'terminating' }),
    held(budget),
  ];

  it('says for each pod once what holds it, and again when that changes', () => {
    const output = new CapturedOutput();
    const progress = new Progress(output, null, now);
    const refused: Blocker = { code: 'TwoBudgets', verdict: 'never', message: 'two budgets\n' };
    progress.held(held(budget));
    progress.held(held(budget));
    progress.held(held(refused));
    progress.held(leaving({ kind: 'evicting' }));
    assert.equal(
      output.errText,
      'Warning: shop/web-0 on n1 is held back: The budget is tight\n' +
        'Warning: shop/web-0 on n1 could not be evicted: two budgets^J\n',
    );
  });

  it('says once that the API server is lost, however many pods that concerns', () => {
    const output = new CapturedOutput();
    const progress = new Progress(output, null, now);
    const message = 'connect ECONNREFUSED 127.0.0.1:6443';
    progress.found();
    progress.lost(message);
    progress.held(held({ code: 'Unreachable', verdict: 'resolves', message }));
    progress.found();
    progress.found();
    assert.equal(
      output.errText,
      `Warning: lost contact with the API server, trying again: ${message}\n` +
        'in contact with the API server again\n',
    );
  });

  it('says where things stand every 30 s', () => {
    const output = new CapturedOutput();
    const progress = new Progress(output, null, now);
    for (let second = 1; second <= 61; second++) progress.standing(now + second * 1000, all, 2);
    assert.equal(
      output.errText,
      '2 of 7 gone; 2 tolerate a while longer (next in 0s), 1 being evicted, 1 terminating, 1 held back\n'.repeat(
        2,
      ),
    );
  });

  it('shows that live instead where somebody watches', async () => {
    const output = new CapturedOutput(true);
    const progress = new Progress(output, await output.live(), now);
    progress.standing(now, all.slice(0, 2), 0);
    progress.standing(now, [], 2);
    assert.deepEqual(output.shown, [
      '0 of 2 gone; 2 tolerate a while longer (next in 30s)',
      '2 of 2 gone',
    ]);
    assert.equal(output.errText, '');
  });

  it('gives a line of data for each pod that went', () => {
    const output = new CapturedOutput();
    new Progress(output, null, now).gone({ pod: web, took: 3210 });
    assert.equal(output.outText, 'pod/web-0 evicted (shop, n1, 3.2s)\n');
  });
});
