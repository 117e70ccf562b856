// What an event of a script is: what it does, to whom, and what ends it.
import type { Millis } from '@taintmgr/core/time';
import type { Field } from '@taintmgr/k8s-adapter/manifests';
import type { KubeObject } from '@taintmgr/sim-cluster';
import type { Stage } from '../stage/stage.ts';
import { readTargets, type Targets, targetsText } from './targets.ts';

/** A workload or budget, as `shop/web`, and where it is named. */
export interface About {
  readonly field: Field;
  readonly what: 'workload' | 'workload that scales' | 'budget';
  readonly name: string;
}

/** What an event does. */
export interface ScriptAction {
  /** In words, for the timeline. */
  readonly text: string;
  /** Null: it is about no nodes, and done once. */
  readonly targets: Targets | null;
  /** `node` is '' where it is about none. Throws StageFault and ApiError. */
  readonly apply: (stage: Stage, node: string) => void;
  /** What ends it after `lasts`; null: it does not end. */
  readonly undo: { readonly text: string; readonly apply: ScriptAction['apply'] } | null;
  /** The node that it adds. */
  readonly adds?: KubeObject;
  /** What it is about beside nodes, which has to be there. */
  readonly about?: About;
  /** How long it lasts where `lasts` is left out; left out itself: for good. */
  readonly lastsUsual?: Millis;
  /** Whether the controller stops and begins anew. */
  readonly restarts?: true;
  /** Whether only the node pressure agent acts on it. */
  readonly needsPressure?: true;
}

export type Members = ReadonlyMap<string, Field>;

/** A kind of event: its fields, and how it is read. */
export interface ActionKind {
  readonly fields: readonly string[];
  readonly read: (body: Field, members: Members) => ScriptAction;
}

/** A member that must be there. */
export function required(body: Field, members: Members, name: string): Field {
  const field = members.get(name);
  if (!field) throw body.fault(`${name} is missing`);
  return field;
}

/** What is done to nodes, one by one, and how it is undone. */
export function onNodes(
  body: Field,
  members: Members,
  [verb, undoing]: readonly [string, string],
  apply: ScriptAction['apply'],
  undo: ScriptAction['apply'] | null,
  rest = '',
): ScriptAction {
  const targets = readTargets(body, members);
  const text = (what: string): string => `${what} ${targetsText(targets)}${rest}`;
  return {
    text: text(verb),
    targets,
    apply,
    undo: undo && { text: text(undoing), apply: undo },
  };
}
