// Watching kube-controller-manager: its evictions held against what the engine would have done.

export { foreignTaintManager, unknownUpstreamMark } from '../model/disruption.ts';
export { resolveShadowConfig, type ShadowConfig } from '../shadow/config.ts';
export { type PublishedShadow, publishedShadow } from '../shadow/published.ts';
export {
  noName,
  otherNames,
  type ShadowCounts,
  type ShadowEntry,
  type ShadowReason,
  type ShadowReport,
  type ShadowRow,
  type ShadowSpan,
  type ShadowVerdict,
} from '../shadow/report.ts';
export { type ShadowOptions, ShadowScore } from '../shadow/score.ts';
export type { ShadowedMachine } from '../shadow/shadowed-engine.ts';
export { deletedOf } from '../shadow/tally.ts';
export { reasonText } from '../shadow/text.ts';
