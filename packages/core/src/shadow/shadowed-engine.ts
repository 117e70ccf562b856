// The engine as the shadow lives with it: what it is told, what it has asked for, and what it would answer.
import type { Outcome } from '../attempt/outcome.ts';
import type { Command } from '../command.ts';
import type { Event } from '../event.ts';
import type { Explanation, PodExplanation, Subject } from '../explain.ts';
import type { Instant } from '../kernel/time.ts';
import type { PodRef } from '../model/pod.ts';
import type { Sent } from './case.ts';

/** What decides, and the loop asks; the engine, or what stands around it. */
export interface ShadowedMachine {
  handle(now: Instant, event: Event): readonly Command[];
  nextWake(): Instant | null;
}

/** The engine's answer to a question. */
export type Explain = (now: Instant, subject: Subject) => Explanation;

/** Hands the engine events, and follows its evictions until they are answered. */
export class ShadowedEngine {
  readonly #machine: ShadowedMachine;
  readonly #explain: Explain;
  readonly #podsMax: number;
  readonly #sent = new Map<string, Sent>();
  /** What budgets said that refused a pod, by its uid: only a server that is asked says so. */
  readonly #refused = new Map<string, string>();
  #commands: Command[] = [];

  /** `podsMax`: of so many pods it is remembered that budgets refused them. */
  constructor(machine: ShadowedMachine, explain: Explain, podsMax: number) {
    this.#machine = machine;
    this.#explain = explain;
    this.#podsMax = podsMax;
  }

  nextWake(): Instant | null {
    return this.#machine.nextWake();
  }

  pass(now: Instant, event: Event): void {
    for (const command of this.#machine.handle(now, event)) {
      this.#commands.push(command);
      if (command.kind !== 'deletePod' && command.kind !== 'evictPod') continue;
      const { id, pod, because } = command;
      this.#sent.set(id, { pod, at: now, asks: command.kind === 'evictPod', because });
    }
  }

  /** What it has commanded since it was asked last. */
  takeCommands(): readonly Command[] {
    const commands = this.#commands;
    this.#commands = [];
    return commands;
  }

  /** Takes the result of a command; the eviction that it was; null: it was none. */
  answered(id: string, outcome: Outcome): Sent | null {
    const sent = this.#sent.get(id) ?? null;
    this.#sent.delete(id);
    if (sent && outcome.kind === 'blocked') this.#refuse(sent.pod.uid, outcome.message);
    return sent;
  }

  /** What the budget said that refused it last; undefined: none did. */
  refusalOf(uid: string): string | undefined {
    return this.#refused.get(uid);
  }

  forgetRefusal(uid: string): void {
    this.#refused.delete(uid);
  }

  /** What it says of a pod; null: it knows none of the uid. */
  explained(now: Instant, { namespace, name, uid }: PodRef): PodExplanation | null {
    const explained = this.#explain(now, { kind: 'pod', namespace, name, uid });
    return explained?.kind === 'pod' ? explained : null;
  }

  /** Whether the pod would be gone, as far as it knows. */
  isEvicted(now: Instant, pod: PodRef): boolean {
    return this.explained(now, pod)?.attempt?.kind === 'accepted';
  }

  #refuse(uid: string, message: string): void {
    const [oldest] = this.#refused.keys();
    if (oldest !== undefined && this.#refused.size >= this.#podsMax) this.#refused.delete(oldest);
    this.#refused.set(uid, message);
  }
}
