// Follows a NodeDrain until it has ended, and says how it goes on.
import { setTimeout } from 'node:timers/promises';
import type { Millis } from '@taintmgr/core/time';
import { ApiError, ConnectionError } from '@taintmgr/k8s-adapter';
import type { Connection } from '../../../cli/connection.ts';
import { type ExitCode, exitCode } from '../../../cli/exit.ts';
import { type LiveBlock, type Output, warn } from '../../../cli/output.ts';
import { drainControllerFault, readDrainControllers } from '../../../cluster/drain-controllers.ts';
import {
  type NodeDrainObject,
  nodeDrainReference,
  readNodeDrain,
} from '../../../cluster/node-drains.ts';
import { DrainNews } from './news.ts';

const lookEveryMs: Millis = 1_000;
/** How often it is looked whether somebody still carries it out. */
const looksBetween = 10;

export interface Follower {
  readonly connection: Connection;
  readonly output: Output;
  /** Says what was done, in a line of kubectl's kind. */
  readonly say: (line: string) => void;
  /** Null where nobody watches. */
  readonly live: LiveBlock | null;
  readonly interrupt: AbortSignal;
}

/** How it ended, and the object as it was last. */
export interface Followed {
  readonly code: ExitCode;
  readonly last: NodeDrainObject;
  /** Whether somebody has deleted it. */
  readonly isGone: boolean;
}

/** Says what is new about a drain, once a second, until it has ended or Ctrl-C comes. */
export async function followDrain(follower: Follower, made: NodeDrainObject): Promise<Followed> {
  const { interrupt, live, output, say } = follower;
  const close = (): void => live?.clear();
  const news = new DrainNews({
    say: (line) => {
      close();
      say(line);
    },
    warn: (text) => {
      close();
      warn(output, text);
    },
    live,
    err: output.err,
  });
  let last = made;
  try {
    for (let looks = 1; ; looks++) {
      await setTimeout(lookEveryMs, undefined, { signal: interrupt }).catch(() => undefined);
      const object = await look(follower, news, made, looks);
      if (object === 'gone') {
        news.gone(nodeDrainReference(made.metadata.name));
        return { code: exitCode.error, last, isGone: true };
      }
      if (object === null) continue;
      last = object;
      news.show(object, Date.now());
      const code = endOf(object);
      if (code !== null) {
        news.ended(object);
        return { code, last, isGone: false };
      }
    }
  } catch (error) {
    if (interrupt.aborted && error === interrupt.reason) {
      return { code: exitCode.interrupted, last, isGone: false };
    }
    throw error;
  } finally {
    close();
  }
}

/** The object; `gone`: it, or another has its name; null: the API server did not say. */
async function look(
  { connection: { client } }: Follower,
  news: DrainNews,
  { metadata: { name, uid } }: NodeDrainObject,
  looks: number,
): Promise<NodeDrainObject | 'gone' | null> {
  try {
    const object = await readNodeDrain(client, name);
    if (looks % looksBetween === 0) {
      news.controllers(drainControllerFault(await readDrainControllers(client)));
    }
    news.reconnected();
    return object?.metadata.uid === uid ? object : 'gone';
  } catch (error) {
    const status = error instanceof ApiError ? (error.failure.status ?? 0) : 0;
    const isOutage = error instanceof ConnectionError || status >= 500 || status === 429;
    if (!isOutage || !(error instanceof Error)) throw error;
    news.disconnected(error.message);
    return null;
  }
}

/** How a drain has ended; null: it goes on. */
function endOf({ metadata, status }: NodeDrainObject): ExitCode | null {
  if (!status || status.observedGeneration !== metadata.generation) return null;
  switch (status.phase) {
    case 'Drained':
      return exitCode.done;
    case 'TimedOut':
      return exitCode.timeout;
    case 'Failed': {
      const whys = (status.nodeStates ?? []).flatMap(({ phase, reason }) =>
        phase === 'Failed' ? (reason ?? '') : [],
      );
      const isBlocked = whys.every((why) => ['Blocked', 'NotBegun', 'TimedOut'].includes(why));
      return isBlocked ? exitCode.blocked : exitCode.error;
    }
    default:
      return null;
  }
}
