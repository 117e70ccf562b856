import type { NodeDrainCommand } from './drain/drain-commands.ts';
import type {
  EvictionCommand,
  EvictionNotice,
  LimitReport,
  PodReport,
} from './eviction/eviction-command.ts';
import type { NodeCommand, NodeNotice } from './lifecycle/node-command.ts';
import type { LifecycleReport } from './lifecycle/reason.ts';

/**
 * The commands of the engine, as data. A command with an id must be answered with one `result`
 * event that carries it; `recordEvent`, `recordNodeEvent`, `recordLimitEvent` and `report` have no
 * result.
 */
export type Command = EvictionCommand | NodeCommand | NodeDrainCommand | Notice;

/** A report for people. */
export type Notice =
  | Exclude<EvictionNotice | NodeNotice, { kind: 'report' }>
  | { readonly kind: 'report'; readonly report: Report };

/** Something worth telling a person; it changes nothing in the cluster. */
export type Report = PodReport | LimitReport | LifecycleReport;
