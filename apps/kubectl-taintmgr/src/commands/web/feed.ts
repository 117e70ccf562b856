// Reads the cluster again and again for the page, and goes on when it cannot be read for a while.
import { setTimeout as wait } from 'node:timers/promises';
import type { PolicyObject } from '@taintmgr/core/policy';
import { type ApiClient, ApiError, ConnectionError, EvictorSearch } from '@taintmgr/k8s-adapter';
import type { LiveHistory } from '@taintmgr/page';
import { listNodeDrains } from '../../cluster/node-drains.ts';
import { ClusterReader } from '../../cluster/reader.ts';
import { printable } from '../../render/printable.ts';
import { Explainer } from '../../report/explainer.ts';
import { surveyPending } from '../../report/pending-survey.ts';
import { present } from '../../report/question.ts';
import { reportOn } from '../../report/report.ts';
import { type Look, shownOf } from './moment.ts';
import type { Streams } from './streams.ts';

const readEveryMs = 2000;
/** Nobody looks: only the history goes on. */
const unseenEveryMs = 10_000;
/** The API server works for us a fifth of the time at most, however large the cluster is. */
const restPerRead = 4;

/** What reads a cluster for the page. */
export interface Feed {
  /** Reads once; throws what reading throws. */
  read(): Promise<void>;
  /** What was read last; null: nothing yet. */
  look(): Look | null;
  /** Goes on until `interrupt`; what cannot be read is told on the page, and tried again. */
  follow(interrupt: AbortSignal): Promise<void>;
}

export function feedOf(
  client: ApiClient,
  { history, streams }: { readonly history: LiveHistory; readonly streams: Streams },
  files: readonly PolicyObject[],
): Feed {
  const search = new EvictorSearch(client);
  // It remembers since when a taint is there that does not say so itself.
  const explainer = new Explainer({ ...present, policies: files });
  let look: Look | null = null;
  const publish = (): void => {
    const input = history.input();
    if (input) streams.publish(input);
  };
  const read = async (): Promise<void> => {
    const reader = new ClusterReader(client, undefined, search);
    const [nodes, nodeDrains] = await Promise.all([reader.nodes(), listNodeDrains(client)]);
    const survey = await surveyPending(reader, nodes, { files });
    explainer.take(survey);
    look = { nodes, survey, report: reportOn(survey, explainer), nodeDrains };
    const { moment, leftOut } = shownOf(look);
    history.take(moment, leftOut);
    publish();
  };
  return {
    read,
    look: () => look,
    async follow(interrupt) {
      let restMs = readEveryMs;
      while (!interrupt.aborted) {
        const isOver = await rest(restMs, interrupt);
        if (isOver) return;
        const begun = performance.now();
        try {
          await read();
        } catch (error) {
          if (interrupt.aborted) return;
          if (!(error instanceof ConnectionError || error instanceof ApiError)) throw error;
          history.lose(Date.now(), printable(error.message));
          publish();
        }
        const least = streams.viewers > 0 ? readEveryMs : unseenEveryMs;
        restMs = Math.max(least, (performance.now() - begun) * restPerRead);
      }
    },
  };
}

/** Whether it was cut short by `interrupt`. */
async function rest(millis: number, interrupt: AbortSignal): Promise<boolean> {
  try {
    await wait(millis, undefined, { signal: interrupt });
    return false;
  } catch (error) {
    if (interrupt.aborted) return true;
    throw error;
  }
}
