// The data of the page of `web --demo`: two simulated clusters that get the same accidents. Times are simulated seconds.

/** The data in the page before the stream begins: addresses beside its own. */
export interface DemoSource {
  readonly demo: {
    readonly stream: string;
    /** Where `?act=NAME`, `?speed=60`, `?pause=on` and `?begin=again` are sent. */
    readonly press: string;
  };
}

/** Something that a button does to both clusters. */
export interface DemoAct {
  readonly name: string;
  readonly label: string;
  /** The label of the button while the act lasts; null: the act is over at once. */
  readonly undo: string | null;
  readonly does: string;
  /** The place to look at after a press. */
  readonly look: string;
}

export interface DemoNode {
  readonly name: string;
  readonly mark: 'ready' | 'tainted' | 'down';
  /** Pods on it that serve or start; those of a dead machine count until it is back. */
  readonly pods: number;
}

export interface DemoWorkload {
  readonly name: string;
  readonly wanted: number;
  /** Pods that really serve: none of a dead machine. */
  readonly serving: number;
  /** The number of pods that its disruption budget asks for. */
  readonly needed: number;
}

/** One of the clusters, with the rules that decide in it. */
export interface DemoSide {
  readonly rules: 'kube-controller-manager' | 'taintmgr';
  readonly zones: readonly { readonly name: string; readonly nodes: readonly DemoNode[] }[];
  readonly workloads: readonly DemoWorkload[];
  /** Pods that are down now, and the most that were at once. */
  readonly down: number;
  readonly downMax: number;
  /** A pod that is down for a minute counts as one. */
  readonly podMinutesLost: number;
  readonly evictions: number;
  /** Pods that a limit holds now. */
  readonly held: number;
  /** Evictions that budgets refused, every attempt counted. */
  readonly refused: number;
  /** The pod whose time is over next, and how many pods have a time; null: none has. */
  readonly next: {
    readonly pod: string;
    readonly node: string;
    readonly dueAt: number;
    readonly pods: number;
  } | null;
  /** Pods down from each instant to the next. */
  readonly curve: readonly (readonly [at: number, down: number])[];
}

export interface DemoState {
  /** Tells one beginning from the next. */
  readonly round: number;
  readonly now: number;
  readonly speed: number;
  readonly speeds: readonly number[];
  readonly isPaused: boolean;
  /** The clusters have reached the end of the demo. */
  readonly isOver: boolean;
  readonly acts: readonly (DemoAct & { readonly isOn: boolean })[];
  readonly pressed: readonly { readonly at: number; readonly text: string }[];
  /** The place to look at now; '': no button was pressed yet. */
  readonly look: string;
  readonly sides: readonly DemoSide[];
}
