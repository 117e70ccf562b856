// Logs in by a credential plugin: run, bounded, ended when no caller waits.
import { type ChildProcess, spawn } from 'node:child_process';
import { Socket } from 'node:net';
import type { Readable } from 'node:stream';
import { formatDuration, type Millis, parseTime } from '@taintmgr/core/time';
import { asList, asRecord, asText, parseJson } from '../proto/json.ts';

/** The credential that a plugin gives. */
export interface Credential {
  readonly token: string;
  /** PEM. */
  readonly certificate: string;
  readonly key: string;
  /** When to ask again, by the wall clock; null: only when the server refuses it. */
  readonly expiresAt: number | null;
}

/** A plugin that takes longer waits for an absent person. */
const pluginMsMax: Millis = 60_000;
const outputMax = 1024 * 1024;
const complaintMax = 500;
/** The words of a plugin on its failure are read within this time, where others go on with its stderr. */
const lastWordsMs: Millis = 500;

/**
 * Runs a credential plugin and reads its output. The plugin is ended, with all its processes, when
 * no caller waits for it any more: after its time, with the signal, or with this process. Its
 * output is a credential: no message repeats it.
 */
export async function runPlugin(
  exec: object,
  signal: AbortSignal,
  pluginMs: Millis = pluginMsMax,
): Promise<Credential> {
  const { command, args, env } = asRecord(exec);
  const own = asList(env).map(asRecord);
  const variables = own.map(({ name, value }) => [asText(name), asText(value)] as const);
  const child = spawn(asText(command), asList(args).map(String), {
    env: { ...process.env, ...Object.fromEntries(variables) },
    stdio: ['ignore', 'pipe', 'pipe'],
    // A separate group, so that its processes can be ended with it.
    detached: process.platform !== 'win32',
  });
  const end = (): void => endGroup(child);
  const timer = setTimeout(end, pluginMs);
  const listening = { once: true };
  process.once('exit', end);
  signal.addEventListener('abort', end, listening);
  try {
    return credentialOf(await outputOf(child, () => signal.aborted, pluginMs));
  } finally {
    clearTimeout(timer);
    process.off('exit', end);
    signal.removeEventListener('abort', end);
    letGo(child.stderr);
  }
}

/** Later output there is of other processes: it is not read, and it keeps no process alive. */
function letGo(stderr: Readable | null): void {
  stderr?.removeAllListeners('data').resume();
  if (stderr instanceof Socket) stderr.unref();
}

function outputOf(child: ChildProcess, isGivenUp: () => boolean, ms: Millis): Promise<string> {
  const said = { stdout: '', stderr: '' };
  for (const name of ['stdout', 'stderr'] as const) {
    child[name]?.setEncoding('utf8').on('data', (chunk: string) => {
      said[name] += chunk;
      if (said[name].length > outputMax) endGroup(child);
    });
  }
  return new Promise((resolve, reject) => {
    const fail = (message: string): void => reject(new Error(message));
    child.once('error', reject);
    // Its child processes may run on and hold its stderr, as a browser does: kubectl does not wait
    // for that either.
    let isRead = false;
    const complain = (): void =>
      fail(said.stderr.trim().slice(0, complaintMax) || `it ended with code ${child.exitCode}`);
    const look = (): void => {
      // A plugin that was ended has no code.
      if (!isRead || child.exitCode === null) return;
      if (child.exitCode === 0) resolve(said.stdout);
      else setTimeout(complain, lastWordsMs).unref();
    };
    child.once('exit', look);
    child.stdout?.once('close', () => {
      isRead = true;
      look();
    });
    child.once('close', (code, by) => {
      if (code === 0) resolve(said.stdout);
      else if (isGivenUp()) fail('its caller no longer waits');
      else if (said.stdout.length > outputMax || said.stderr.length > outputMax) {
        fail('it printed more than 1 MiB');
      } else if (by !== null) fail(`it did not end within ${formatDuration(ms)}`);
      else complain();
    });
  });
}

function credentialOf(output: string): Credential {
  const value = parseJson(output);
  if (value === undefined) throw new Error('what it printed is not JSON');
  const status = asRecord(asRecord(value).status);
  const [token, certificate] = [asText(status.token), asText(status.clientCertificateData)];
  const key = asText(status.clientKeyData);
  if (token === '' && certificate === '') {
    throw new Error('what it printed has neither status.token nor status.clientCertificateData');
  }
  if ((certificate === '') !== (key === '')) {
    throw new Error('status.clientCertificateData and status.clientKeyData belong together');
  }
  return { token, certificate, key, expiresAt: parseTime(asText(status.expirationTimestamp)) };
}

function endGroup({ pid }: ChildProcess): void {
  if (pid === undefined) return;
  try {
    process.kill(process.platform === 'win32' ? pid : -pid, 'SIGKILL');
  } catch {
    // The plugin has already ended.
  }
}
