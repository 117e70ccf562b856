// What of a message stays in a flight record: as much as the engine decides by, and no words of others.
import { webhookDenial } from '@taintmgr/core';

const name = '[a-z0-9]([a-z0-9.-]*[a-z0-9])?';
/**
 * What the API server says of disruption budgets decides, and names nothing but the budget: these
 * sentences, whole. Others may have written any text that is only like them.
 */
const budgetWords = [
  `The disruption budget ${name} needs \\d+ healthy pods and has \\d+ currently`,
  `The disruption budget ${name} does not allow evicting pods currently`,
  `The disruption budget ${name} is still being processed by the server\\.`,
  "Cannot evict pod as it would violate the pod's disruption budget\\.",
  'This pod has more than one PodDisruptionBudget, which the eviction subresource does not support\\.',
];
/** What controllers like ours write into conditions of nodes is not what others have written. */
const ownWords = ['Kubelet (stopped|never) post(ing|ed) node status\\.', `NodeDrain ${name}`];
/** As the API server wants it; anything else is not its sentence. */
const webhookName = new RegExp(`^${name}$`);
/** Words that decide wherever they stand in a message. */
const phrases = ['node is shutting down', 'more than one PodDisruptionBudget'];
const anyPhrase = phrases.join('|');

/** What was redacted before is not redacted again: a replay is told what the record says. */
const redactedWords = `redacted( \\([0-9a-f]{4}\\))?(: (${anyPhrase}))?`;
const harmless = new RegExp(`^(${[...budgetWords, ...ownWords, redactedWords].join('|')})?$`);

/** The same value with its message redacted, if it has one. */
export function redactMember<T extends object>(value: T): T {
  if (!('message' in value) || typeof value.message !== 'string') return value;
  return { ...value, message: redactMessage(value.message) };
}

/**
 * The message without words of others. That a webhook has refused, and which, stays: it decides when
 * the pod is tried again.
 */
export function redactMessage(message: string): string {
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
 * By which the engine sees whether somebody says the same as last time. It is so short that a secret
 * cannot be found by trying: too many others have the same. FNV-1a, folded to 16 bits.
 */
function digestOf(text: string): string {
  let hash = 0x811c9dc5;
  for (let index = 0; index < text.length; index++) {
    hash = Math.imul(hash ^ text.charCodeAt(index), 0x01000193);
  }
  return ((hash ^ (hash >>> 16)) & 0xffff).toString(16).padStart(4, '0');
}
