// Waves of nodes, and how many nodes are drained at a time.

/** Nodes, or a part of those of a wave, such as `10%`; 0: no limit. */
export type NodesAtOnce = number | `${number}%`;

/** Nodes that are done with before those of the next wave begin. */
export interface Wave {
  /** '': the one without a name. */
  readonly name: string;
  /** Null: that of the drain counts. */
  readonly nodesAtOnceMax: number | null;
}
