import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Command, Outcome } from '@taintmgr/core';
import type { PressureCommand } from '@taintmgr/core/pressure';
import { Executor, type ExecutorEffect } from '../../../src/controller/executor.ts';
import { engineProcedures } from '../../../src/controller/procedures/engine.ts';
import { pressureProcedures } from '../../../src/controller/procedures/pressure.ts';

// Leadership that is lost before and between the requests of every command there is: no further
// request goes out, and the machine is told how the command ended, once. What was done by then
// stays as it is and is harmless: a pod may bear the condition DisruptionTarget without leaving,
// or leave without the status of an evicted one. The next leader reads both and decides anew.

const ref = { namespace: 'shop', name: 'a', uid: 'u', nodeName: 'n1' };
const node = { name: 'n1', uid: 'u-n1' };
const bad = { key: 'bad', value: '', effect: 'NoExecute', timeAdded: null } as const;

const podObject = {
  kind: 'Pod',
  apiVersion: 'v1',
  metadata: { name: 'a', namespace: 'shop', uid: 'u', resourceVersion: '7' },
  spec: { nodeName: 'n1', containers: [] },
  status: { phase: 'Running', conditions: [{ type: 'Ready', status: 'True' }] },
};
const markedObject = {
  kind: 'Pod',
  apiVersion: 'v1',
  metadata: {
    ...podObject.metadata,
    managedFields: [
      {
        manager: 'taintmgr-controller',
        fieldsV1: {
          'f:status': { 'f:conditions': { 'k:{"type":"DisruptionTarget"}': { 'f:reason': {} } } },
        },
      },
    ],
  },
  status: {
    conditions: [{ type: 'DisruptionTarget', status: 'True', reason: 'DeletionByTaintManager' }],
  },
};
const leaving = {
  ...podObject,
  metadata: { ...podObject.metadata, deletionTimestamp: '2026-01-01T00:00:00Z' },
};
const nodeObject = {
  kind: 'Node',
  apiVersion: 'v1',
  metadata: { name: 'n1', uid: 'u-n1', resourceVersion: '7' },
  spec: { taints: [{ key: 'bad', effect: 'NoExecute' }] },
  status: { conditions: [{ type: 'Ready', status: 'Unknown' }] },
};
const lease = {
  kind: 'Lease',
  apiVersion: 'coordination.k8s.io/v1',
  metadata: { name: 'n1' },
  spec: { renewTime: '2026-01-01T00:00:00.000000Z' },
};

const removal = {
  id: 'c1',
  pod: ref,
  guard: 'uid',
  generation: 1,
  gracePeriodSeconds: null,
  escalated: false,
  because: [],
} as const;

const conditions = [
  {
    type: 'Ready',
    status: 'Unknown',
    reason: 'r',
    message: 'm',
    heartbeatAt: null,
    transitionAt: 0,
  },
];

type AnyCommand = Command | PressureCommand;

/** Every command that sends requests, with the answers by which it comes to its end. */
const commands: readonly (readonly [AnyCommand, ...answers: readonly object[]])[] = [
  [{ kind: 'deletePod', ...removal, confirm: true }, podObject, nodeObject, podObject, {}],
  [{ kind: 'deletePod', ...removal, confirm: false }, podObject, {}],
  [{ kind: 'evictPod', ...removal, confirm: true }, podObject, nodeObject, {}],
  [
    {
      kind: 'keepTaintStarts',
      id: 'c1',
      nodeName: 'n1',
      nodeUid: 'u-n1',
      starts: null,
      pauses: [],
      taintsWrittenAt: null,
    },
    {},
  ],
  [
    {
      ...{ kind: 'changeTaints', id: 'c1', node, fresh: true, because: [] },
      ...{ add: [{ ...bad, key: 'other' }], remove: [] },
    },
    nodeObject,
    {},
  ],
  [
    {
      ...{ kind: 'setNodeConditions', id: 'c1', node, conditions },
      ...{ seen: { ...conditions[0], transitionAt: null }, leaseRenewedAt: Date.UTC(2026, 0) },
    } as AnyCommand,
    nodeObject,
    lease,
    {},
  ],
  [{ kind: 'setNodeLabels', id: 'c1', node, labels: { os: 'linux' } }, {}],
  [{ kind: 'markPodNotReady', id: 'c1', pod: ref }, podObject, nodeObject, {}],
  [{ kind: 'unmarkPod', id: 'c1', pod: ref }, markedObject, {}],
  [{ kind: 'markPodLost', id: 'c1', pod: ref, message: 'm' }, podObject, {}],
  [
    {
      ...{ kind: 'evictUnderPressure', id: 'c1', pod: ref, generation: 1, gracePeriodSeconds: 1 },
      status: {
        ...{ phase: 'Failed', reason: 'Evicted', message: 'low' },
        disruptionTarget: 'TerminationByKubelet',
      },
      ...{ signal: 'memory.available', because: [] },
    },
    podObject,
    {},
    {},
    leaving,
    {},
  ],
  [{ kind: 'setPressureConditions', id: 'c1', node, conditions }, {}],
];

