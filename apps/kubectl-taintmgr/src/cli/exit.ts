// Exit codes and error lines of every command.
import { CommanderError } from '@commander-js/extra-typings';
import {
  ApiError,
  ConnectionError,
  KubeconfigError,
  printable,
  UsageError,
} from '@taintmgr/k8s-adapter/command-line';

/** Exit codes of every command; the help of each lists its own. */
export const exitCode = {
  done: 0,
  /** Usage, rights, or the API server. */
  error: 1,
  /** With --exit-code, as `kubectl diff`: there is something to report. */
  found: 1,
  /** With --exit-code: an error, so there is no answer. */
  noAnswer: 2,
  /** Not finished: something holds pods back that will not go away by waiting. */
  blocked: 2,
  /** A limit of `simulate --fail-if` was crossed. */
  exceeded: 2,
  /** `simulate --replay` found that this build does something in another way. */
  different: 2,
  /** doctor: something fails. */
  unhealthy: 2,
  /** Not finished within --timeout. */
  timeout: 3,
  interrupted: 130,
} as const;

export type ExitCode = (typeof exitCode)[keyof typeof exitCode];

/** The end of a command that threw: the lines to print, if any, and the exit code. */
export interface Ending {
  readonly lines: string;
  readonly code: ExitCode;
}

/** The ending for what a command threw; null for a mistake of ours. */
export function endingOf(error: unknown, interrupt: AbortSignal): Ending | null {
  if (error instanceof CommanderError) {
    // Commander has printed the error; it also "throws" --help and --version.
    return { lines: '', code: error.exitCode === 0 ? exitCode.done : exitCode.error };
  }
  if (interrupt.aborted && error === interrupt.reason) {
    return { lines: 'error: interrupted', code: exitCode.interrupted };
  }
  const lines = errorLines(error);
  return lines === null ? null : { lines, code: exitCode.error };
}

/** The lines to print for an error, as kubectl would; null for a mistake of ours. */
export function errorLines(error: unknown): string | null {
  if (error instanceof ApiError) {
    return [printable(error.message), ...hintsOf(error)].join('\n');
  }
  if (error instanceof UsageError) {
    return error.lines.map((line) => `error: ${printable(line)}`).join('\n');
  }
  const isKnown = [RangeError, ConnectionError, KubeconfigError].some(
    (known) => error instanceof known,
  );
  return isKnown && error instanceof Error ? `error: ${printable(error.message)}` : null;
}

const withoutNodes =
  'hint: without nodes: explain deployment NAME, explain pod NAME, pending and history, with -n NAMESPACE';

function hintsOf({ failure }: ApiError): readonly string[] {
  const [, gone] = /^nodes "([a-z0-9.-]+)" not found$/.exec(failure.message) ?? [];
  if (failure.status === 404 && gone !== undefined) {
    return [`hint: which pods left it, if it is gone: kubectl taintmgr history node ${gone}`];
  }
  if (failure.status === 401) return ['hint: the credentials of the current context are not valid'];
  if (failure.status !== 403) return [];
  return [
    'hint: kubectl auth can-i --list shows what the current user may do',
    ...(/^nodes\b/.test(failure.message) ? [withoutNodes] : []),
  ];
}
