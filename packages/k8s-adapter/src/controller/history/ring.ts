// The ring of segments, as the leader has it in memory and as far as it is stored.
import type { Instant } from '@taintmgr/core/time';
import {
  type Compression,
  isBelievable,
  linesOf,
  type Segment,
  segmentFrom,
  segmentSlots,
} from '../../history/segment.ts';
import { asRecord, asText, type JsonRecord } from '../../proto/json.ts';

/** Characters of a block before it is packed: at most twice the window of gzip. */
const blockLengthMax = 65_536;
/** Of packed blocks, in base64: a ConfigMap may have 1 MiB before that. */
const segmentLengthMax = 750_000;

interface Slot {
  readonly sequence: number;
  readonly blocks: string[];
  length: number;
  /** When it was written last, as far as it was read; what we write ourselves is new. */
  readonly savedAt: Instant;
  /** As the API has it; null: it has none, or the version is unknown. */
  resourceVersion: string | null;
  isStored: boolean;
}

/** A write of a segment, to be answered by `stored`, `failed` or `merge`. */
export interface SegmentWrite {
  readonly slot: number;
  readonly segment: Segment;
  readonly resourceVersion: string | null;
}

/**
 * Lines are added to the newest segment; when it is full, the next one takes the place of the
 * oldest. Lines that are not stored yet stay in memory in the same form, so that the ring is as
 * long where nothing can be stored.
 */
export class Ring {
  /** By slot; undefined: nothing is there. */
  readonly #slots: (Slot | undefined)[] = [];
  #newest: Slot = { ...empty, sequence: 0, blocks: [] };
  /** The lines of the block that is not full, which are packed again with each write. */
  #tail = '';
  #before: Pick<Segment, 'savedAt' | 'ended'> | null = null;
  readonly #compression: Compression;
  readonly #leader: string;

  constructor(compression: Compression, leader: string) {
    this.#compression = compression;
    this.#leader = leader;
    this.#slots[0] = this.#newest;
  }

  /** When the leader before us knew that all was written, and whether it ended then; null: there was none. */
  get before(): Pick<Segment, 'savedAt' | 'ended'> | null {
    return this.#before;
  }

  /**
   * Takes the object as read from a slot; null: there is none. Called once for each, before
   * anything is added. False: no leader has written it so, and it counts as none of ours.
   */
  load(now: Instant, slot: number, object: unknown): boolean {
    const resourceVersion = versionOf(object);
    const read = segmentFrom(object);
    const segment = read && isBelievable(read, now) ? read : null;
    this.#put(slot, segment, resourceVersion);
    return segment === read;
  }

