// The duties of a leader beside acting: it publishes its status, keeps the policies of takeover, and keeps
// departures.
import { earliest, type Instant } from '@taintmgr/core/time';
import type { ExchangeInput } from '../proto/exchange.ts';
import { HistoryKeeper, type KeeperEffect, type KeptHistory } from './history/keeper.ts';
import type { KeptWitness } from './history/witness.ts';
import type { LoopSettings } from './loop-parts.ts';
import type { PublisherNotice } from './publisher-notice.ts';
import { StatusPublisher, type StatusPublisherOptions } from './status-publisher.ts';
import {
  type InstallerEffect,
  type InstallerOptions,
  PolicyInstaller,
  type PolicyState,
} from './takeover/installer.ts';

const nothing: readonly never[] = [];

/** The circumstances of all that is written beside acting. */
type DutySite = Pick<StatusPublisherOptions, 'clock' | 'leads' | 'conditions'> &
  Pick<InstallerOptions, 'random'>;

export type LeaderEffect =
  | InstallerEffect
  | KeeperEffect
  | { readonly kind: 'notice'; readonly notice: PublisherNotice };

/**
 * With takeover a new leader acts only when the policies stood as they should and its heartbeat was
 * written, once since it leads: before, kube-controller-manager is refused nothing. From then on it
 * acts, regardless of their fate: otherwise no program would evict the pods that
 * kube-controller-manager was refused.
 */
export class LeaderDuties {
  readonly #publisher: StatusPublisher | null;
  readonly #installer: PolicyInstaller | null;
  readonly #keeper: HistoryKeeper | null;
  #hasBegun = false;

  /** Left out: nothing is published, there is no takeover, and no departures are kept. */
  constructor(
    {
      publish,
      takeover,
      history,
      witness,
    }: Pick<LoopSettings, 'publish' | 'takeover' | 'history'> & { readonly witness?: KeptWitness },
    { random, clock, leads, conditions }: DutySite,
  ) {
    const isVital = takeover !== undefined;
    const site = { clock, leads, conditions, isVital };
    this.#publisher = publish ? new StatusPublisher({ ...publish, ...site }) : null;
    this.#installer = takeover ? new PolicyInstaller({ ...takeover, random, leads }) : null;
    this.#keeper =
      history && witness ? new HistoryKeeper({ ...history, witness, clock, leads }) : null;
  }

  /** True if all is done that goes before acting. */
  get isReady(): boolean {
    return this.#installer === null || this.#hasBegun;
  }

  get idle(): boolean {
    const parts = [this.#publisher, this.#installer, this.#keeper];
    return parts.every((part) => part?.idle ?? true);
  }

  /** The departures that are kept; null: none are, or this replica does not lead. */
  get kept(): KeptHistory | null {
    return this.#keeper?.kept ?? null;
  }

  /** The state of the policies of takeover; null: there is no takeover. */
  get policies(): PolicyState | null {
    return this.#installer?.state ?? null;
  }

  nextWake(): Instant | null {
    const parts = [this.#publisher, this.#installer, this.#keeper];
    return earliest(parts.map((part) => part?.nextWake() ?? null));
  }

  /** We lead from now on, or not any more. */
  lead(now: Instant, held: boolean, isSynced: boolean): readonly LeaderEffect[] {
    if (!held) this.#hasBegun = false;
    return this.#after([
      ...(this.#publisher?.lead(now, held, isSynced) ?? []),
      ...(this.#installer?.lead(now, held) ?? []),
      ...(this.#keeper?.lead(now, held) ?? []),
    ]);
  }

  /** Everything was read once. */
  synced(now: Instant): readonly LeaderEffect[] {
    return this.#after(this.#publisher?.synced(now) ?? []);
  }

  /** Publishes earlier, as something that others wait for has changed. */
  hurry(now: Instant): readonly LeaderEffect[] {
    return this.#after(this.#publisher?.hurry(now) ?? []);
  }

  /** Takes the inputs of its own requests; their ids name the owner. */
  receive(now: Instant, input: ExchangeInput): readonly LeaderEffect[] {
    if (input.id.startsWith('status/')) {
      return this.#after(this.#publisher?.receive(now, input) ?? []);
    }
    if (input.id.startsWith('takeover/')) {
      return this.#after(this.#installer?.receive(now, input) ?? []);
    }
    if (input.id.startsWith('history/')) return this.#keeper?.receive(now, input) ?? nothing;
    return nothing;
  }

  tick(now: Instant): readonly LeaderEffect[] {
    return this.#after([
      ...(this.#publisher?.tick(now) ?? []),
      ...(this.#installer?.tick(now) ?? []),
      ...(this.#keeper?.tick(now) ?? []),
    ]);
  }

  /** The last status, and nothing after it. */
  resign(now: Instant): readonly LeaderEffect[] {
    this.#installer?.stop();
    return this.#publisher?.resign(now) ?? [];
  }

  /** Writes the departures a last time, once everything that was begun has ended. */
  end(now: Instant): readonly LeaderEffect[] {
    return this.#keeper?.end(now) ?? nothing;
  }

  #after(effects: readonly LeaderEffect[]): readonly LeaderEffect[] {
    if (this.#installer?.state.isInForce && this.#publisher?.isWritten) this.#hasBegun = true;
    return effects;
  }
}
