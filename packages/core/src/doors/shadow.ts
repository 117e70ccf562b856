// Watching kube-controller-manager: its evictions held against what the engine would have done.

export {
  foreignDeviceTaintManager,
  foreignTaintManager,
  unknownUpstreamMark,
} from '../model/pod.ts';
export type { ShadowConfig } from '../shadow/config.ts';
export {
  deletedOf,
  otherNames,
  reasonText,
  type ShadowCounts,
  type ShadowEntry,
  type ShadowReason,
  type ShadowReport,
  type ShadowRow,
  type ShadowSpan,
  type ShadowVerdict,
} from '../shadow/report.ts';
export { type ShadowedMachine, type ShadowOptions, ShadowScore } from '../shadow/score.ts';
