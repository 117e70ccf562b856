// The status of one policy, taint rule or pause, as the leader writes it.
import type { PolicyCounts } from '@taintmgr/core';
import { podRightRemedies, resumeCommand } from '@taintmgr/core/policy';
import { formatTime, formatTimeMillis, type Instant, type Millis } from '@taintmgr/core/time';
import { fittedStatus } from '../kinds/fitted-status.ts';
import type { StatusOf } from '../kinds/kinds.ts';
import { type FollowedKind, type FollowedObject, told } from '../manifests/followed.ts';
import { asList, asRecord } from '../proto/json.ts';
import { drainConditions, drainStatus } from './drain-status.ts';
import { type Condition, conditionsIn, dated, type StatedCondition } from './status-conditions.ts';

/** All that a kind says besides the conditions, and the conditions without their dates. */
interface Stated<K extends FollowedKind = FollowedKind> {
  readonly said: Omit<StatusOf[K], 'observedGeneration' | 'conditions'>;
  readonly conditions: readonly StatedCondition[];
  /** True if the object is not followed: `conditions` is all there is to say. */
  readonly isIgnored?: true;
}

type CountsOf = {
  readonly EvictionPolicy: 'policies';
  readonly NodeTaintRule: 'taintRules';
  readonly EvictionPause: 'pauses';
  readonly NodeDrain: 'drains';
};
type Count<K extends FollowedKind> =
  NonNullable<PolicyCounts[CountsOf[K]]> extends ReadonlyMap<string, infer C> ? C : never;

/**
 * The status that an object should have at `wall`; null: nothing is known of it yet. `known` is the
 * status that it has: a condition keeps its date for as long as it stays as it is.
 */
export function policyStatus(
  object: FollowedObject,
  counts: PolicyCounts,
  wall: Instant,
  known: unknown,
): unknown {
  // A write would make the API server drop for good what an older definition hides.
  if (object.isCut) return null;
  const stated = statedOf(object, counts, known);
  if (!stated) return null;
  const { generation: observedGeneration } = object;
  const isInForce = object.object !== null && !object.isInFile;
  const before = conditionsIn(known);
  const conditions: readonly Condition[] = dated(wall, stated.conditions, before).map((one) => {
    return { ...one, observedGeneration };
  });
  if (object.kind === 'NodeDrain' && stated.isIgnored) return beside(known, conditions);
  const status = { ...(isInForce && { observedGeneration }), ...stated.said, conditions };
  return fittedStatus(object.kind, status).value;
}

/** The progress of a drain as it is, from which the next leader that follows the drain goes on. */
function beside(known: unknown, conditions: readonly Condition[]): unknown {
  const own = new Set<unknown>(conditions.map(({ type }) => type));
  const others = asList(asRecord(known).conditions).filter((one) => !own.has(asRecord(one).type));
  return { ...asRecord(known), conditions: [...others, ...conditions] };
}

function statedOf(object: FollowedObject, counts: PolicyCounts, known: unknown): Stated | null {
  const { kind, name } = object;
  // An object that is not followed now may be again, and its deadlines count from then.
  const { since } = asRecord(known);
  const said = kind === 'EvictionPause' && typeof since === 'string' ? { since } : {};
  const not = (reason: string, message: string): Stated => {
    return { said, conditions: [inForce('False', reason, message)], isIgnored: true };
  };
  if (object.isInFile) return not('FileCounts', fileCounts);
  if (object.object === null) return not('CannotBeFollowed', told(object).join('; '));
  switch (kind) {
    case 'EvictionPolicy': {
      if (!counts.policies) return not('ControllerDisabled', evictionDisabled);
      return stateOf(counts.policies.get(name), ofPolicy);
    }
    case 'NodeTaintRule': {
      if (!counts.taintRules) return not('ControllerDisabled', lifecycleDisabled);
      return stateOf(counts.taintRules.get(name), ofRule);
    }
    case 'EvictionPause': {
      if (!counts.pauses) return not('ControllerDisabled', evictionDisabled);
      const holdsHealthAlone = counts.pauses.get(name)?.held === null;
      if (holdsHealthAlone && !counts.taintRules)
        return not('ControllerDisabled', lifecycleDisabled);
      return stateOf(counts.pauses.get(name), ofPause);
    }
    case 'NodeDrain': {
      if (!counts.drains) return not('ControllerDisabled', drainsDisabled);
      return stateOf(counts.drains.get(name), ofDrain);
    }
  }
}

