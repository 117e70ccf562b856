// The words that people type and read for the values of an option, and their earlier spellings.
import type { Semantics } from '@taintmgr/core';
import type { PressureSemantics } from '@taintmgr/core/pressure';

/** The words for the way in which pods leave. */
export const modeWords = ['delete', 'evict', 'evict-then-delete'] as const;

/** A word for whose rules apply. */
export type Rules = 'taintmgr' | 'kube-controller-manager';

/** All words for whose rules apply; the last stays with its version when kube-controller-manager's rules change. */
export const rulesWords = [
  'taintmgr',
  'kube-controller-manager',
  'kube-controller-manager-1.36',
] as const;

/** The word for the library's semantics. */
export function rulesOf(semantics: Semantics): Rules {
  return semantics === 'precise' ? 'taintmgr' : 'kube-controller-manager';
}

/** The library's semantics that a word stands for. */
export function semanticsOf(word: (typeof rulesWords)[number]): Semantics {
  return word === 'taintmgr' ? 'precise' : 'upstream-1.36';
}

/** The words for whose rules apply under node pressure. */
export const pressureRulesWords = ['taintmgr', 'kubelet-1.36', 'kubelet-1.6'] as const;

/** The word for the library's semantics of node pressure. */
export function pressureRulesOf(semantics: PressureSemantics): (typeof pressureRulesWords)[number] {
  return semantics === 'precise' ? 'taintmgr' : semantics;
}

/** The library's semantics of node pressure that a word stands for. */
export function pressureSemanticsOf(word: (typeof pressureRulesWords)[number]): PressureSemantics {
  return word === 'taintmgr' ? 'precise' : word;
}

/** kube-controller-manager with the version whose rules are built in, in prose and tables. */
export const upstreamTitle = 'kube-controller-manager 1.36';

/** Words of earlier versions, and the words in use. */
const earlier: ReadonlyMap<string, string> = new Map([
  ['precise', 'taintmgr'],
  ['upstream-1.36', 'kube-controller-manager'],
  ['kcm-1.36', 'kube-controller-manager'],
]);

/** The meant one of the allowed words. */
export interface Spelled<T extends string> {
  /** The word as it is allowed. */
  readonly word: T;
  /** Says how the word is spelled; null: it was. */
  readonly hint: string | null;
}

/**
 * Reads one of the words, in an earlier spelling, another case or without hyphens too; null: it is
 * unknown.
 */
export function spelled<const T extends string>(
  text: string,
  words: readonly T[],
): Spelled<T> | null {
  const exact = words.find((word) => word === text);
  if (exact !== undefined) return { word: exact, hint: null };
  const meant = lettersOf(earlier.get(text) ?? text);
  const word = words.find((one) => lettersOf(one) === meant);
  return word === undefined ? null : { word, hint: `write ${word} instead of ${text}` };
}

function lettersOf(word: string): string {
  return word.toLowerCase().replaceAll(/[-_ ]/g, '');
}
