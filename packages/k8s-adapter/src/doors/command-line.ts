// For command lines: kubectl's flags, plain text, and errors of usage. Loads nothing that talks to a
// cluster.

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
