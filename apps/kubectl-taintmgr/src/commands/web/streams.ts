// The browsers that look, and what each of them gets: the present state, and that we are still there.
import type { ServerResponse } from 'node:http';
import type { LiveInput } from '@taintmgr/page';

/** Each is one connection of one window. */
const viewersMax = 8;
/** After so long a browser that was cut off comes again. */
const retryMs = 2000;

interface Viewer {
  readonly response: ServerResponse;
  /** It has not taken what was sent, and there is a newer state since. */
  isBehind: boolean;
}

/**
 * Sends states as server-sent events. Who is slow gets fewer of them: only the last one counts. Who
 * comes again and has the present state gets it not again.
 */
export class Streams {
  readonly #viewers = new Set<Viewer>();
  /** Tells the states of this process from those of another one at the same address. */
  readonly #run: number;
  #revision = 0;
  #json = '';
  #state: LiveInput | null = null;

  constructor(run: number = Date.now()) {
    this.#run = run;
  }

  /** How many look. */
  get viewers(): number {
    return this.#viewers.size;
  }

  /** Sends a state; only its time where nothing else of it has changed. */
  publish(state: LiveInput): void {
    const json = JSON.stringify({ ...state, now: 0 });
    const isNew = json !== this.#json;
    this.#state = state;
    this.#json = json;
    if (isNew) this.#revision += 1;
    for (const viewer of this.#viewers) this.#send(viewer, isNew);
  }

  /** A new connection; false: there are too many. */
  open(response: ServerResponse, lastId: string | undefined): boolean {
    if (this.#viewers.size >= viewersMax) return false;
    const viewer = { response, isBehind: false };
    this.#viewers.add(viewer);
    response.once('close', () => this.#viewers.delete(viewer));
    response.on('drain', () => {
      if (viewer.isBehind) this.#send(viewer, true);
    });
    response.write(`retry: ${retryMs}\n\n`);
    this.#send(viewer, lastId !== this.#id);
    return true;
  }

  /** Ends all connections. */
  close(): void {
    for (const { response } of this.#viewers) response.end();
  }

  get #id(): string {
    return `${this.#run}-${this.#revision}`;
  }

  #send(viewer: Viewer, isNew: boolean): void {
    if (!this.#state) return;
    const { response } = viewer;
    if (response.writableNeedDrain) {
      viewer.isBehind ||= isNew;
      return;
    }
    viewer.isBehind = false;
    const { now } = this.#state;
    if (!isNew) response.write(`event: now\ndata: ${now}\n\n`);
    else response.write(`id: ${this.#id}\nevent: state\ndata: ${JSON.stringify(this.#state)}\n\n`);
  }
}
