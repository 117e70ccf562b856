// Runs a program to its end, and returns its output.
import { spawnSync } from 'node:child_process';

/** Throws what the program has to say where it fails. */
export function run(cwd: string, command: string, ...args: readonly string[]): string {
  const { status, stdout, stderr, error } = spawnSync(command, args, {
    cwd,
    encoding: 'utf8',
    // On Windows npm is a script.
    shell: process.platform === 'win32' && command === 'npm',
    // npm run -s makes npm silent, about failures too.
    env: { ...process.env, npm_config_loglevel: 'error' },
    maxBuffer: 64 * 1024 * 1024,
  });
  if (status === 0) return stdout;
  throw new Error(`${[command, ...args].join(' ')}: ${error?.message ?? (stderr || stdout)}`);
}
