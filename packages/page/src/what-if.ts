// The questions on the page of a live cluster: the event, its place, and the answer.

/** A possible event, as the form lists it; an address uses its name. */
export interface WhatIfEvent {
  readonly name: string;
  readonly text: string;
  /** True where it happens to a zone or a node. */
  readonly hasPlace: boolean;
  /** True where it is about a taint. */
  readonly hasTaint: boolean;
  /** True where the user says when it ends; other events last to the end. */
  readonly hasEnd: boolean;
}

const atPlace = { hasPlace: true, hasTaint: false, hasEnd: true } as const;
const ofController = { hasPlace: false, hasTaint: false, hasEnd: false } as const;

export const whatIfEvents: readonly WhatIfEvent[] = [
  { ...atPlace, name: 'down', text: 'its machines die' },
  { ...atPlace, name: 'cut-off', text: 'the control plane cannot reach it' },
  { ...atPlace, name: 'taint', text: 'it gets a taint', hasTaint: true },
  { ...atPlace, name: 'drain', text: 'it is drained, as by kubectl drain' },
  { ...ofController, name: 'restart', text: 'the controller is restarted' },
  { ...ofController, name: 'failover', text: 'the leader of the controller dies' },
];

/** A question, as the form has it and its address; '': not given. */
export interface WhatIf {
  /** The name of a event. */
  readonly event: string;
  /** `zone NAME` or `node NAME`; `each zone` or `each node`: each in turn, in a separate copy. */
  readonly where: string;
  /** `key=value:Effect`; '' of each: every taint key in use. */
  readonly taint: string;
  /** `10m`; '': for good. */
  readonly lasts: string;
  /** The time to look ahead, `30m`. */
  readonly until: string;
  /** `on`: also by the rules of the one who does not act here. */
  readonly both: string;
}

/** The answer, one line of JSON after the other. */
export type WhatIfLine =
  /** The progress. */
  | { readonly kind: 'progress'; readonly text: string }
  /** Where the page of the answer is, beside the one that asked; `losses` where parts are lost one after the other. */
  | { readonly kind: 'page'; readonly address: string; readonly losses?: LossesInWords }
  /** The reason why there is no answer, and the next step. */
  | { readonly kind: 'error'; readonly text: string; readonly next: string };

/** The effect of each loss, in words, the worst first. */
export interface LossesInWords {
  /** When it was played, in milliseconds of the calendar. */
  readonly playedAt: number;
  readonly losses: readonly LossInWords[];
  /** The number of losses that were not played or have no line. */
  readonly leftOut: number;
}

export interface LossInWords {
  /** `zone r1/a`, `node a-1` */
  readonly part: string;
  /** `shop/web 2 of 8 down for 6m` */
  readonly text: string;
  /** False: no pod of any workload goes down. */
  readonly isHarmful: boolean;
}
