// Limits whose counts cannot be stored hold pods like any other limit: nobody is late or lost.
import assert from 'node:assert/strict';
import { it } from 'node:test';
import {
  createEngine,
  type Event,
  makeNode,
  makePod,
  type Outcome,
  type PodRef,
  parseTaint,
} from '@taintmgr/core';
import { lineOf } from '../../src/log/notice.ts';
import { Lateness } from '../../src/stats/lateness.ts';
import { PendingEvictions } from '../../src/stats/pending-evictions.ts';

const second = 1000;

/** A controller without the right to its Lease, until it has it. */
class Setting {
  now = 0;
  outcome: Outcome = { kind: 'failed', status: 403, message: 'forbidden', retryAfter: null };
  late = 0;
  readonly lines: string[] = [];
  readonly sent: PodRef[] = [];
  readonly #wall = (): number => this.now;
  readonly lateness = new Lateness(() => true, this.#wall);
  readonly pending = new PendingEvictions(this.#wall, this.#wall);
  readonly engine = createEngine({
    keepLimits: true,
    limits: [{ per: 'total', pods: 50, windowMs: 600 * second, onLimit: 'queue' }],
  });

  tell(event: Event): void {
    for (const command of this.engine.handle(this.now, event)) {
      if (command.kind === 'report') {
        this.lateness.observe(command, this.now);
        this.pending.observe(command, this.now);
        const { level, message } = lineOf(command, this.now);
        this.lines.push(`${level} ${message}`);
      } else if (command.kind === 'readLimits' || command.kind === 'keepLimits') {
        const isRead = command.kind === 'readLimits' && this.outcome.kind === 'done';
        if (isRead) this.tell({ kind: 'limitRecord', record: null, resume: null });
        this.tell({ kind: 'result', id: command.id, outcome: this.outcome });
      } else if (command.kind === 'deletePod') {
        const notice = { kind: 'commandSent', command } as const;
        if (this.lateness.observe(notice, this.now)) this.late += 1;
        this.pending.observe(notice, this.now);
        this.sent.push(command.pod);
      }
    }
  }

  pass(seconds: number): void {
    for (const end = this.now + seconds * second; this.now < end; this.now += second) {
      while ((this.engine.nextWake() ?? Number.POSITIVE_INFINITY) <= this.now) {
        this.tell({ kind: 'tick' });
      }
    }
  }
}

it('pods that wait for what cannot be stored are pending, and neither late nor lost', () => {
  const setting = new Setting();
  const tolerant = { key: 'bad', operator: 'Exists', effect: '', value: '', tolerationSeconds: 5 };
  for (const [name, tolerations] of [
    ['a', [tolerant]],
    ['b', []],
    ['c', []],
  ] as const) {
    const pod = makePod({ namespace: 'shop', name, nodeName: 'n1', tolerations });
    setting.tell({ kind: 'podUpsert', pod });
  }
  setting.tell({ kind: 'synced' });
  const node = makeNode({ name: 'n1', taints: [parseTaint('bad:NoExecute')] });
  setting.tell({ kind: 'nodeUpsert', node });
  setting.pass(180);
  const { pending, overdue } = setting.pending.waiting();
  assert.deepEqual(
    { pending, overdue, lost: setting.lateness.lost() },
    { pending: 3, overdue: 3, lost: 0 },
  );
  // However often it fails, it is told once of each pod, where nobody looks who does not ask.
  const held = setting.lines.filter((line) => line.includes('held'));
  assert.deepEqual(held, Array(3).fill('debug held until limit counts are stored'));
  setting.outcome = { kind: 'done' };
  setting.pass(30);
  assert.equal(setting.sent.length, 3);
  assert.deepEqual([setting.late, setting.pending.waiting().pending], [0, 0]);
});
