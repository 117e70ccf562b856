import type { Command, Event, Node, NodeCondition, Outcome, Setback } from '@taintmgr/core';

// What the engine is told holds no environment, commands, images or secrets: convert.ts takes only
// what decisions need. What is left that others write freely are messages, which may name anything.
// As in a snapshot they are taken out, while names and labels stay: without them nothing could be
// replayed. Events and commands are redacted alike, so that a replay compares like with like.

const redacted = 'redacted';

/** The API server's words about disruption budgets, which decide and name nothing but the budget. */
const budgetWords = /disruption budget|PodDisruptionBudget/;

/** The event without what others may have written into messages. */
export function redactEvent(event: Event): Event {
  switch (event.kind) {
    case 'nodeUpsert':
      return { ...event, node: redactNode(event.node) };
    case 'result':
      return { ...event, outcome: redactOutcome(event.outcome) };
    default:
      return event;
  }
}

/** The command without what it repeats of such messages. */
export function redactCommand(command: Command): Command {
  if (command.kind !== 'report' || command.report.kind !== 'retry') return command;
  const { setback, blocker } = command.report;
  const report = {
    ...command.report,
    setback: redactOutcome<Setback>(setback),
    blocker: { ...blocker, message: redactMessage(blocker.message) },
  };
  return { ...command, report };
}

function redactNode(node: Node): Node {
  if (!node.conditions) return node;
  const silent = (condition: NodeCondition): NodeCondition => ({ ...condition, message: redacted });
  return { ...node, conditions: node.conditions.map(silent) };
}

function redactOutcome<Kind extends Outcome>(outcome: Kind): Kind {
  return 'message' in outcome ? { ...outcome, message: redactMessage(outcome.message) } : outcome;
}

function redactMessage(message: string): string {
  return message === '' || budgetWords.test(message) ? message : redacted;
}
