// The door of the page: what it takes, and how it is made.

export type { EachDocument, Loss, LossWorkload, LostBy } from './each.ts';
export { type LivePage, livePage, pageHtml, whatIfPage } from './html.ts';
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
  Named,
  NodeTrack,
  PageInput,
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
  UnplacedTrack,
  WorkloadSummary,
  WorkloadTrack,
  ZoneTrack,
} from './simulation.ts';
export { type WhatIf, type WhatIfLine, whatIfEvents } from './what-if.ts';
