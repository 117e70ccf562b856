// Explains why and when pods leave, in words and as documents.

export type {
  BlockerDocument,
  DecisionDocument,
  DecisionName,
  EvictionRequestDocument,
  EvictorDocument,
  FateName,
  ListAnswer,
  NodeAnswer,
  NodeDocument,
  NodesAnswer,
  PodAnswer,
  PodDocument,
  ReasonDocument,
  TaintAnswer,
  TaintDocument,
  TallyDocument,
  WorkloadAnswer,
  ZoneAnswer,
  ZoneDocument,
} from '../explain/answers.ts';
export { cordonText } from '../explain/cordons.ts';
export { deadNodeLines, deadNodeOf, stuckText } from '../explain/dead-nodes.ts';
export {
  apiVersion,
  blockerDocument,
  countsOf,
  deadline,
  decisionName,
  decisionNames,
  evictorDocument,
  fateName,
  maintenanceDocument,
  nodeEvictedBy,
  nodesEvictedBy,
  podDocument,
  requestDocument,
  requestersText,
  taintDocument,
  time,
} from '../explain/documents.ts';
export { type Emptying, emptyingCell, emptyingOf, emptyingText } from '../explain/emptying.ts';
export {
  type AnswerContext,
  type Explained,
  explainSubject,
  explainSurvey,
  type Subject,
  type Way,
} from '../explain/explained.ts';
export { Explainer } from '../explain/explainer.ts';
export { givenUpLines, refusedByText } from '../explain/given-up.ts';
export { headline } from '../explain/history-words.ts';
export { limitsDocument, trippedDocument } from '../explain/holding-limits.ts';
export { deviceAdvice, heldWarnings, type Notes, notesOn, sourceNotes } from '../explain/notes.ts';
export {
  comparable,
  type FindRoom,
  hypotheticalNode,
  isWhatIf,
  parsePattern,
  present,
  type Question,
  type QuestionFlags,
  type Replacement,
  type RoomQuestion,
  readKeyAndValue,
  readQuestion,
  type TaintPattern,
} from '../explain/question.ts';
export {
  isBare,
  isGivenUp,
  type NodeReport,
  type PodReport,
  podsIn,
  type Report,
  reportOn,
  reportOnPresent,
  surveyHidden,
  surveyPending,
  type Tally,
  tally,
} from '../explain/report.ts';
export type { Room } from '../explain/room.ts';
export { nodesSubject, podsAsked, podsSubject, type Several } from '../explain/several.ts';
export {
  explainNode,
  explainPod,
  type FoundTaint,
  leavingIn,
  nodeSubject,
  podIn,
  podSubject,
  readyCounts,
  taintSubject,
  taintsFound,
  zoneSubject,
} from '../explain/subjects.ts';
export { UpstreamForecast } from '../explain/upstream-forecast.ts';
export {
  ago,
  asOf,
  becauseText,
  blockerKinds,
  blockerLine,
  blockerOf,
  blockersText,
  deadlineText,
  decisionWithTime,
  decisive,
  decisiveReason,
  evictorText,
  graceText,
  healthText,
  heldText,
  isOpenEnded,
  isUnwritten,
  limitLine,
  maintenanceText,
  none,
  operatorSignText,
  otherwiseText,
  ownerText,
  pausedText,
  pausesInForce,
  pendingText,
  phaseOf,
  readyText,
  sinceText,
  soon,
  stayingOf,
  taintText,
  tallyText,
  timeLeft,
  timeLeftOf,
  timeLeftThen,
  toleratedText,
  zoneText,
} from '../explain/words.ts';
export { explainWorkload, workloadSubject } from '../explain/workload.ts';
export { type WorkloadRow, workloadReport, workloadRows } from '../explain/workload-report.ts';
export { workloadFields } from '../explain/workload-words.ts';
export { type ZoneCounts, zoneOf, zonesIn } from '../explain/zones.ts';
