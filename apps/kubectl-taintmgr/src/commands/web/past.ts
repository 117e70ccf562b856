// Recent departures, for the live page: those that `kubectl taintmgr history` shows of all namespaces.
import { type ApiClient, ApiError, ConnectionError } from '@taintmgr/k8s-adapter';
import { history, pastOf } from '@taintmgr/k8s-adapter/history';
import type { LiveHistory, LivePast } from '@taintmgr/page';

/** Departures are read again at this interval while there are viewers, */
const everyMs = 60_000;
/** and less often where that takes long. */
const restPerRead = 19;

/** Reads who left, now and then. */
export class PastFeed {
  readonly #client: ApiClient;
  readonly #history: LiveHistory;
  readonly #passed: () => number;
  #due = Number.NEGATIVE_INFINITY;

  /** `passed`: milliseconds; only measures. */
  constructor(
    client: ApiClient,
    shown: LiveHistory,
    passed: () => number = () => performance.now(),
  ) {
    this.#client = client;
    this.#history = shown;
    this.#passed = passed;
  }

  /** Throws what reading throws. */
  async read(): Promise<void> {
    const begun = this.#passed();
    try {
      this.#history.remember(await readPast(this.#client));
    } finally {
      const ended = this.#passed();
      this.#due = ended + Math.max(everyMs, (ended - begun) * restPerRead);
    }
  }

  /** Reads again when it is time; after a failure the earlier answer stands. */
  async readAgain(): Promise<void> {
    if (this.#passed() < this.#due) return;
    await this.read().catch((error) => {
      if (!isOfServer(error)) throw error;
    });
  }
}

/** True: the error comes of asking a cluster, and is no fault of ours. */
export function isOfServer(error: unknown): error is ApiError | ConnectionError {
  return error instanceof ConnectionError || error instanceof ApiError;
}

/** The number of departures that are shown, the newest. */
const podsMax = 300;
/** Events are kept for this time by default. */
const eventsKeptMs = 3_600_000;

async function readPast(client: ApiClient): Promise<LivePast> {
  const everywhere = { kind: 'namespace', namespace: null } as const;
  const { stories, gaps, at, looked, readsEvents } = await history(client, everywhere);
  const past = pastOf(stories, gaps, at, podsMax);
  // The first gap of a leader's records ends where they begin.
  if (past.gaps.some(({ from }) => from === null)) return past;
  const to = readsEvents ? at - eventsKeptMs : at;
  const why = readsEvents ? 'Events of that time are deleted, after an hour by default; ' : '';
  return { ...past, gaps: [{ from: null, to, text: `${why}looked at: ${looked}` }, ...past.gaps] };
}
