// What is printed when the controller cannot start; null for a mistake of ours.
import { ApiError, ConnectionError, KubeconfigError } from '@taintmgr/k8s-adapter';
import { ConfigFileError } from '../flags/config-file.ts';
import { PolicyFilesError } from '../flags/policy-files.ts';
import { SettingError } from '../flags/setting-error.ts';
import { OverlapError } from '../overlap/overlap.ts';
import { CheckError } from './check-url.ts';

const hints: Readonly<Record<number, string>> = {
  401: 'the credentials of the current context are not valid',
  403: 'the permissions it needs are in deploy/, one ClusterRole for each mode',
  404: 'the server may not be a Kubernetes API server: check --server and --context',
};

const redirected = 'the server redirects: check --server and --context';

function hintFor(status: number): string | undefined {
  if (status >= 300 && status < 400) return redirected;
  return hints[status];
}

const knownErrors = [
  ApiError,
  CheckError,
  ConnectionError,
  KubeconfigError,
  ConfigFileError,
  PolicyFilesError,
  SettingError,
  OverlapError,
];

/** So many faults of policies are told, one line each; the others are counted. */
const faultsMax = 20;

/** What to print when the controller cannot start; null for a mistake of ours. */
export function errorLines(error: unknown): string | null {
  const isKnown = knownErrors.some((known) => error instanceof known);
  if (!isKnown || !(error instanceof Error)) return null;
  const faults = error instanceof PolicyFilesError ? error.faults : [error.message];
  // The message may be the server's: a line stays a line.
  const more = faults.length - faultsMax;
  const shown = more > 0 ? [...faults.slice(0, faultsMax), `and ${more} more`] : faults;
  const lines = shown.map(
    (fault) => `error: ${fault.replaceAll(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{DI}]/gu, ' ')}`,
  );
  const hint = error instanceof ApiError ? hintFor(error.failure.status ?? 0) : undefined;
  return [...lines, ...(hint === undefined ? [] : [`hint: ${hint}`])].join('\n');
}
