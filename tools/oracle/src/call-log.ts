// The calls of one client, and which of them led to which.
import type { Call, CallKind } from './call.ts';

/** What is sent to change an object, and what may have been sent before for the same purpose. */
const attempts: Readonly<Record<string, readonly CallKind[]>> = {
  changeNode: ['readNode', 'changeNode'],
  changeNodeStatus: ['readNode', 'readLease', 'changeNodeStatus'],
  changePodStatus: ['readPod', 'readNode', 'changePodStatus'],
};
/** No chain of requests takes longer: three that run out of time, and one more. */
const chainMsMax = 120_000;
/** The longest pause before another attempt at the same change. */
const pauseMsMax = 300;

export class CallLog {
  readonly #calls: Call[] = [];

  /** Everything the client ever asked, in order. */
  get all(): readonly Call[] {
    return this.#calls;
  }

  add(call: Call): void {
    this.#calls.push(call);
  }

  /** The calls that led to this one without a pause, earliest first, with itself at the end. */
  chainOf(call: Call): readonly Call[] {
    const { kind, sentAt, target } = call;
    if (kind === 'deletePod') {
      const mark = this.#before(call, 'markPod', sentAt, target);
      return mark ? [...this.chainOf(mark), call] : [...this.#reads(call), call];
    }
    return kind === 'markPod' || kind === 'evictPod' ? [...this.#reads(call), call] : [call];
  }

  /** When the first attempt was made at the change that this call asks for. */
  begunAt(call: Call): number {
    const before = this.#recent(call);
    // The node is read for each of its pods: the read for this one is that which began with it.
    const [read = call] = call.kind === 'changePodStatus' ? this.#reads(call) : [];
    let first = read;
    for (const one of before.slice(0, before.indexOf(read)).reverse()) {
      if (one.run !== call.run || one.endedAt === null || !isAbout(one, call)) continue;
      if (!attempts[call.kind]?.includes(one.kind)) continue;
      // What succeeded was another change, and what led to it led to that.
      if (one.kind === call.kind && one.succeeded) break;
      // One read leads to an attempt; the read before it led to another one.
      if (one.kind !== call.kind && one.kind === first.kind) continue;
      const pause = first.sentAt - one.endedAt;
      if (pause >= 0 && pause <= pauseMsMax) first = one;
    }
    return first.sentAt;
  }

  /** The reads of pod and node right before, if there were any. */
  #reads(call: Call): readonly Call[] {
    const reads = this.#recent(call).filter(
      ({ run, kind, endedAt }) =>
        run === call.run && kind === 'readNode' && endedAt === call.sentAt,
    );
    for (const node of reads) {
      const pod = this.#before(call, 'readPod', node.sentAt, call.target);
      if (pod) return [pod, node];
    }
    return [];
  }

  #before(call: Call, kind: CallKind, endedAt: number, target: string): Call | undefined {
    return this.#recent(call).find(
      (one) =>
        one.run === call.run &&
        one.kind === kind &&
        one.endedAt === endedAt &&
        one.target === target &&
        (one.uid === null || one.uid === call.uid),
    );
  }

  /** The calls sent so shortly before that one that they may have led to it. */
  #recent(call: Call): readonly Call[] {
    const from = this.#calls.findLastIndex(({ sentAt }) => sentAt < call.sentAt - chainMsMax);
    return this.#calls.slice(from + 1);
  }
}

/** A pod is marked because of its node, which may be read in between. */
function isAbout(one: Call, { kind, target }: Call): boolean {
  return one.target === target || (kind === 'changePodStatus' && one.kind === 'readNode');
}
