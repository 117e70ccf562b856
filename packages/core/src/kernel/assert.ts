/** Stops on a mistake of our own. The cluster's oddities are data and never come here. */
export function assert(condition: boolean, message: string): asserts condition {
  if (!condition) throw new Error(`taintmgr: broken invariant: ${message}`);
}
