import { type Command, type Event, type Node, type Report, webhookDenial } from '@taintmgr/core';
import { type EvictionRequest, interceptionIn } from '@taintmgr/core/drain';

// Takes secrets out of a flight record before it is written. The remaining free text is in messages
// and in the reason of a pause, which may name anything. As in a snapshot they are taken out, while
// names and labels stay: without them nothing could be replayed. Events and commands are redacted
// alike, so that a replay compares like with like.

/** Returns the event without the texts of others in messages. */
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
    case 'deviceTaintRuleUpsert': {
      const { rule } = event;
      return {
        ...event,
        rule: { ...rule, progress: rule.progress && redactMember(rule.progress) },
      };
    }
    case 'evictionRequests':
      return { ...event, requests: event.requests.map(redactRequest) };
    default:
      return event;
  }
}

/** Returns the command without the texts of others in messages. */
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

/**
 * The hold ends with the pauses that hold, each with its reason: from the first reason on it says
 * no more.
 */
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

const name = '[a-z0-9]([a-z0-9.-]*[a-z0-9])?';
/**
 * The API server's sentences about disruption budgets decide, and name nothing but the budget:
 * these sentences, whole. Other programs may have written any text that is only like them.
 */
const budgetWords = [
  `The disruption budget ${name} needs \\d+ healthy pods and has \\d+ currently`,
  `The disruption budget ${name} does not allow evicting pods currently`,
  `The disruption budget ${name} is still being processed by the server\\.`,
  "Cannot evict pod as it would violate the pod's disruption budget\\.",
  'This pod has more than one PodDisruptionBudget, which the eviction subresource does not support\\.',
];
/** Texts of controllers like ours in conditions of nodes are not texts of others. */
const ownWords = ['Kubelet (stopped|never) post(ing|ed) node status\\.', `NodeDrain ${name}`];
/** As the API server wants it; anything else is not its sentence. */
const webhookName = new RegExp(`^${name}$`);
/** Words that decide wherever they stand in a message. */
const phrases = ['node is shutting down', 'more than one PodDisruptionBudget'];
const anyPhrase = phrases.join('|');

/** A redacted text is not redacted again: a replay uses the words of the record. */
const redactedWords = `redacted( \\([0-9a-f]{4}\\))?(: (${anyPhrase}))?`;
const harmless = new RegExp(`^(${[...budgetWords, ...ownWords, redactedWords].join('|')})?$`);

/** The same value with its message redacted, if it has one. */
function redactMember<T extends object>(value: T): T {
  if (!('message' in value) || typeof value.message !== 'string') return value;
  return { ...value, message: redactMessage(value.message) };
}

/**
 * The message without words of others. The refusal of a webhook, and its name, stay: they decide
 * when the pod is tried again.
 */
function redactMessage(message: string): string {
  if (harmless.test(message)) return message;
  const denial = webhookDenial(message);
  if (!denial || !webhookName.test(denial.webhook)) return redactWords(message);
  const { words } = denial;
  return `${message.slice(0, message.length - words.length)}${redactWords(words)}`;
}

function redactWords(words: string): string {
  if (harmless.test(words)) return words;
  const phrase = phrases.find((one) => words.includes(one));
  const kept = phrase === undefined ? '' : `: ${phrase}`;
  return `redacted (${digestOf(words)})${kept}`;
}

/**
 * By which the engine sees if the message is the same as last time. The digest is so short that a
 * secret cannot be found by trying: too many others have the same. FNV-1a, folded to 16 bits.
 */
function digestOf(text: string): string {
  let hash = 0x811c9dc5;
  for (let index = 0; index < text.length; index++) {
    hash = Math.imul(hash ^ text.charCodeAt(index), 0x01000193);
  }
  return ((hash ^ (hash >>> 16)) & 0xffff).toString(16).padStart(4, '0');
}