  #put(slot: number, segment: Segment | null, resourceVersion: string | null): void {
    const isItsSlot = segment !== null && segment.sequence % segmentSlots === slot;
    const { sequence, blocks } = isItsSlot ? segment : { sequence: slot, blocks: [] };
    const length = lengthOf(blocks);
    const savedAt = segment?.savedAt ?? empty.savedAt;
    const read = { ...empty, sequence, blocks: [...blocks], length, savedAt, resourceVersion };
    this.#slots[slot] = read;
    const isNewest = isItsSlot ? sequence >= this.#newest.sequence : slot === 0;
    if (isNewest) this.#newest = read;
    if (isNewest && segment) this.#before = { savedAt: segment.savedAt, ended: segment.ended };
  }

  add(lines: Iterable<object>): void {
    for (const line of lines) {
      const text = `${JSON.stringify(line)}\n`;
      if (this.#tail.length + text.length > blockLengthMax) this.#freeze();
      if (this.#newest.length >= segmentLengthMax) this.#begin();
      this.#tail += text;
      this.#newest.isStored = false;
    }
  }

  /** Adds all unstored lines of another ring. */
  addAll(other: Ring): void {
    for (const block of other.blocks()) this.add(linesOf(block, this.#compression));
  }

  /**
   * Marks the newest segment for another write, though nothing is new: all known lines are still
   * written.
   */
  touch(): void {
    this.#newest.isStored = false;
  }

  get isStored(): boolean {
    return this.#slots.every((slot) => slot?.isStored !== false);
  }

  /** The next segment to write, the oldest first; null: all are stored. `ended`: the leader ends in order. */
  nextWrite(savedAt: Instant, ended: boolean): SegmentWrite | null {
    const [oldest] = this.#inOrder().filter((slot) => !slot.isStored);
    if (!oldest) return null;
    oldest.isStored = true;
    const { resourceVersion, sequence } = oldest;
    const isNewest = oldest === this.#newest;
    const facts = { sequence, savedAt, savedBy: this.#leader, ended: ended && isNewest };
    const segment = { ...facts, blocks: this.#blocksOf(oldest) };
    return { slot: sequence % segmentSlots, segment, resourceVersion };
  }

  /** Its write went through. */
  stored({ slot }: SegmentWrite, object: unknown): void {
    const written = this.#slots[slot];
    if (written) written.resourceVersion = versionOf(object);
  }

  /** The write failed; `isMissing`: the API has no such object any more. */
  failed({ slot }: SegmentWrite, isMissing = false): void {
    const written = this.#slots[slot];
    if (!written) return;
    written.isStored = false;
    if (isMissing) written.resourceVersion = null;
  }

  /**
   * Another writer wrote it, as a leader before us whose last write came late: it is written over,
   * and lines that we do not have are kept.
   */
  merge(write: SegmentWrite, object: unknown): void {
    this.failed(write);
    const slot = this.#slots[write.slot];
    if (!slot) return;
    slot.resourceVersion = versionOf(object);
    const found = segmentFrom(object);
    if (!found || found.sequence < slot.sequence) return;
    const known = new Set(this.#lines(this.#blocksOf(slot)).map(textOf));
    this.add(this.#lines(found.blocks).filter((line) => !known.has(textOf(line))));
  }

  /**
   * All kept lines, the earliest first; left out: also those that were written last before `since`.
   */
  blocks(since: Instant = Number.NEGATIVE_INFINITY): readonly string[] {
    const slots = this.#inOrder().filter(({ savedAt }) => savedAt >= since);
    return slots.flatMap((slot) => this.#blocksOf(slot));
  }

  /** Characters that are held. */
  get length(): number {
    return this.#inOrder().reduce((sum, { length }) => sum + length, this.#tail.length);
  }

  #inOrder(): readonly Slot[] {
    const slots = this.#slots.filter((slot) => slot !== undefined);
    return slots
      .filter((slot) => slot.blocks.length > 0 || slot === this.#newest)
      .sort((one, other) => one.sequence - other.sequence);
  }

  #blocksOf(slot: Slot): readonly string[] {
    if (slot !== this.#newest || this.#tail === '') return slot.blocks;
    return [...slot.blocks, this.#compression.pack(this.#tail)];
  }

  #lines(blocks: readonly string[]): readonly JsonRecord[] {
    return blocks.flatMap((block) => linesOf(block, this.#compression));
  }

  #freeze(): void {
    if (this.#tail === '') return;
    const block = this.#compression.pack(this.#tail);
    this.#newest.blocks.push(block);
    this.#newest.length += block.length;
    this.#tail = '';
  }

  #begin(): void {
    const sequence = this.#newest.sequence + 1;
    const slot = sequence % segmentSlots;
    const resourceVersion = this.#slots[slot]?.resourceVersion ?? null;
    this.#newest = { ...empty, sequence, blocks: [], resourceVersion, isStored: false };
    this.#slots[slot] = this.#newest;
  }
}

const empty = {
  ...{ length: 0, resourceVersion: null, isStored: true },
  savedAt: Number.POSITIVE_INFINITY,
} as const;

function versionOf(object: unknown): string | null {
  return asText(asRecord(asRecord(object).metadata).resourceVersion) || null;
}

function lengthOf(blocks: readonly string[]): number {
  return blocks.reduce((sum, { length }) => sum + length, 0);
}

function textOf(line: JsonRecord): string {
  return JSON.stringify(line);
}
