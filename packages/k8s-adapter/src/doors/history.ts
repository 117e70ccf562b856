// Tells of pods that left: who evicted them, and why. Loads no explanations of present pods.

export type { DepartureDocument, DepartureList } from '../explain/departure-answers.ts';
export {
  type History,
  type HistoryOptions,
  type HistorySubject,
  history,
  type OwnerKind,
} from '../explain/history.ts';
export { FlightDepartures } from '../explain/history-flight.ts';
export type { HistorySources, Story, ToldDeparture } from '../explain/history-model.ts';
export { type Past, pastOf } from '../explain/history-past.ts';
export { mergeStories } from '../explain/history-story.ts';
export { insteadText, reasonText, storyText } from '../explain/history-words.ts';
