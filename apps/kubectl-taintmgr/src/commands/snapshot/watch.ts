// `snapshot --watch`: after the snapshot what changes, until Ctrl-C, a time, or its bound.
import type { Millis } from '@taintmgr/core/time';
import { drive, WatchLoop } from '@taintmgr/k8s-adapter';
import { count } from '@taintmgr/k8s-adapter/command-line';
import type { Connection } from '../../cli/connection.ts';
import { type ExitCode, exitCode } from '../../cli/exit.ts';
import type { Invocation } from '../../cli/registry.ts';
import { followedCollections, Recorder } from './recorder.ts';

interface Snapshot {
  readonly items: readonly object[];
  /** The paths that may not be read. */
  readonly refused: ReadonlySet<string>;
  /** The time for which to follow the cluster; null: until Ctrl-C. */
  readonly forMs: Millis | null;
}

/** Follows the cluster, and writes its lines to where the snapshot went. */
export async function watchCluster(
  { output, interrupt }: Invocation<object>,
  { transport }: Connection,
  { items, refused, forMs }: Snapshot,
): Promise<ExitCode> {
  const collections = followedCollections(refused);
  const recorder = new Recorder({ collections, write: (text) => output.write(text) });
  recorder.begin(Date.now(), items);
  output.err(`${count(items.length, 'object')} written; watching what changes`);
  const bound = new AbortController();
  const signals = [interrupt, bound.signal];
  const time = forMs === null ? null : AbortSignal.timeout(forMs);
  if (time) signals.push(time);
  await drive({
    loop: new WatchLoop(collections, Math.random),
    transport,
    signal: AbortSignal.any(signals),
    onNotice: (notice, wall) => {
      recorder.hear(wall, notice);
      if (recorder.end !== null) bound.abort();
    },
  });
  recorder.finish(Date.now(), time?.aborted ? 'time' : 'interrupted');
  await output.flushed();
  const why = recorder.end === 'bytes' || recorder.end === 'lines' ? ': its bound' : '';
  output.err(`${count(recorder.lines, 'line')} written${why}`);
  return recorder.end === 'interrupted' ? exitCode.interrupted : exitCode.done;
}
