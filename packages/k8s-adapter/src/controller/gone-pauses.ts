// Pauses that were deleted while no controller ran, as a source of the loop.
import type { Event } from '@taintmgr/core';
import type { EvictionPause } from '@taintmgr/core/policy';
import type { Instant } from '@taintmgr/core/time';
import type { PolicyObject } from '../kinds/manifest.ts';
import { type FollowedObjects, holdingPause } from '../manifests/followed.ts';
import { gonePauses, type PauseRecord, recordsIn } from '../manifests/pause-records.ts';
import type { ReflectorStatus, Source, SourceEffect } from '../pod-watch/source.ts';
import { Reflector, type ReflectorInput, type ReflectorOptions } from '../proto/reflector.ts';
import { policiesPath } from '../proto/requests.ts';

export interface GonePausesOptions extends Pick<ReflectorOptions<unknown>, 'random'> {
  /** The TaintManager in which the leader remembers pauses. */
  readonly manager: string;
  /** The sources that tell which objects there are. */
  readonly others: readonly Source[];
  readonly files: readonly PolicyObject[];
  readonly followed: FollowedObjects;
}

/**
 * The last record of the leader is read once, at the start. A recorded pause that held, and that is
 * gone now or holds something else, ended at some time since: the engine is told that it was there
 * and is gone now. So pods have back all the time in which it may have held them; they go later
 * than they might, never earlier. Where nothing can be read, because the kind is not installed or
 * the right is missing, nothing is known of such pauses.
 */
export class GonePauses implements Source {
  readonly #options: GonePausesOptions;
  readonly #reflector: Reflector<readonly PauseRecord[]>;
  /** The records that are written down, as long as the engine has not heard of it. */
  #records: readonly PauseRecord[] = [];
  #isRead = false;
  #isDone = false;

  constructor(options: GonePausesOptions) {
    const { random, manager } = options;
    this.#options = options;
    this.#reflector = new Reflector<readonly PauseRecord[]>({
      random,
      resource: 'taintmanagers',
      path: policiesPath('taintmanagers'),
      selectors: { fieldSelector: `metadata.name=${manager}` },
      project: recordsIn,
      watch: false,
      mayBeAbsent: true,
      mayBeForbidden: true,
    });
  }

  /** The records that have to stay written down until the engine has heard of it. */
  get unreported(): readonly PauseRecord[] {
    return this.#records;
  }

  handle(now: Instant, input: ReflectorInput): readonly (Event | SourceEffect)[] {
    if (this.#isDone) return [];
    const effects: (Event | SourceEffect)[] = [];
    for (const effect of this.#reflector.handle(now, input)) {
      if (effect.kind === 'upsert') this.#records = effect.item;
      else if (effect.kind === 'synced') this.#isRead = true;
      else if (effect.kind !== 'delete') effects.push(effect);
    }
    const isReady = this.#options.others.every((source) => source.heardAt('') !== null);
    return this.#isRead && isReady ? [...effects, ...this.#report(now)] : effects;
  }

  #report(now: Instant): readonly (Event | SourceEffect)[] {
    this.#isDone = true;
    const gone = gonePauses(this.#records, (name) => this.#pauseNamed(name));
    this.#records = [];
    const events = gone.flatMap((pause): readonly Event[] => [
      { kind: 'pauseUpsert', pause },
      { kind: 'pauseDelete', name: pause.name },
    ]);
    // Where the kind is missing it would look again and again.
    this.#reflector.handle(now, { kind: 'stop' });
    return [...events, { kind: 'synced' }];
  }

  #pauseNamed(name: string): EvictionPause | null {
    const { files, followed } = this.#options;
    for (const { kind, value } of files)
      if (kind === 'EvictionPause' && value.name === name) return value;
    for (const object of followed) {
      const read = object.object;
      if (read?.kind === 'EvictionPause' && read.value.name === name) return read.value;
      const holding = holdingPause(object.kind, object);
      if (holding?.name === name) return holding;
    }
    return null;
  }

  nextWake(): Instant | null {
    return this.#isDone ? null : this.#reflector.nextWake();
  }

  status(): readonly ReflectorStatus[] {
    const { resource, state, aliveAt: heardAt } = this.#reflector;
    return this.#isDone ? [] : [{ resource, state, heardAt }];
  }

  isCutOff(): boolean {
    return false;
  }

  heardAt(): Instant | null {
    return this.#isDone ? Number.POSITIVE_INFINITY : null;
  }
}
