// Slips of kube-controller-manager's controller that no recording shows; the recordings are played by k8s-adapter.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import {
  type DeviceTaintRule,
  type ResourceClaim,
  type UpstreamDeviceCommand,
  type UpstreamDeviceEvent,
  UpstreamDeviceEviction,
  type UpstreamDeviceOptions,
} from '@taintmgr/core/devices';
import { makePod } from '../../src/model/builders.ts';

const fast: UpstreamDeviceOptions = { qps: 1e6, burst: 1e6 };

/** Answers each command at once, and keeps what was sent. */
class Played {
  readonly machine: UpstreamDeviceEviction;
  readonly sent: UpstreamDeviceCommand[] = [];
  now = 1_000_000;
  outcome = 'done';

  constructor(options: UpstreamDeviceOptions = fast) {
    this.machine = new UpstreamDeviceEviction(options);
  }

  tell(event: UpstreamDeviceEvent): void {
    const commands = this.machine.handle(this.now, event);
    this.sent.push(...commands);
    for (const command of commands) {
      if (!('id' in command)) continue;
      const kind = command.kind === 'deleteForDevices' ? this.outcome : 'done';
      this.tell({ kind: 'result', id: command.id, outcome: { kind } });
    }
  }

  runUntil(instant: number): void {
    for (let wake = this.machine.nextWake(); wake !== null && wake <= instant; ) {
      this.now = Math.max(this.now, wake);
      this.tell({ kind: 'tick' });
      wake = this.machine.nextWake();
    }
    this.now = instant;
  }

  use(name: string): void {
    const claims = [{ name: 'c', claim: name, origin: 'named' }] as const;
    this.tell({ kind: 'podUpsert', pod: makePod({ name, uid: name, nodeName: 'n1', claims }) });
    this.tell({ kind: 'resourceClaimUpsert', claim: claimOf(name) });
  }

  get deletions(): readonly string[] {
    return this.sent.flatMap((one) => (one.kind === 'deleteForDevices' ? [one.pod.name] : []));
  }

  /** The last status of the rule. */
  get status(): string {
    const written = this.sent.filter((one) => one.kind === 'applyRuleStatus').at(-1);
    return written ? `${written.condition.reason} ${written.condition.message}` : '';
  }
}

function claimOf(name: string): ResourceClaim {
  const device = { driver: 'd', pool: 'p', device: 'gpu', request: 'r', tolerations: [] };
  const names = { namespace: 'default', name, uid: `${name}-claim`, ownerUid: null };
  return { ...names, allocated: [device], reservedFor: [name] };
}

const rule: DeviceTaintRule = {
  ...{ name: 'ecc', uid: 'rule', generation: 1, progress: null },
  selector: { driver: 'd', pool: null, device: null },
  taint: { key: 'health', value: '', effect: 'NoExecute', timeAdded: 0 },
};

describe('the device-taint-eviction-controller', () => {
  it('sends nothing before everything has been read, nor as long as it does not lead', () => {
    const played = new Played({ ...fast, leader: false });
    played.use('a');
    played.tell({ kind: 'deviceTaintRuleUpsert', rule });
    played.tell({ kind: 'synced' });
    assert.deepEqual([played.sent, played.machine.nextWake()], [[], null]);
    played.tell({ kind: 'leadership', held: true });
    assert.deepEqual(played.deletions, ['a']);
  });

  it('forgets its counts and whom it has evicted when it leads no more', () => {
    const played = new Played();
    played.tell({ kind: 'synced' });
    played.use('a');
    played.tell({ kind: 'deviceTaintRuleUpsert', rule });
    played.runUntil(played.now + 20_000);
    // The pod is there still, and not marked as terminating: it is counted, and left alone.
    assert.equal(
      played.status,
      'PodsPendingEviction 1 pod needs to be evicted in 1 namespace. 1 pod evicted since starting the controller.',
    );
    for (const held of [false, true]) played.tell({ kind: 'leadership', held });
    assert.deepEqual(played.deletions, ['a', 'a']);
  });

  it('remembers the last 500 that it has evicted', () => {
    const played = new Played();
    played.tell({ kind: 'synced' });
    played.tell({ kind: 'deviceTaintRuleUpsert', rule });
    const names = Array.from({ length: 501 }, (_, index) => `p${index}`);
    for (const name of names) played.use(name);
    assert.equal(played.deletions.length, 501);
    for (const name of ['p1', 'p0']) {
      played.tell({ kind: 'resourceClaimUpsert', claim: claimOf(name) });
    }
    assert.deepEqual(played.deletions.slice(501), ['p0']);
  });

  it('looks at a pod at once when its claim is touched, whatever it waits for', () => {
    const played = new Played();
    played.outcome = 'failed';
    played.tell({ kind: 'synced' });
    played.use('a');
    played.tell({ kind: 'deviceTaintRuleUpsert', rule });
    played.runUntil(played.now + 5_000);
    const before = played.deletions.length;
    assert.equal(before, 10);
    played.tell({ kind: 'resourceClaimUpsert', claim: claimOf('a') });
    assert.equal(played.deletions.length, before + 1);
  });

  it('leaves a pod that is gone without a word, and cancels with an Event', () => {
    const played = new Played();
    const later = { ...rule, taint: { ...rule.taint, timeAdded: played.now + 9_000 } };
    played.tell({ kind: 'synced' });
    for (const name of ['a', 'b']) played.use(name);
    played.tell({ kind: 'deviceTaintRuleUpsert', rule: later });
    assert.equal(played.machine.plannedFor('a'), played.now + 9_000);
    played.tell({ kind: 'podDelete', uid: 'a' });
    played.tell({ kind: 'deviceTaintRuleDelete', name: 'ecc' });
    const events = played.sent.filter((one) => one.kind === 'recordDeviceEvent');
    assert.deepEqual(
      events.map(({ pod, message }) => [pod.name, message]),
      [['b', 'Cancelling deletion']],
    );
    played.runUntil(played.now + 60_000);
    assert.deepEqual(played.deletions, []);
  });

  it('heeds no rules where their gate is off', () => {
    const played = new Played({ ...fast, rules: false });
    played.tell({ kind: 'synced' });
    played.use('a');
    played.tell({ kind: 'deviceTaintRuleUpsert', rule });
    played.runUntil(played.now + 20_000);
    assert.deepEqual(played.sent, []);
  });
});
