// The door of the page: its inputs, and the functions that make it.

export type { DemoAct, DemoNode, DemoSide, DemoState, DemoWorkload } from './demo.ts';
export type { EachDocument, Loss, LossBudget, LossWorkload, LostBy } from './each.ts';
export { demoPage, type LivePage, livePage, pageHtml, whatIfPage } from './html.ts';
export type {
  LeftOut,
  LiveAction,
  LiveHold,
  LiveInput,
  LiveMoment,
  LiveNode,
  LivePast,
  LivePod,
  LiveZone,
  PastGap,
  PastPod,
} from './live.ts';
export { livePause, livePodOf, liveRules, trippedLimit } from './live-cluster.ts';
export { LiveHistory } from './live-history.ts';
export { lossesInWords } from './model/losses.ts';
export type {
  AppliedObject,
  AssumedTime,
  Assumption,
  BudgetSummary,
  BudgetTrack,
  Cause,
  DeadlineTrack,
  Differences,
  Downtime,
  EvictionLoop,
  EvictionTrack,
  FailIfOutcome,
  FailureTrack,
  JobSummary,
  JobTrack,
  MadeBy,
  Named,
  NodeTrack,
  PageInput,
  PlaceTotals,
  PlayedEvent,
  PodOnNode,
  PodStory,
  PodTrack,
  Reading,
  RecordedReason,
  Recording,
  RefusalTrack,
  Rollout,
  RunDocument,
  SimulationDocument,
  Step,
  Summary,
  Timeline,
  Totals,
  UnplacedTrack,
  WorkloadSummary,
  WorkloadTrack,
  ZoneTrack,
} from './simulation.ts';
export {
  type LossesInWords,
  type LossInWords,
  type WhatIf,
  type WhatIfEvent,
  type WhatIfLine,
  whatIfEvents,
} from './what-if.ts';
