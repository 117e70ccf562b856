// The simulated cluster as a program, for the tests of others: npx @taintmgr/api-server [-- COMMAND]
import { spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { constants } from 'node:os';
import { setTimeout } from 'node:timers/promises';
import { type EmbeddedCluster, startEmbedded, topologies } from '../embedded.ts';
import { help, type ProgramFlags, parseProgramFlags } from './flags.ts';

/** It takes about five seconds. */
const idleMsMax = 120_000;
const idleLookMs = 20;
const signals = ['SIGINT', 'SIGTERM'] as const;

/** Runs until a signal, or as long as the command; gives the exit code. */
export async function main(argv: readonly string[]): Promise<number> {
  try {
    const flags = parseProgramFlags(argv);
    if (flags === 'help') return print(help);
    if (flags === 'version') return print(`${versionOf()}\n`);
    return await serve(flags);
  } catch (error) {
    if (!(error instanceof Error)) throw error;
    process.stderr.write(`error: ${error.message}\nSee api-server --help\n`);
    return 1;
  }
}

async function serve({ topology, command, ...options }: ProgramFlags): Promise<number> {
  const cluster = await startEmbedded({ ...options, ...topologies[topology] });
  try {
    await untilIdle(cluster);
    return command.length > 0 ? await runWith(cluster, command) : await untilEnded(cluster);
  } finally {
    await cluster.stop();
  }
}

/** Waits until nodes are ready and pods run, so that the first request finds a complete cluster. */
async function untilIdle({ cluster }: EmbeddedCluster): Promise<void> {
  const lastLook = performance.now() + idleMsMax;
  while (!cluster.isIdle()) {
    if (performance.now() > lastLook) throw new Error(`not at rest after ${idleMsMax / 1000} s`);
    await setTimeout(idleLookMs);
  }
}

function untilEnded({ url, kubeconfig }: EmbeddedCluster): Promise<number> {
  print(`ready: ${url}\nexport KUBECONFIG=${kubeconfig}\n`);
  return new Promise((resolve) => {
    for (const signal of signals) process.once(signal, () => resolve(0));
    // Stops when a parent process that started it with a pipe is gone; a terminal and /dev/null do
    // not tell.
    if (process.stdin.isTTY) return;
    process.stdin.on('end', () => resolve(0)).on('error', () => {});
    if (isPipe()) process.stdin.resume();
  });
}

/** A closed standard input is no pipe: services and scripts in the background have that. */
function isPipe(): boolean {
  return process.stdin.constructor.name === 'Socket';
}

/** Signals go to the command, which is in the same group in a terminal, and is asked to end otherwise. */
function runWith(cluster: EmbeddedCluster, command: readonly string[]): Promise<number> {
  const [program = '', ...args] = command;
  const env = { ...process.env, KUBECONFIG: cluster.kubeconfig };
  return new Promise((resolve, reject) => {
    const child = spawn(program, args, { stdio: 'inherit', env });
    const pass = (signal: NodeJS.Signals): void => void child.kill(signal);
    for (const signal of signals) process.on(signal, pass);
    child.on('error', ({ message }) => reject(new Error(`${program}: ${message}`)));
    child.on('exit', (code, signal) => {
      for (const one of signals) process.off(one, pass);
      resolve(signal === null ? (code ?? 1) : 128 + constants.signals[signal]);
    });
  });
}

function versionOf(): string {
  const manifest = new URL('../../package.json', import.meta.url);
  return JSON.parse(readFileSync(manifest, 'utf8')).version;
}

function print(text: string): number {
  process.stdout.write(text);
  return 0;
}
