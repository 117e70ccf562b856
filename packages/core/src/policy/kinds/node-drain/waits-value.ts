// What a NodeDrain waits for, as the engine is given it: windows, gates, and the steps of others.
import type { TypeOf } from '../../schema/schema.ts';
import type { DrainGate, DrainHook, NodeDrain, ObjectState } from '../../values.ts';
import { durationOf } from '../parts.ts';
import type { NodeDrainSpec } from './spec.ts';

type Waits = Pick<
  NodeDrain,
  | 'heeds'
  | 'heedsNodes'
  | 'pauseLabel'
  | 'publishesConditions'
  | 'windows'
  | 'gates'
  | 'finishesNodes'
  | 'rollsBackWhenClosed'
  | 'beforeNode'
  | 'afterNode'
>;

export function drainWaitsOf({
  heeds: { podAnnotations: heeds = [], nodeAnnotations = [], pauseLabel },
  nodeConditions,
  windows = [],
  gates = [],
  whileClosed,
  beforeNode = [],
  afterNode = [],
}: NodeDrainSpec): Waits {
  return {
    ...{ heeds, heedsNodes: nodeAnnotations.length > 0, pauseLabel: pauseLabel ?? null },
    publishesConditions: nodeConditions === 'Publish',
    windows: windows.map(({ schedule, timeZone, duration }) => ({
      ...{ schedule, timeZone, lengthMs: durationOf(duration) ?? 0 },
    })),
    gates: gates.map(gateOf),
    finishesNodes: whileClosed === 'FinishNodes',
    rollsBackWhenClosed: whileClosed === 'RollBack',
    beforeNode: beforeNode.map(hookOf),
    afterNode: afterNode.map(hookOf),
  };
}

/** A schema that several fields have, as the reader hands it over. */
type Shared<Name extends string> = TypeOf<{ readonly type: 'shared'; readonly name: Name }>;

function gateOf({ name, object, noAlerts }: Shared<'drainGate'>): DrainGate {
  if (object) return { name, opensOn: { kind: 'object', object: objectStateOf(object) } };
  const { url = '', query: expression = '', timeout } = noAlerts ?? {};
  const timeoutMs = durationOf(timeout) ?? 0;
  return { name, opensOn: { kind: 'noAlerts', query: { url, expression, timeoutMs } } };
}

function hookOf({ name, object, timeout, onTimeout }: Shared<'drainHook'>): DrainHook {
  const timeoutMs = durationOf(timeout);
  return { name, object: objectStateOf(object), timeoutMs, goesOn: onTimeout === 'GoOn' };
}

function objectStateOf(spec: Shared<'objectState'>): ObjectState {
  const { apiVersion, kind, namespace = null, name, condition, annotation } = spec;
  const says = condition
    ? ({ kind: 'condition', ...condition } as const)
    : ({ kind: 'annotation', key: '', value: '', ...annotation } as const);
  return { apiVersion, kind, namespace, name, says };
}
