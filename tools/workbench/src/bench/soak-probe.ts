// Preloaded into the controller's own process (node --import): says on its file descriptor 3 how it
// is doing, once for each line it gets there.
import { Socket } from 'node:net';

/** The state of a process. */
export interface Reading {
  /** The bytes of live objects, after garbage collection. */
  readonly heapBytes: number;
  readonly rssBytes: number;
  /** The open sockets, whether they keep the process alive or not. */
  readonly sockets: number;
  readonly cpuMs: number;
  /** Node's warnings about this program, e.g. of listeners that pile up. */
  readonly warnings: readonly string[];
}

const warnings: string[] = [];
process.on('warning', ({ message }) => void warnings.push(message));

const line = new Socket({ fd: 3 });
line.unref();
line.on('data', () => {
  globalThis.gc?.();
  line.write(`${JSON.stringify(read())}\n`);
});

function read(): Reading {
  const { heapUsed, rss } = process.memoryUsage();
  const { user, system } = process.cpuUsage();
  return {
    heapBytes: heapUsed,
    rssBytes: rss,
    sockets: countSockets(),
    cpuMs: (user + system) / 1000,
    warnings,
  };
}

/** A report lists the handles of the event loop, those that do not keep it alive too. */
function countSockets(): number {
  const report: { readonly libuv?: readonly { readonly type: string }[] } =
    process.report.getReport();
  return (report.libuv ?? []).filter(({ type }) => type === 'tcp').length;
}
