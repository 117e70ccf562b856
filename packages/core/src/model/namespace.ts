// What decisions need of a namespace.
import type { Labels } from './selector.ts';

/** The part of a Namespace that decisions need. */
export interface Namespace {
  readonly name: string;
  readonly labels: Labels;
}
