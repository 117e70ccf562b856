import type { Command, Event, Node, Report } from '@taintmgr/core';

// What is taken out of a flight record before it is written. What is left that others write freely
// are messages and the reason of a pause, which may name anything. As in a snapshot they are taken
// out, while names and labels stay: without them nothing could be replayed. Events and commands are redacted alike, so
// that a replay compares like with like.

const redacted = 'redacted';

/**
 * What the API server says of disruption budgets decides, and names nothing but the budget: these
 * sentences, whole. Others may have written any text that is only like them.
 */
const name = '[a-z0-9]([a-z0-9.-]*[a-z0-9])?';
const budgetWords = new RegExp(
  `^(${[
    `The disruption budget ${name} needs \\d+ healthy pods and has \\d+ currently`,
    `The disruption budget ${name} does not allow evicting pods currently`,
    `The disruption budget ${name} is still being processed by the server\\.`,
    "Cannot evict pod as it would violate the pod's disruption budget\\.",
    'This pod has more than one PodDisruptionBudget, which the eviction subresource does not support\\.',
  ].join('|')})$`,
);
/** What a node lifecycle controller writes into conditions is not what others have written. */
const ownWords = /^Kubelet (stopped|never) post(ing|ed) node status\.$/;

/** The event without what others may have written into messages. */
export function redactEvent(event: Event): Event {
  switch (event.kind) {
    case 'nodeUpsert':
      return { ...event, node: redactNode(event.node) };
    case 'result':
      return { ...event, outcome: redactMember(event.outcome) };
    case 'pauseUpsert':
      return { ...event, pause: { ...event.pause, reason: redactMessage(event.pause.reason) } };
    default:
      return event;
  }
}

/** The command without what it repeats of such messages. */
export function redactCommand(command: Command): Command {
  switch (command.kind) {
    case 'report':
      return { ...command, report: redactReport(command.report) };
    case 'setNodeConditions': {
      const { conditions, seen } = command;
      return {
        ...command,
        conditions: conditions.map(redactMember),
        seen: seen && redactMember(seen),
      };
    }
    default:
      return command;
  }
}

function redactReport(report: Report): Report {
  switch (report.kind) {
    case 'retry': {
      const { setback, blocker } = report;
      return { ...report, setback: redactMember(setback), blocker: redactMember(blocker) };
    }
    case 'writeFailed':
      return { ...report, outcome: redactMember(report.outcome) };
    case 'podMarkFailed':
      return { ...report, outcome: redactMember(report.outcome) };
    default:
      return report;
  }
}

function redactNode(node: Node): Node {
  return node.conditions ? { ...node, conditions: node.conditions.map(redactMember) } : node;
}

/** The same value with its message redacted, if it has one. */
function redactMember<T extends object>(value: T): T {
  if (!('message' in value) || typeof value.message !== 'string') return value;
  return { ...value, message: redactMessage(value.message) };
}

function redactMessage(message: string): string {
  const isHarmless = message === '' || budgetWords.test(message) || ownWords.test(message);
  return isHarmless ? message : redacted;
}
