import type { Outcome } from '../attempt/outcome.ts';
import { InFlight } from '../kernel/inflight.ts';
import type { Instant } from '../kernel/time.ts';
import { type NodeCondition, type NodeRef, nodeRef } from '../model/node.ts';
import type { PressureCommand } from './command.ts';
import type { NodeRecord } from './node-record.ts';
import {
  type PressureConditionType,
  pressureConditions,
  pressureConditionTypes,
} from './signals.ts';

/**
 * Writes the conditions of nodes when they change. Only what we wrote is taken back: what others
 * say about a node is theirs.
 */
export class ConditionWriter {
  readonly #inFlight = new InFlight('pressure-condition', Number.POSITIVE_INFINITY);

  /** What has to be written of the node now. */
  write(now: Instant, record: NodeRecord): readonly PressureCommand[] {
    if (record.writing) return [];
    const { conditions, written } = record;
    const changed = pressureConditionTypes.filter(
      (type) => conditions.includes(type) !== written.includes(type),
    );
    if (changed.length === 0) return [];
    const node = nodeRef(record.node);
    const id = this.#inFlight.start(node.name);
    record.writing = { id, conditions };
    const states = changed.map((type) => conditionState(now, type, conditions.includes(type)));
    return [
      ...changed.map((type) => conditionEvent(node, type, conditions.includes(type))),
      { kind: 'setPressureConditions', id, node, conditions: states },
    ];
  }

  /** Frees the place of a command; the name of its node, or null for one that is not ours. */
  finish(id: string): string | null {
    return this.#inFlight.finish(id);
  }

  /** What was not accepted is written again with the next observation. */
  settle(record: NodeRecord, id: string, outcome: Outcome): void {
    if (record.writing?.id !== id) return;
    if (outcome.kind === 'done') record.written = record.writing.conditions;
    record.writing = null;
  }
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
