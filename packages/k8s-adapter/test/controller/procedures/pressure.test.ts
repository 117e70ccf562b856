import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import {
  type EvictUnderPressure,
  evictUnderPressure,
  type PressureRemoval,
} from '../../../src/controller/procedures/pressure.ts';
import type { Answer } from '../../../src/proto/answer.ts';
import type { ApiRequest } from '../../../src/proto/requests.ts';
import { PlayedSteps } from '../../world/steps.ts';

const now = Date.parse('2026-01-01T00:00:00Z');
const ref = { namespace: 'shop', name: 'db', uid: 'u1', nodeName: 'n1' };
const command: EvictUnderPressure = {
  kind: 'evictUnderPressure',
  id: 'e1',
  pod: ref,
  generation: 3,
  gracePeriodSeconds: 20,
  status: {
    phase: 'Failed',
    reason: 'Evicted',
    message: 'low',
    disruptionTarget: 'TerminationByKubelet',
  },
  signal: 'memory.available',
  because: [],
};

interface PodState {
  readonly uid?: string;
  readonly phase?: string;
  readonly isLeaving?: boolean;
}

function pod({ uid = 'u1', phase = 'Running', isLeaving = false }: PodState = {}): Answer {
  const deletion = isLeaving ? { deletionTimestamp: '2026-01-01T00:00:20Z' } : {};
  const metadata = { name: 'db', namespace: 'shop', uid, resourceVersion: '7', ...deletion };
  return answer(200, { metadata, spec: { nodeName: 'n1' }, status: { phase } });
}

function answer(status: number, body: object = {}): Answer {
  return { kind: 'response', status, headers: {}, body: JSON.stringify(body) };
}

function denial(status: number): Answer {
  return answer(status, {
    message: 'admission webhook "w.example.com" denied the request: frozen',
  });
}

const accepted = answer(200);
const leaving = pod({ isLeaving: true });
const otherUid = answer(422, { details: { causes: [{ field: 'metadata.uid' }] } });
const otherUid409 = answer(409, { message: 'the UID in the precondition (u1) does not match' });
const budget = answer(429, {
  message: 'Cannot evict pod',
  details: {
    causes: [{ reason: 'DisruptionBudget', message: 'The disruption budget db needs 1' }],
  },
});

/** Plays the answers: the requests that were sent, and how it ended (`` where it has not). */
function play(
  answers: readonly Answer[],
  removal: PressureRemoval = 'delete',
  change: Partial<EvictUnderPressure> = {},
) {
  const sent: string[] = [];
  const bodies: string[] = [];
  const steps = new PlayedSteps(evictUnderPressure({ ...command, ...change }, removal), now);
  for (const heard of answers) {
    sent.push(nameOf(steps.request, sent.length === 0));
    bodies.push(steps.request.body ?? '');
    steps.answer(heard);
  }
  const end = steps.outcome;
  return { sent: sent.join(' '), bodies, outcome: end?.outcome.kind ?? '', refusal: end?.refusal };
}

function nameOf({ method, path, body }: ApiRequest, isFirst: boolean): string {
  if (method === 'GET') return isFirst ? 'Reading' : 'ReadingAgain';
  if (!path.includes('/status')) return 'Removing';
  return 'phase' in JSON.parse(body ?? '').status ? 'Writing' : 'Marking';
}

const whole = 'Reading Marking Removing ReadingAgain Writing';

interface Case {
  readonly name: string;
  readonly removal?: PressureRemoval;
  readonly change?: Partial<EvictUnderPressure>;
  readonly answers: readonly Answer[];
  readonly sent: string;
  readonly outcome: string;
  readonly refused?: boolean;
}

