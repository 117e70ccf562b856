// How long the simulated cluster takes as a test server, and how much memory it holds: from the start of
// sim-cluster to a command that runs with it, and after that. npm run build && npm run bench -- test-server
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { cpSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { loadavg, tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { printTable } from './measure.ts';

const rounds = 5;
const root = fileURLToPath(new URL('../../../..', import.meta.url));
/** As it is published: without its sources beside it. */
const folder = mkdtempSync(join(tmpdir(), 'taintmgr-server-'));

interface Measured {
  readonly readyMs: number;
  readonly residentMb: number;
}

try {
  for (const part of ['bin', 'dist', 'package.json']) {
    cpSync(join(root, 'packages/sim-cluster', part), join(folder, part), { recursive: true });
  }
  const cel = 'node_modules/@marcbachmann/cel-js';
  cpSync(join(root, cel), join(folder, cel), { recursive: true });
  process.stdout.write(`test-server: median of ${rounds}, load ${loadavg()[0]?.toFixed(1)}\n`);
  const rows: (readonly string[])[] = [];
  for (const topology of ['empty', 'three-zones']) {
    const measured: Measured[] = [];
    for (let round = 0; round < rounds; round += 1) measured.push(await measure(topology));
    const median = (of: (one: Measured) => number): string =>
      (measured.map(of).sort((a, b) => a - b)[Math.floor(rounds / 2)] ?? 0).toFixed(0);
    rows.push([topology, median(({ readyMs }) => readyMs), median(({ residentMb }) => residentMb)]);
  }
  printTable(['topology', 'ready after ms', 'resident MB'], rows);
} finally {
  rmSync(folder, { recursive: true });
}

async function measure(topology: string): Promise<Measured> {
  const start = performance.now();
  const child = spawn(
    process.execPath,
    [join(folder, 'bin/sim-cluster.js'), '--topology', topology],
    {
      stdio: ['pipe', 'pipe', 'inherit'],
    },
  );
  const ended = once(child, 'exit');
  const lines = createInterface({ input: child.stdout });
  await once(lines, 'line');
  const readyMs = performance.now() - start;
  const status = readFileSync(`/proc/${child.pid}/status`, 'utf8');
  const residentMb = Number(/^VmRSS:\s+(\d+) kB$/m.exec(status)?.[1]) / 1024;
  child.stdin.end();
  await ended;
  return { readyMs, residentMb };
}
