import { isDeepStrictEqual } from 'node:util';
import { parseTaintChanges } from '../../src/model/taint.ts';

interface Spec {
  readonly key: string;
  readonly value?: string;
  readonly effect?: string;
}

/** One command line of `kubectl taint`. */
export interface TaintParseCase {
  readonly specs: readonly string[];
  readonly error: boolean;
  readonly taintsToAdd?: readonly Spec[];
  readonly taintsToRemove?: readonly Spec[];
}

/** What differs from the recording; null when nothing does. The error texts are our own. */
export function checkTaintParse(recorded: TaintParseCase): string | null {
  const ours = parse(recorded.specs);
  if (typeof ours === 'string') return recorded.error ? null : `refused: ${ours}`;
  if (recorded.error) return `not refused: ${JSON.stringify(ours)}`;
  const { taintsToAdd = [], taintsToRemove = [] } = recorded;
  const add = taintsToAdd.map((spec) => ({ value: '', effect: '', ...spec, timeAdded: null }));
  const remove = taintsToRemove.map(({ key, effect = '' }) => ({ key, effect }));
  return isDeepStrictEqual(ours, { add, remove }) ? null : `read as ${JSON.stringify(ours)}`;
}

/** The message where the specs are refused. */
function parse(specs: readonly string[]): ReturnType<typeof parseTaintChanges> | string {
  try {
    return parseTaintChanges(specs);
  } catch (error) {
    if (error instanceof RangeError) return error.message;
    throw error;
  }
}