function stateOf<C>(counts: C | undefined, state: (counts: C) => Stated): Stated | null {
  return counts === undefined ? null : state(counts);
}

const fileCounts = 'a file of --policy has an object of this name, which counts instead';
const evictionDisabled = 'taint-eviction-controller is not among the --controllers that run';
const lifecycleDisabled = 'node-lifecycle-controller is not among the --controllers that run';

const drainsDisabled = 'node-drain-controller is not among the --controllers that run';

function inForce(status: 'True' | 'False', reason: string, message: string): StatedCondition {
  return { type: 'InForce', status, reason, message };
}

function ofPolicy(counts: Count<'EvictionPolicy'>): Stated<'EvictionPolicy'> {
  const { tripped, lacks, ...said } = counts;
  const isTripped: StatedCondition = {
    type: 'LimitTripped',
    status: 'True',
    reason: 'Tripped',
    message: `its pods wait until you run: ${tripped.map(resumeCommand).join('; ')}`,
  };
  const missing = lacks.map((right) => `${right} (${podRightRemedies[right]})`).join('; ');
  const follows =
    lacks.length === 0
      ? inForce('True', 'Followed', 'the controller follows it')
      : inForce(
          'False',
          'Forbidden',
          `its pods stay, as the controller has no right to ${missing}`,
        );
  return { said, conditions: [follows, ...(tripped.length > 0 ? [isTripped] : [])] };
}

function ofRule({ selected, tainted, waiting }: Count<'NodeTaintRule'>): Stated<'NodeTaintRule'> {
  const said = { nodesSelected: selected, nodesTainted: tainted.length, nodes: tainted };
  const isFull: StatedCondition = {
    type: 'LimitReached',
    status: 'True',
    reason: 'MaxNodes',
    message: `${waiting} more would get the taint if maxNodes let them`,
  };
  const follows = inForce('True', 'Followed', 'the controller follows it');
  return { said, conditions: [follows, ...(waiting > 0 ? [isFull] : [])] };
}

function ofPause({ since, isOver, pods, held }: Count<'EvictionPause'>): Stated<'EvictionPause'> {
  const said = {
    since: sinceText(since),
    pods,
    ...(held !== null && { timeGivenBack: durationText(isOver ? held : wholeMinutes(held)) }),
  };
  const holds = held === null ? 'only what readiness is about is held' : 'evictions are held';
  const condition = isOver
    ? inForce('False', 'Over', 'its time is over')
    : inForce('True', 'Holds', holds);
  return { said, conditions: [condition] };
}

/** As exact as it is read again: a status moves no deadline. */
function sinceText(since: Instant): string {
  return since % 1000 === 0 ? formatTime(since) : formatTimeMillis(since);
}

/** The length grows all the time, and is written once a minute. */
function wholeMinutes(length: Millis): Millis {
  return length - (length % 60_000);
}

const units = [
  ['h', 3_600_000],
  ['m', 60_000],
  ['s', 1_000],
] as const;

/** As a manifest may have it: the largest unit is the hour. */
function durationText(length: Millis): string {
  let rest = length;
  const parts = units.map(([unit, size]) => {
    const count = Math.floor(rest / size);
    rest -= count * size;
    return count > 0 ? `${count}${unit}` : '';
  });
  return parts.join('') || '0s';
}

function ofDrain(state: Count<'NodeDrain'>): Stated<'NodeDrain'> {
  return { said: drainStatus(state), conditions: drainConditions(state) };
}
