// The door of a command line that does not know yet what to do: kubectl's flags, plain text, and
// what commands may end in. A separate door, so that help loads nothing that talks to a cluster.

export { type ConnectionFlag, connectionFlags } from '../kubeconfig/connection-flags.ts';
export {
  choicesMax,
  choicesText,
  count,
  countBy,
  groupBy,
  leastOf,
  listText,
  mostOf,
} from '../text/count.ts';
export {
  inEscapes,
  jsonText,
  needsEscapes,
  onTerminal,
  printable,
  shellWord,
} from '../text/printable.ts';
export { fileFault, UsageError } from '../text/usage-error.ts';
export {
  modeWords,
  pressureRulesOf,
  pressureRulesWords,
  pressureSemanticsOf,
  type Rules,
  rulesOf,
  rulesWords,
  type Spelled,
  semanticsOf,
  spelled,
  upstreamTitle,
} from '../text/vocabulary.ts';
export { ApiError, ConnectionError, KubeconfigError } from '../transport/errors.ts';
