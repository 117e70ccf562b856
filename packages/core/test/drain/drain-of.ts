// NodeDrains from the few fields that matter.
import { type NodeDrain, type NodeDrainSpec, plainDrainSpec } from '@taintmgr/core/policy';
import { parseDuration, parseTime } from '@taintmgr/core/time';

type KnownDrainNode = NodeDrain['known'][number];

/** A spec of which parts are left out; its durations and times may be texts, as in a manifest. */
interface PartOfSpec {
  readonly taint?: object;
  readonly pods?: object;
  readonly limits?: object;
  readonly timeouts?: object;
}

/** A drain of pods that nobody recreates too, unless `pods` says otherwise. */
export function drainOf(spec: object, others: Partial<NodeDrain> = {}): NodeDrain {
  const { taint, pods = { withoutController: true }, ...more }: PartOfSpec = spec;
  const { limits, timeouts, ...rest } = more;
  const whole = {
    ...{ ...plainDrainSpec, ...rest },
    taint: { key: 'work', value: '', effect: 'NoSchedule', ...taint },
    pods: { ...plainDrainSpec.pods, ...pods },
    limits: { ...plainDrainSpec.limits, ...limits },
    timeouts: { ...plainDrainSpec.timeouts, ...timeouts },
  };
  return {
    ...{ name: 'kernel', uid: 'u1', generation: 1, created: null },
    ...{ isDeleted: false, isGuarded: false },
    spec: inUnits('', whole) as NodeDrainSpec,
    ...{ known: [], podsLeft: [], podsGoneBefore: 0, knowsAll: true },
    ...{ volumeWaits: [], notReplaced: [], startedAt: null },
    ...{ observedGeneration: null, observedSelector: null, isOver: false },
    ...others,
  };
}

/** A node as the status of a drain has it. */
export function knownNode(
  name: string,
  phase: string,
  fields: Partial<KnownDrainNode> = {},
): KnownDrainNode {
  return {
    ...{ name, phase, reason: '', message: '', podsGone: 0, podsLeft: 0 },
    ...{ startedAt: null, waitsSince: null, endedAt: null },
    ...fields,
  };
}

const defaults: Readonly<Record<string, object>> = {
  windows: { timeZone: 'Etc/UTC' },
  noAlerts: { timeout: 5_000 },
  condition: { status: 'True' },
  beforeNode: { onTimeout: 'Fail' },
  afterNode: { onTimeout: 'Fail' },
  waitDetached: { onTimeout: 'Hold' },
};

const lengths = /^(timeout|duration|evictionRequest|node|rollout|terminatingPods|deleteAfter)$/;

/** The member of a spec, with durations in milliseconds, times as instants, and its defaults. */
function inUnits(name: string, value: unknown): unknown {
  if (typeof value === 'string' && lengths.test(name)) return parseDuration(value);
  if (typeof value === 'string' && name === 'until') return parseTime(value);
  if (Array.isArray(value)) return value.map((item) => inUnits(name, item));
  if (typeof value !== 'object' || value === null) return value;
  const entries = Object.entries({ ...defaults[name], ...value });
  return Object.fromEntries(entries.map(([key, each]) => [key, inUnits(key, each)]));
}
