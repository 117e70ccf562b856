import { ApiError, ConnectionError, KubeconfigError } from '@taintmgr/k8s-adapter';

/** Exit codes of every command; `drain-by-taint --help` lists them. */
export const exitCode = {
  done: 0,
  /** Usage, rights, or the API server. */
  error: 1,
  /** Not finished: something holds pods back that will not go away by waiting. */
  blocked: 2,
  /** Not finished within --timeout. */
  timeout: 3,
  interrupted: 130,
} as const;

export type ExitCode = (typeof exitCode)[keyof typeof exitCode];

/** A fault of the command line or of what it asks for: one line, exit code 1. */
export class UsageError extends Error {
  override readonly name = 'UsageError';
}

/** What to print for an error, as kubectl would; null for one that is a mistake of ours. */
export function errorLines(error: unknown): string | null {
  if (error instanceof ApiError) return [error.message, ...rightsHint(error)].join('\n');
  if (error instanceof UsageError || error instanceof RangeError) return `error: ${error.message}`;
  const known = error instanceof ConnectionError || error instanceof KubeconfigError;
  return known ? `error: ${error.message}` : null;
}

function rightsHint({ failure }: ApiError): readonly string[] {
  if (failure.status === 401) return ['hint: the credentials of the current context are not valid'];
  if (failure.status !== 403) return [];
  return ['hint: kubectl auth can-i --list shows what the current user may do'];
}
