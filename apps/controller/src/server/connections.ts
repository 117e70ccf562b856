import type { Socket } from 'node:net';
import type { Millis } from '@taintmgr/core/time';

/**
 * The stage of a connection, by the event that it waits for: its first byte and the TLS handshake, the head
 * of its first request, our answer, the head of its next request, or its end after the last answer.
 */
export type Stage = 'opening' | 'request' | 'answer' | 'idle' | 'ending';

/** The reason why a connection was ended by us: a stage took too long, another needed room, too much was sent. */
export type DropReason = Stage | 'crowded' | 'excess';

/** The bounds of a connection: how many, how long, and what for. */
export interface Connection {
  readonly socket: Socket;
  /** The address of the client. */
  readonly peer: string;
  readonly stage: Stage;
  /** True if a credential has shown who it is. */
  readonly isKnown: boolean;
}

export interface ConnectionLimits {
  /** Connections at once. */
  readonly max: number;
  /** The time each stage may last in all, however much is sent meanwhile. */
  readonly stageMsMax: Readonly<Record<Stage, Millis>>;
}

interface Entry extends Connection {
  readonly key: string;
  stage: Stage;
  isKnown: boolean;
  timer: NodeJS.Timeout | null;
}

/**
 * The connections of a server, bounded in number and in time. Without room, the oldest connection of the
 * busiest peer is closed: an unidentified one first, then one that waits for its next request, then any.
 */
export class Connections {
  /** By both their ends, in the order in which they came. */
  readonly #entries = new Map<string, Entry>();
  readonly #limits: ConnectionLimits;
  readonly #onDrop: (reason: DropReason) => void;

  constructor(limits: ConnectionLimits, onDrop: (reason: DropReason) => void) {
    this.#limits = limits;
    this.#onDrop = onDrop;
  }

  /** Takes in a new connection; null where there is no room even so, or it is over already. */
  admit(socket: Socket): Connection | null {
    const { remoteAddress: peer } = socket;
    if (peer === undefined) return null;
    if (this.#entries.size >= this.#limits.max && !this.#makeRoom()) return null;
    const key = endsOf(socket);
    const entry: Entry = { key, socket, peer, stage: 'opening', isKnown: false, timer: null };
    this.#entries.set(key, entry);
    socket.once('close', () => this.#forget(entry));
    this.#await(entry, 'opening');
    return entry;
  }

  /** The connection whose socket this is, or on whose socket it speaks TLS; null: of none that is open. */
  of(socket: Socket): Connection | null {
    return this.#entries.get(endsOf(socket)) ?? null;
  }

  /** Moves a connection to another stage; `isKnown`: a credential has now shown who the client is. */
  move(connection: Connection, stage: Stage, isKnown: boolean = connection.isKnown): void {
    const entry = this.#entryOf(connection);
    if (!entry) return;
    entry.isKnown = isKnown;
    this.#await(entry, stage);
  }

  /** Ends a connection. */
  drop(connection: Connection, reason: DropReason): void {
    const entry = this.#entryOf(connection);
    if (!entry) return;
    this.#forget(entry);
    entry.socket.destroy();
    this.#onDrop(reason);
  }

  /** Ends them all. */
  close(): void {
    for (const entry of this.#entries.values()) {
      this.#forget(entry);
      entry.socket.destroy();
    }
  }

  #makeRoom(): boolean {
    const entries = [...this.#entries.values()];
    const victim =
      oldestOfTheMost(entries.filter(({ isKnown }) => !isKnown)) ??
      oldestOfTheMost(entries.filter(({ stage }) => stage === 'idle')) ??
      // Answers that clients do not read hold their places for long.
      oldestOfTheMost(entries, 2);
    if (victim) this.drop(victim, 'crowded');
    return victim !== null;
  }

  #await(entry: Entry, stage: Stage): void {
    entry.stage = stage;
    if (entry.timer) clearTimeout(entry.timer);
    entry.timer = setTimeout(() => this.drop(entry, stage), this.#limits.stageMsMax[stage]).unref();
  }

  #forget(entry: Entry): void {
    if (this.#entries.get(entry.key) === entry) this.#entries.delete(entry.key);
    if (entry.timer) clearTimeout(entry.timer);
  }

  #entryOf(connection: Connection): Entry | null {
    // Every Connection comes from `admit`.
    const entry = connection as Entry;
    return this.#entries.get(entry.key) === entry ? entry : null;
  }
}

/** Null where no peer has that number. */
function oldestOfTheMost(entries: readonly Connection[], countMin = 1): Connection | null {
  const byPeer = new Map<string, { readonly oldest: Connection; count: number }>();
  for (const entry of entries) {
    const found = byPeer.get(entry.peer);
    if (found) found.count += 1;
    else byPeer.set(entry.peer, { oldest: entry, count: 1 });
  }
  const [most] = [...byPeer.values()].sort((one, other) => other.count - one.count);
  return most && most.count >= countMin ? most.oldest : null;
}

function endsOf({ localAddress, remoteAddress, remotePort }: Socket): string {
  return `${localAddress} ${remoteAddress} ${remotePort}`;
}
