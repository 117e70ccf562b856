import type { Outcome } from '../attempt/outcome.ts';
import type { InFlight } from '../kernel/inflight.ts';
import type { Instant } from '../kernel/time.ts';
import type { NodeCondition, NodeRef } from '../model/node.ts';
import type { PressureCommand } from './command.ts';
import {
  type PressureConditionType,
  pressureConditions,
  pressureConditionTypes,
} from './signals.ts';

/**
 * Writes the conditions of one node when they change, and tells of it once it is written. Only what
 * we wrote is taken back: what others say about a node is theirs.
 */
export class ConditionWriter {
  #written: readonly PressureConditionType[] = [];
  #writing: ConditionWrite | null = null;

  /** A standby learns here what the leader wrote. */
  adopt(written: readonly PressureConditionType[]): void {
    if (this.#writing === null) this.#written = written;
  }

  /** What has to be written now, so that these conditions are True. */
  write(
    now: Instant,
    node: NodeRef,
    conditions: readonly PressureConditionType[],
    inFlight: InFlight,
  ): readonly PressureCommand[] {
    if (this.#writing) return [];
    const changed = pressureConditionTypes.filter(
      (type) => conditions.includes(type) !== this.#written.includes(type),
    );
    if (changed.length === 0) return [];
    const id = inFlight.start(node.name);
    const events = changed.map((type) => conditionEvent(node, type, conditions.includes(type)));
    this.#writing = { id, conditions, events };
    const states = changed.map((type) => conditionState(now, type, conditions.includes(type)));
    return [{ kind: 'setPressureConditions', id, node, conditions: states }];
  }

  /** What is to be told now. What was not accepted is written again with the next observation. */
  answered(id: string, outcome: Outcome): readonly PressureCommand[] {
    const writing = this.#writing;
    if (writing?.id !== id) return [];
    this.#writing = null;
    if (outcome.kind !== 'done') return [];
    this.#written = writing.conditions;
    return writing.events;
  }
}

/** A write that is not answered yet, and the Events of what it changes. */
interface ConditionWrite {
  readonly id: string;
  readonly conditions: readonly PressureConditionType[];
  readonly events: readonly PressureCommand[];
}

function conditionState(now: Instant, type: PressureConditionType, holds: boolean): NodeCondition {
  const status = holds ? 'True' : 'False';
  const { reason, message } = pressureConditions[type][status];
  return { type, status, reason, message, heartbeatAt: now, transitionAt: now };
}

function conditionEvent(
  node: NodeRef,
  type: PressureConditionType,
  holds: boolean,
): PressureCommand {
  const { eventReason: reason } = pressureConditions[type][holds ? 'True' : 'False'];
  const message = `Node ${node.name} status is now: ${reason}`;
  return { kind: 'recordNodeEvent', node, type: 'Normal', reason, message };
}
