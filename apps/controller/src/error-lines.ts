import { ApiError, ConnectionError, KubeconfigError } from '@taintmgr/k8s-adapter';
import { ConfigFileError } from './flags/config-file.ts';
import { SettingError } from './flags/setting-error.ts';
import { OverlapError } from './overlap.ts';

const hints: Readonly<Record<number, string>> = {
  401: 'the credentials of the current context are not valid',
  403: 'the rights it needs are in deploy/, one ClusterRole for each way to run it',
};

const knownErrors = [
  ApiError,
  ConnectionError,
  KubeconfigError,
  ConfigFileError,
  SettingError,
  OverlapError,
];

/** What to print when the controller cannot start; null for a mistake of ours. */
export function errorLines(error: unknown): string | null {
  const isKnown = knownErrors.some((known) => error instanceof known);
  if (!isKnown || !(error instanceof Error)) return null;
  // The message may be the server's: a line stays a line.
  const lines = [`error: ${error.message.replaceAll(/\p{Cc}/gu, ' ')}`];
  const hint = error instanceof ApiError ? hints[error.failure.status ?? 0] : undefined;
  return [...lines, ...(hint === undefined ? [] : [`hint: ${hint}`])].join('\n');
}
