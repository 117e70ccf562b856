import type { Instant } from '@taintmgr/core';
import type { Connection } from '../../cli/connection.ts';
import type { Output } from '../../cli/output.ts';
import type { Closing, NodeChanges } from './cordon-and-taint.ts';
import type { Gathered } from './gather.ts';
import type { DrainSettings } from './settings.ts';

/** One drain: what it works with. */
export interface Drain {
  readonly connection: Connection;
  readonly settings: DrainSettings;
  readonly gathered: Gathered;
  readonly closing: Closing;
  readonly output: Output;
  /** Says what was done, in lines of kubectl's kind: data, where no document is asked for. */
  readonly say: (line: string) => void;
  readonly interrupt: AbortSignal;
  readonly startedAt: Instant;
}

/** Says, in kubectl's words, what was done to a node, or that it was so already. */
export function tellChange(
  { say }: Pick<Drain, 'say'>,
  nodeName: string,
  what: 'cordoned' | 'tainted',
  changes: NodeChanges,
  how: string = '',
): void {
  say(`node/${nodeName} ${changes[what] ? '' : 'already '}${what}${how}`);
}