/** One command on its way, at a replica that may lose the lead. */
class Replica {
  leads = true;
  readonly sent: string[] = [];
  readonly aborted: string[] = [];
  readonly outcomes: Outcome[] = [];
  readonly #executor: Executor<AnyCommand, unknown>;

  constructor(command: AnyCommand, leads = true) {
    this.leads = leads;
    this.#executor = new Executor<AnyCommand, unknown>({
      procedures: { ...engineProcedures(), ...pressureProcedures('delete') },
      ...{ component: 'taintmgr', random: () => 0, mayAct: () => this.leads },
    });
    this.#hear(this.#executor.execute(0, command, () => !('confirm' in command)));
  }

  answer(body: object): void {
    const id = this.sent.at(-1) ?? '';
    const parts = [
      { kind: 'head', id, status: 200, headers: {} },
      { kind: 'chunk', id, data: JSON.stringify(body) },
      { kind: 'end', id },
    ] as const;
    for (const part of parts) this.#hear(this.#executor.receive(0, part));
  }

  tick(): void {
    this.#hear(this.#executor.tick(0));
  }

  #hear(effects: readonly ExecutorEffect<unknown>[]): void {
    for (const effect of effects) {
      if (effect.kind === 'send') this.sent.push(effect.id);
      else if (effect.kind === 'abort') this.aborted.push(effect.id);
      else if (effect.kind === 'result') this.outcomes.push(effect.outcome);
    }
  }
}

/** The command after the first `count` answers. */
function after(count: number, [command, ...answers]: (typeof commands)[number]): Replica {
  const replica = new Replica(command);
  for (const body of answers.slice(0, count)) replica.answer(body);
  return replica;
}

for (const story of commands) {
  const [command, ...answers] = story;
  const name =
    'confirm' in command && command.confirm ? `${command.kind}, confirmed` : command.kind;
  describe(`a replica at ${name}`, () => {
    it(`that goes on leading sends ${answers.length} requests`, () => {
      const replica = after(answers.length, story);
      assert.equal(replica.sent.length, answers.length);
      assert.deepEqual(replica.outcomes, [{ kind: 'done' }]);
    });

    it('that does not lead sends none', () => {
      const replica = new Replica(command, false);
      assert.deepEqual(replica.sent, []);
      assert.equal(replica.outcomes.length, 1);
    });

    for (const [index, body] of answers.entries()) {
      it(`that leads no more when answer ${index + 1} comes sends nothing after it`, () => {
        const replica = after(index, story);
        replica.leads = false;
        replica.answer(body);
        assert.equal(replica.sent.length, index + 1);
        assert.equal(replica.outcomes.length, 1);
      });

      it(`that leads no more while request ${index + 1} is under way hangs up`, () => {
        const replica = after(index, story);
        replica.leads = false;
        replica.tick();
        assert.deepEqual(replica.aborted, [replica.sent.at(-1)]);
        assert.match(
          JSON.stringify(replica.outcomes),
          /no longer the leader; whether its last request/,
        );
        replica.leads = true;
        replica.answer(body);
        assert.equal(replica.sent.length, index + 1);
        assert.equal(replica.outcomes.length, 1);
      });
    }
  });
}

describe('a pod whose eviction is hung up', () => {
  for (const story of commands.filter(
    ([{ kind }]) => kind === 'deletePod' || kind === 'evictPod',
  )) {
    const [{ kind }, ...answers] = story;
    it(`may be gone: ${kind}, ${answers.length} requests`, () => {
      const replica = after(answers.length - 1, story);
      replica.leads = false;
      replica.tick();
      // Limits go on counting it, as with any request that has no answer.
      assert.deepEqual(replica.outcomes.map(meaning), ['failed, uncertain']);
    });

    it(`is there as long as nothing was sent: ${kind}, ${answers.length} requests`, () => {
      assert.deepEqual(new Replica(story[0], false).outcomes.map(meaning), ['changed']);
    });
  }
});

function meaning(outcome: Outcome): string {
  const isUncertain = outcome.kind === 'failed' && outcome.status === null;
  return isUncertain ? 'failed, uncertain' : outcome.kind;
}