const cases: readonly Case[] = [
  {
    name: 'marks, deletes and tells why',
    answers: [pod(), accepted, accepted, leaving, accepted],
    sent: whole,
    outcome: 'done',
  },
  {
    name: 'does not mark what the Eviction API marks',
    removal: 'evict',
    answers: [pod(), accepted, leaving, accepted],
    sent: 'Reading Removing ReadingAgain Writing',
    outcome: 'done',
  },
  {
    name: 'does not mark where the status has no such condition',
    change: { status: { ...command.status, disruptionTarget: null } },
    answers: [pod(), accepted, leaving, accepted],
    sent: 'Reading Removing ReadingAgain Writing',
    outcome: 'done',
  },
  {
    name: 'leaves another pod of the name',
    answers: [pod({ uid: 'u2' })],
    sent: 'Reading',
    outcome: 'gone',
  },
  {
    name: 'leaves one that has ended',
    answers: [pod({ phase: 'Failed' })],
    sent: 'Reading',
    outcome: 'gone',
  },
  { name: 'leaves one that is leaving', answers: [leaving], sent: 'Reading', outcome: 'gone' },
  {
    name: 'takes no pod for a pod that went',
    answers: [answer(404)],
    sent: 'Reading',
    outcome: 'gone',
  },
  {
    name: 'fails where it cannot read',
    answers: [answer(500)],
    sent: 'Reading',
    outcome: 'failed',
  },
  {
    name: 'goes on where it may not mark, and says so',
    answers: [pod(), answer(403), accepted, leaving, answer(403)],
    sent: whole,
    outcome: 'done',
    refused: true,
  },
  ...[401, 404, 500].map((status) => ({
    name: `goes on where a webhook denies the mark and the status with ${status}`,
    answers: [pod(), denial(status), accepted, leaving, denial(status)],
    sent: whole,
    outcome: 'done',
    refused: true,
  })),
  {
    name: 'sees another pod in a refused mark',
    answers: [pod(), otherUid],
    sent: 'Reading Marking',
    outcome: 'gone',
  },
  {
    name: 'waits where the server is down',
    answers: [pod(), answer(503)],
    sent: 'Reading Marking',
    outcome: 'failed',
  },
  {
    name: 'sees another pod in a refused deletion',
    answers: [pod(), accepted, otherUid409],
    sent: 'Reading Marking Removing',
    outcome: 'gone',
  },
  {
    name: 'keeps a pod that a budget holds, and says nothing about it in its status',
    removal: 'evict',
    answers: [pod(), budget],
    sent: 'Reading Removing',
    outcome: 'blocked',
  },
  {
    name: 'tells nothing of a pod that was gone at once',
    answers: [pod(), accepted, accepted, answer(404)],
    sent: 'Reading Marking Removing ReadingAgain',
    outcome: 'done',
  },
  {
    name: 'leaves the status of a pod that has ended by itself',
    answers: [pod(), accepted, accepted, pod({ isLeaving: true, phase: 'Succeeded' })],
    sent: 'Reading Marking Removing ReadingAgain',
    outcome: 'done',
  },
  {
    name: 'does not say Failed of a pod that stays, as in a dry run',
    answers: [pod(), accepted, accepted, pod()],
    sent: 'Reading Marking Removing ReadingAgain',
    outcome: 'done',
  },
  {
    name: 'reads again when its kubelet was quicker',
    answers: [pod(), accepted, accepted, leaving, answer(409), leaving, accepted],
    sent: `${whole} ReadingAgain Writing`,
    outcome: 'done',
  },
  {
    name: 'gives up the status after three attempts',
    answers: [pod(), accepted, accepted, ...[1, 2, 3].flatMap(() => [leaving, answer(409)])],
    sent: `${whole} ReadingAgain Writing ReadingAgain Writing`,
    outcome: 'done',
    refused: true,
  },
];

describe('an eviction under pressure', () => {
  for (const { name, removal, change, answers, sent, outcome, refused = false } of cases) {
    it(name, () => {
      const played = play(answers, removal, change);
      assert.equal(played.sent, sent);
      assert.equal(played.outcome, outcome);
      assert.equal((played.refusal ?? null) !== null, refused);
    });
  }

  const graces: readonly (readonly [asked: number, sent: number | undefined])[] = [
    [20, 20],
    [1, 1],
    [0, 1],
    [-1, undefined],
  ];
  for (const [asked, sent] of graces) {
    it(`gives ${sent ?? 'its own'} seconds where ${asked} are asked for`, () => {
      const { bodies } = play([pod(), accepted, accepted], 'delete', { gracePeriodSeconds: asked });
      assert.equal(JSON.parse(bodies[2] ?? '').gracePeriodSeconds, sent);
    });
  }
});
