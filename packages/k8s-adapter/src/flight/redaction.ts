import type { Command, Event, Node, Report } from '@taintmgr/core';
import { type EvictionRequest, interceptionIn } from '@taintmgr/core/drain';
import { redactMember, redactMessage } from './messages.ts';

// What is taken out of a flight record before it is written. What is left that others write freely
// are messages and the reason of a pause, which may name anything. As in a snapshot they are taken
// out, while names and labels stay: without them nothing could be replayed. Events and commands are redacted alike, so
// that a replay compares like with like.

/** The event without what others may have written into messages. */
export function redactEvent(event: Event): Event {
  switch (event.kind) {
    case 'nodeUpsert':
      return { ...event, node: redactNode(event.node) };
    case 'result':
      return { ...event, outcome: redactMember(event.outcome) };
    case 'pauseUpsert':
      return { ...event, pause: { ...event.pause, reason: redactMessage(event.pause.reason) } };
    case 'nodeDrainUpsert': {
      const { drain } = event;
      return { ...event, drain: { ...drain, known: drain.known.map(redactMember) } };
    }
    case 'evictionRequests':
      return { ...event, requests: event.requests.map(redactRequest) };
    default:
      return event;
  }
}

/** The command without what it repeats of such messages. */
export function redactCommand(command: Command): Command {
  switch (command.kind) {
    case 'report':
      return { ...command, report: redactReport(command.report) };
    case 'recordEvent': {
      const { reason, message } = command;
      const said = interceptionIn(reason, message);
      if (said === null) return command;
      const opening = message.slice(0, message.length - said.length);
      return { ...command, message: `${opening}${redactMessage(said)}` };
    }
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
    case 'readinessHold': {
      const { hold } = report;
      return { ...report, hold: hold && { ...hold, reason: withoutReasons(hold.reason) } };
    }
    default:
      return report;
  }
}

/** It ends with the pauses that hold, each with its reason: from the first reason on it says no more. */
function withoutReasons(hold: string): string {
  return hold.replace(/((?:^|; )pause [a-z0-9.-]+: ).*$/s, '$1redacted');
}

function redactNode(node: Node): Node {
  return node.conditions ? { ...node, conditions: node.conditions.map(redactMember) } : node;
}

function redactRequest(request: EvictionRequest): EvictionRequest {
  const { failed, responder } = request;
  return {
    ...request,
    failed: failed === null ? null : redactMessage(failed),
    responder: responder && redactMember(responder),
  };
}
