// What kept pods from leaving, or from coming back: by limits, pauses, zones, budgets, room.
import { leastOf } from '../../../render/count.ts';
import type { Recording } from '../record/recorder.ts';
import { thousandths } from './downtime.ts';

/** Why something took longer than its deadline, for the pods of one workload. */
export interface Cause {
  readonly kind: CauseKind;
  /** The limit, pause, zone or budget; '' for room and failures. */
  readonly name: string;
  /** `Deployment shop/web`; null: pods of none that is counted, or a whole zone. */
  readonly workload: string | null;
  readonly pods: number;
  readonly from: number;
  /** Null: to the end. */
  readonly until: number | null;
  /** The last that was said of it. */
  readonly text: string;
}

export type CauseKind = 'limit' | 'pause' | 'zone' | 'budget' | 'room' | 'failure';

/** One pod, and what kept it. */
interface Kept extends Omit<Cause, 'pods'> {
  readonly pod: string;
}

/** What kept pods in a run, the first first. */
export function causesOf(recording: Recording): readonly Cause[] {
  const groups = new Map<string, Kept[]>();
  for (const kept of [...ofPods(recording), ...ofZones(recording)]) {
    const key = [kept.kind, kept.name, kept.workload].join('\0');
    const group = groups.get(key) ?? [];
    group.push(kept);
    groups.set(key, group);
  }
  const causes = Array.from(groups.values(), causeOf);
  return causes.sort((one, other) => one.from - other.from);
}

function causeOf(group: readonly Kept[]): Cause {
  const last = group.at(-1);
  const { kind = 'failure', name = '', workload = null, text = '' } = last ?? {};
  const pods = new Set(group.map(({ pod }) => pod).filter((pod) => pod !== '')).size;
  const from = leastOf(group.map((one) => one.from));
  const until = group.reduce<number | null>(
    (latest, one) => (latest === null || one.until === null ? null : Math.max(latest, one.until)),
    0,
  );
  return { kind, name, workload, pods, from, until: until && thousandths(until), text };
}

function ofPods({ holds, refusals, unplaced, failures }: Recording): readonly Kept[] {
  const nameOf = ({ namespace, pod }: { readonly namespace: string; readonly pod: string }) =>
    `${namespace}/${pod}`;
  return [
    ...holds.map((hold): Kept => {
      const { kind, name, workload, from, until, text } = hold;
      return { kind, name, workload, from, until, text, pod: nameOf(hold) };
    }),
    ...refusals.map((refusal): Kept => {
      const { budget, workload, firstAt, lastAt, message } = refusal;
      const times = { from: firstAt, until: lastAt, text: message };
      return { kind: 'budget', name: budget, workload, ...times, pod: nameOf(refusal) };
    }),
    ...unplaced.map((one): Kept => {
      const { workload, from, until, message } = one;
      return { kind: 'room', name: '', workload, from, until, text: message, pod: nameOf(one) };
    }),
    ...failures.map((one): Kept => {
      const { workload, at, message } = one;
      const times = { from: at, until: at, text: message };
      return { kind: 'failure', name: '', workload, ...times, pod: nameOf(one) };
    }),
  ];
}

/** Zones whose unreachable nodes are not tainted for the time being. */
function ofZones({ zones }: Recording): readonly Kept[] {
  return zones.flatMap(({ name, states }) =>
    states.flatMap(({ at, held }, index): readonly Kept[] => {
      if (held === null) return [];
      const until = states[index + 1]?.at ?? null;
      return [{ kind: 'zone', name, workload: null, from: at, until, text: held, pod: '' }];
    }),
  );
}
